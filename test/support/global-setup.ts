import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives the tests and the processes that they start one folder for temporary files, which is deleted at the end. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-exporter-test-'));
  process.env['TMPDIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
