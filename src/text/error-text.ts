import { getSystemErrorMap } from 'node:util';

/* Texts of errors for people: of servers, which use bodies of different forms, and of the system. */

/**
 * The code and the message of a gateway, the message of JSON-RPC, or a short text; untrusted and unchanged. Empty for
 * an HTML page and for other JSON, because their escape sequences can hide a secret from redaction.
 */
export function readServerError(body: string): { readonly code: number | undefined; readonly text: string } {
  const start = body.trim();
  const isEscaped = /^[<{["]/.test(start);
  const { code, message, error } = readFields(isEscaped ? tryParseJson(start) : undefined);
  const text = [message, readFields(error)['message'], error].find((each) => typeof each === 'string');
  return { code: typeof code === 'number' ? code : undefined, text: text?.trim() ?? (isEscaped ? '' : start) };
}

function readFields(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null ? { ...json } : {};
}

/** The parsed JSON; `undefined` for truncated JSON or another text. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The description of a system error, such as "no such file or directory", without code, system call and path; of
 * another error, its message.
 */
export function systemErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const errno = 'errno' in error && typeof error.errno === 'number' ? error.errno : 0;
  const [code, text = error.message] = getSystemErrorMap().get(errno) ?? [];
  // The `errno` of an error of a library need not be a system error.
  return errorCode(error) === code ? text : error.message;
}

/** The code of an error of Node.js, such as ENOENT. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The text of an error, after the path of its file if it has any. */
export function fileErrorText(error: unknown): string {
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? `${error.path}: ` : '';
  return path + systemErrorText(error);
}
