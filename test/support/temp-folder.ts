import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export interface TempFolder {
  readonly path: string;
  /** Writes a file in the folder, or replaces it, and returns its path. */
  readonly write: (name: string, content: string | Uint8Array) => string;
}

/** A folder that is deleted after the tests of the file or of the `describe` block that creates it. */
export function createTempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'bridge-exporter-test-'));
  afterAll(() => rmSync(path, { recursive: true }));
  return {
    path,
    write: (name, content) => {
      const file = join(path, name);
      writeFileSync(file, content);
      return file;
    },
  };
}
