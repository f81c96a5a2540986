import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { projectPath } from './project-files.js';

const PREFIX = 'bridge-exporter-test-';

/**
 * Gives the tests and the processes that they start one folder for temporary files, which is deleted at the end, and the programs
 * that .ci/install-tools installs. It runs once for each project; in nested folders, the path of a socket would be too long.
 */
export default function setup(): (() => void) | undefined {
  if (basename(tmpdir()).startsWith(PREFIX)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  process.env['TMPDIR'] = folder;
  process.env['PATH'] = [projectPath('.ci/bin'), process.env['PATH']].join(delimiter);
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
