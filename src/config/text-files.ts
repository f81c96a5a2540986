import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, DEFAULT_CIPHERS } from 'node:tls';
import { errorCode, systemErrorText } from '../text/error-text.js';
import { formatSize, MEBIBYTE } from '../units.js';

/* Files that a configuration names, their results and problems, and certificates and keys in them. */

/** The result of an operation whose failure is expected. */
export type Result<Success, Failure = Problems> =
  ({ readonly ok: true } & Success) | ({ readonly ok: false } & Failure);

/** Why an input is invalid: one complete message for each problem. */
export interface Problems {
  readonly problems: readonly string[];
}

/** Keys and list indexes from the root of a file to a value. */
export type Path = readonly PropertyKey[];

/** A problem or a warning about the value at a path. */
export interface PathMessage {
  readonly path: Path;
  readonly message: string;
}

/** `problem` completes a sentence that starts with the file name. */
type TextResult = Result<{ readonly text: string }, { readonly problem: string; readonly isMissing: boolean }>;

/** Far larger than any CA bundle. */
const MAX_BYTES = MEBIBYTE;

/** Reads a text file without trailing line breaks. With the limit `Infinity`, it can also be a pipe. */
export async function readTextFile(path: string, maxBytes = MAX_BYTES): Promise<TextResult> {
  const unsuitable = (problem: string): TextResult => ({ ok: false, problem, isMissing: false });
  try {
    const stats = await stat(path);
    if (!stats.isFile() && maxBytes !== Infinity) return unsuitable('is not a file');
    if (stats.size > maxBytes) return unsuitable(`is larger than ${formatSize(maxBytes)}`);
    const bytes = await readFile(path);
    // Notepad and PowerShell write UTF-16 with a byte order mark.
    if (/^(?:fffe|feff)/.test(bytes.toString('hex', 0, 2))) return unsuitable('is UTF-16 — expected UTF-8');
    if (!isUtf8(bytes)) return unsuitable('is not UTF-8');
    const text = new TextDecoder().decode(bytes).replace(/[\r\n]+$/, '');
    return text === '' ? unsuitable('is empty') : { ok: true, text };
  } catch (error) {
    return { ok: false, problem: readProblem(path, error), isMissing: errorCode(error) === 'ENOENT' };
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

type FileReader = ReturnType<typeof createFileReader>;

/** Reads files that a configuration names, from its directory. Adds their problems to a list. */
export function createFileReader(problems: PathMessage[], directory = '') {
  return async (file: string | undefined, path: Path, check: TextCheck): Promise<string | undefined> => {
    if (file === undefined) return undefined;
    const name = resolve(directory, file);
    const content = await readTextFile(name);
    const problem = content.ok ? check(content.text) : content.problem;
    if (problem !== undefined) problems.push({ path, message: `${name} ${problem}` });
    return content.ok && problem === undefined ? content.text : undefined;
  };
}

/* Certificates and keys of PEM files, for client and server. A problem does not quote the file. */

/**
 * OpenSSL reads all certificates of a `cert`, while it ignores damaged ones in a `ca`. Keys that are short for the
 * security level are left to the connection.
 */
export function checkCertificates(pem: string): string | undefined {
  try {
    createSecureContext({ cert: pem, ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0` });
    return undefined;
  } catch (error) {
    return `cannot be read as PEM certificates: ${systemErrorText(error)}`;
  }
}

function checkPrivateKey(pem: string): string | undefined {
  try {
    createPrivateKey(pem);
    return undefined;
  } catch {
    return 'contains no unencrypted PEM private key';
  }
}

interface KeyPairFiles {
  readonly cert_file?: string | undefined;
  readonly key_file?: string | undefined;
}

/** Reads a certificate and its key, for the keys of a section at a path. */
export async function readKeyPair(
  { cert_file, key_file }: KeyPairFiles,
  path: Path,
  read: FileReader,
  problems: PathMessage[],
): Promise<{ readonly cert: string | undefined; readonly key: string | undefined }> {
  const cert = await read(cert_file, [...path, 'cert_file'], checkCertificates);
  const key = await read(key_file, [...path, 'key_file'], checkPrivateKey);
  // The key belongs to the first certificate.
  if (cert !== undefined && key !== undefined && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    problems.push({ path: [...path, 'key_file'], message: `${key_file} is not the key of the certificate` });
  }
  return { cert, key };
}
