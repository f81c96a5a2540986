import { createSecretKey, type KeyObject } from 'node:crypto';

/**
 * A string that must not be printed. JSON, template literals, logs and `inspect` do not show the content of a `KeyObject`; only `reveal` does.
 * Two of equal content are equal for `isDeepStrictEqual`, by which a reload finds what has changed.
 */
export type Secret = KeyObject;

export const createSecret = (text: string): Secret => createSecretKey(text, 'utf8');

export const reveal = (secret: Secret): string => secret.export().toString('utf8');

/** Replaces secrets in output, as in Prometheus. */
export const REDACTED = '<secret>';

/** Servers reject longer headers. */
export const MAX_SECRET_LENGTH = 8192;

/* Checks of credentials. They return a problem that does not quote the value. */

export function checkSecret(text: string): string | undefined {
  return text.length > MAX_SECRET_LENGTH ? `is longer than ${MAX_SECRET_LENGTH} characters` : undefined;
}

/** A line break would start another header. */
const headerValue = new RegExp(`^[\\t\\x20-\\x7e]{1,${MAX_SECRET_LENGTH}}$`);
export const HEADER_VALUE = `at most ${MAX_SECRET_LENGTH} visible ASCII characters, spaces or tabs`;

export function checkHeaderValue(text: string): string | undefined {
  return headerValue.test(text) ? undefined : `is not a header value of ${HEADER_VALUE}`;
}

/** RFC 7617: the first colon ends the user name, and control characters are not allowed. */
const username = /^[^:\p{Control}]+$/u;

export function checkUsername(text: string): string | undefined {
  return username.test(text) ? checkSecret(text) : 'contains a colon or control characters';
}
