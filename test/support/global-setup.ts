import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { projectPath } from './project-files.js';

/**
 * Gives the tests and the processes that they start one folder for temporary files, which is deleted at the end, and the programs
 * that .ci/install-tools installs.
 */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-exporter-test-'));
  process.env['TMPDIR'] = folder;
  process.env['PATH'] = [projectPath('.ci/bin'), process.env['PATH']].join(delimiter);
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
