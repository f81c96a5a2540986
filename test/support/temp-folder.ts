import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempFolder {
  readonly path: string;
  /** Writes a file in the folder, or replaces it, and returns its path. */
  readonly write: (name: string, content: string | Uint8Array) => string;
}

/** A new folder. It is deleted after all tests (global-setup.ts). */
export function createTempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'folder-'));
  return {
    path,
    write: (name, content) => {
      const file = join(path, name);
      writeFileSync(file, content);
      return file;
    },
  };
}

/** The paths of all files below a folder. */
export function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}
