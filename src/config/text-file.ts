import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import type { Result } from '../result.js';
import { errorCode, systemErrorText } from '../text/system-error.js';
import { MEBIBYTE, formatSize } from '../units.js';
import type { Path, PathMessage } from './yaml.js';

/** `problem` completes a sentence that starts with the file name. */
export type TextResult = Result<{ readonly text: string }, { readonly problem: string; readonly isMissing: boolean }>;

/** Far larger than any CA bundle. */
const MAX_BYTES = MEBIBYTE;

/** Reads a text file without trailing line breaks. */
export async function readSmallFile(path: string, maxBytes = MAX_BYTES): Promise<TextResult> {
  return readText(path, readLimited(path, maxBytes));
}

/** Reads a text file of any size and type, such as a pipe. */
export async function readTextFile(path: string): Promise<TextResult> {
  return readText(path, readFile(path));
}

async function readText(path: string, bytes: Promise<Buffer>): Promise<TextResult> {
  try {
    const text = decodeUtf8(await bytes).replace(/[\r\n]+$/, '');
    if (text === '') throw new UnsuitableFile('is empty');
    return { ok: true, text };
  } catch (error) {
    const problem = error instanceof UnsuitableFile ? error.message : readProblem(path, error);
    return { ok: false, problem, isMissing: errorCode(error) === 'ENOENT' };
  }
}

class UnsuitableFile extends Error {}

async function readLimited(path: string, maxBytes: number): Promise<Buffer> {
  // O_NONBLOCK: opening a named pipe without a writer would block forever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new UnsuitableFile('is not a file');
    if (stats.size > maxBytes) throw new UnsuitableFile(`is larger than ${formatSize(maxBytes)}`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function decodeUtf8(bytes: Buffer): string {
  // Notepad and PowerShell write UTF-16 with a byte order mark.
  if (/^(?:fffe|feff)/.test(bytes.toString('hex', 0, 2))) throw new UnsuitableFile('is UTF-16 — expected UTF-8');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnsuitableFile('is not UTF-8');
  }
}

/** Why a file cannot be read. For a missing file with a relative name, it includes the absolute path. */
export function readProblem(path: string, error: unknown): string {
  if (errorCode(error) === 'EISDIR') return 'is a directory — expected a file';
  const location = errorCode(error) === 'ENOENT' && !isAbsolute(path) ? ` (${resolve(path)})` : '';
  return `cannot be read: ${systemErrorText(error)}${location}`;
}

/** Returns the problem of a text, without quoting it. */
export type TextCheck = (text: string) => string | undefined;

export type FileReader = ReturnType<typeof createFileReader>;

/** Reads files that a configuration names, from its directory. Adds their problems to a list. */
export function createFileReader(problems: PathMessage[], directory = '') {
  return async (file: string | undefined, path: Path, check: TextCheck): Promise<string | undefined> => {
    if (file === undefined) return undefined;
    const name = resolve(directory, file);
    const content = await readSmallFile(name);
    const problem = content.ok ? check(content.text) : content.problem;
    if (problem !== undefined) problems.push({ path, message: `${name} ${problem}` });
    return content.ok && problem === undefined ? content.text : undefined;
  };
}
