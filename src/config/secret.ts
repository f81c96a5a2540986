import { createSecretKey, type KeyObject } from 'node:crypto';

/**
 * A string that must not be printed. JSON, template literals, logs and `inspect` do not show the content of a
 * `KeyObject`; only `reveal` does. Secrets of equal content are equal for `isDeepStrictEqual`, with which a reload
 * compares configurations.
 */
export type Secret = KeyObject;

export const createSecret = (text: string): Secret => createSecretKey(text, 'utf8');

export const reveal = (secret: Secret): string => secret.export().toString('utf8');

/** Replaces secrets in output, as in Prometheus. */
export const REDACTED = '<secret>';

/** Servers reject longer headers. */
const MAX_LENGTH = 8192;

/* Checks of credentials, in a file or not. They return a problem that does not quote the value. */

export function checkSecret(text: string): string | undefined {
  if (text === '') return 'is empty';
  return text.length > MAX_LENGTH ? `is longer than ${MAX_LENGTH} characters` : undefined;
}

/** A line break would start another header. */
export function checkHeaderValue(text: string): string | undefined {
  if (/[^\t\x20-\x7e]/.test(text)) return 'has characters that are not visible ASCII characters, spaces or tabs';
  return checkSecret(text);
}

/** RFC 7617: the first colon ends the user name, and control characters are not allowed. */
export function checkUsername(text: string): string | undefined {
  return /[:\p{Control}]/u.test(text) ? 'has a colon or a control character' : checkSecret(text);
}
