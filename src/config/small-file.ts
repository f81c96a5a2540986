import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import type { Result } from '../result.js';
import { formatSize, MEBIBYTE } from './units.js';
import { systemErrorText } from '../text/system-error.js';

export type TextResult = Result<{ readonly text: string }, { readonly problem: string; readonly isMissing: boolean }>;

/** Far larger than any CA bundle. */
const MAX_BYTES = MEBIBYTE;

/** Reads a text file without trailing line breaks. `problem` completes a sentence that starts with the file name. */
export async function readSmallFile(path: string, maxBytes = MAX_BYTES): Promise<TextResult> {
  try {
    return { ok: true, text: await readLimited(path, maxBytes) };
  } catch (error) {
    const isUnsuitable = error instanceof UnsuitableFile;
    const problem = isUnsuitable ? error.message : `cannot be read: ${systemErrorText(error)}`;
    return { ok: false, problem, isMissing: hasCode(error, 'ENOENT') };
  }
}

class UnsuitableFile extends Error {}

async function readLimited(path: string, maxBytes: number): Promise<string> {
  // O_NONBLOCK: opening a named pipe without a writer would block forever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new UnsuitableFile('is not a file');
    if (stats.size > maxBytes) throw new UnsuitableFile(`is larger than ${formatSize(maxBytes)}`);
    const text = decodeUtf8(await file.readFile()).replace(/[\r\n]+$/, '');
    if (text === '') throw new UnsuitableFile('is empty');
    return text;
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

/** Reads a file of any size and type, such as a pipe. `problem` is a complete message. */
export async function readTextFile(path: string): Promise<TextResult> {
  try {
    return { ok: true, text: decodeUtf8(await readFile(path)) };
  } catch (error) {
    const problem = error instanceof UnsuitableFile ? `${path}: ${error.message}` : describeReadError(path, error);
    return { ok: false, problem, isMissing: hasCode(error, 'ENOENT') };
  }
}

/** Message for a file that cannot be read. For a missing file with a relative name, it includes the absolute path. */
export function describeReadError(path: string, error: unknown): string {
  if (hasCode(error, 'EISDIR')) return `${path}: is a directory — expected a file`;
  const location = hasCode(error, 'ENOENT') && !isAbsolute(path) ? ` (${resolve(path)})` : '';
  return `${path}: cannot be read: ${systemErrorText(error)}${location}`;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
