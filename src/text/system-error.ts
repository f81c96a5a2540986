import { getSystemErrorMap } from 'node:util';

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
