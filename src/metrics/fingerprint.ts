import { createHash } from 'node:crypto';

/** 48 bits are exact in a double and collide by chance once in 10^14 changes. */
const HEX_DIGITS = 12;

/** A number that changes when the JSON of the value does; its size means nothing. */
export function fingerprint(value: unknown): number {
  const digest = createHash('sha256').update(JSON.stringify(value)).digest('hex');
  return Number.parseInt(digest.slice(0, HEX_DIGITS), 16);
}
