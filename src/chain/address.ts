/** As addresses are joined and shown; their case is a checksum at most. */
export function lowerCase(address: string): string {
  return address.toLowerCase();
}

const BECH32 = /^[^1].*1(?<data>[02-9ac-hj-np-z]+)[02-9ac-hj-np-z]{6}$/;

/**
 * What a bech32 address is joined by: the characters between the last `1` and the checksum. One key appears with the prefix of
 * an account here and of a validator there, and the prefix changes the checksum. Anything else is joined as it is, in lower
 * case.
 */
export function dataPart(address: string): string {
  const lower = lowerCase(address);
  if (lower.startsWith('0x')) return lower;
  return BECH32.exec(lower)?.groups?.['data'] ?? lower;
}
