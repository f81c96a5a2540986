import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { accept, reject, type ParseResult } from './values.js';

/** Far more than any bundle of authorities has; a password file that is a disk image is a slip. */
const MAX_BYTES = 1024 * 1024;

/** The text of a file without the line breaks at its end. What is wrong is said without the content, and fits behind the name. */
export async function readSmallFile(path: string): Promise<ParseResult<string>> {
  try {
    const text = await readBounded(path);
    return text === '' ? reject('is empty') : accept(text);
  } catch (error) {
    return reject(error instanceof Unfit ? error.message : `cannot be read: ${systemError(error)}`);
  }
}

class Unfit extends Error {}

async function readBounded(path: string): Promise<string> {
  // Opening a pipe nobody writes to would otherwise wait for ever, and hold a thread.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const about = await file.stat();
    if (!about.isFile()) throw new Unfit('is not a file');
    if (about.size > MAX_BYTES) throw new Unfit('is over 1MiB');
    return decoded(await file.readFile()).replace(/[\r\n]+$/, '');
  } finally {
    await file.close();
  }
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Unfit('is not UTF-8');
  }
}

/** What is in the way of reading a file that somebody named, with the place of a missing one whose name tells none. */
export function describeReadError(path: string, error: unknown): string {
  const what = systemError(error);
  const place = what.startsWith('ENOENT') && !isAbsolute(path) ? ` — looked for ${resolve(path)}` : '';
  return `${path}: cannot be read: ${what}${place}`;
}

/** `ENOENT: no such file or directory`, without the call and the path that Node.js appends. */
function systemError(error: unknown): string {
  const [what = ''] = (error instanceof Error ? error.message : String(error)).split(', ');
  return what;
}
