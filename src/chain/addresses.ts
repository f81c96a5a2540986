import { INVALID } from '../json/field.js';
import { NumberLiteral } from '../json/scanner.js';
import { interned, type Shape } from '../json/shapes.js';

/* The shapes of addresses and chain ids. */

/** An address in lower case. Mixed case is only a checksum (EIP-55). */
export const address: Shape<string> = interned((text) => text.toLowerCase());

export const addressDataPart: Shape<string> = interned(dataPart);

/** A chain id: a string, or a JSON integer as its digits. */
export const chainId: Shape<string> = interned(
  (id) => id,
  (json) => {
    return json instanceof NumberLiteral && /^-?\d+$/.test(json.text) ? json.text : INVALID;
  },
);

/**
 * The data part of a bech32 address: the characters between the last `1` and the checksum. The account address and the operator
 * address of a validator have the same data part, but different prefixes and checksums. Other addresses are returned in lower
 * case.
 */
export function dataPart(text: string): string {
  // The prefix can contain the separator `1`, so the last one counts.
  const bech32 = /^[^1].*1(?<data>[02-9ac-hj-np-z]+)[02-9ac-hj-np-z]{6}$/;
  const lower = text.toLowerCase();
  if (lower.startsWith('0x')) return lower;
  return bech32.exec(lower)?.groups?.['data'] ?? lower;
}
