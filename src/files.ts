import { rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/* Files that are written as a whole, and that are compressed. */

/** Replaces a file as a whole: at any time, also after a crash of the machine, it has the old or the new content. */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array,
  { mode }: { readonly mode?: number } = {},
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  // A process that was killed may have left it, with another mode.
  await rm(temporary, { force: true });
  try {
    await writeFile(temporary, content, { flag: 'wx', mode, flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

const gzipData = promisify(gzip);

/** Higher levels than 1 take several times as long, and save a tenth. */
export async function compress(data: string | Uint8Array): Promise<Buffer> {
  return gzipData(data, { level: 1 });
}
