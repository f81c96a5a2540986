import { getSystemErrorMap } from 'node:util';

/** "no such file or directory": an error of the system in words, without its code, the system call and the path. Other errors have their message. */
export function systemErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const errno = 'errno' in error && typeof error.errno === 'number' ? error.errno : 0;
  const [code, text = ''] = getSystemErrorMap().get(errno) ?? [];
  // Other libraries have numbers of their own.
  return 'code' in error && error.code === code ? text : error.message;
}

/** The same after the path of the file, if the error is about one. */
export function fileErrorText(error: unknown): string {
  const path = error instanceof Error && 'path' in error && typeof error.path === 'string' ? `${error.path}: ` : '';
  return path + systemErrorText(error);
}
