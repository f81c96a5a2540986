import { createHash } from 'node:crypto';

/** 48 bits are exact in a double. One of 10^14 changes goes undetected. */
const HEX_DIGITS = 12;

/** The first 48 bits of the SHA-256 of a value as JSON, to detect changes. */
export function fingerprint(value: unknown): number {
  const digest = createHash('sha256').update(JSON.stringify(value)).digest('hex');
  return Number.parseInt(digest.slice(0, HEX_DIGITS), 16);
}
