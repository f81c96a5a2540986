/** Addresses are compared and exported in lower case; mixed case is only a checksum (EIP-55). */
export function lowerCase(address: string): string {
  return address.toLowerCase();
}

const BECH32 = /^[^1].*1(?<data>[02-9ac-hj-np-z]+)[02-9ac-hj-np-z]{6}$/;

/**
 * The data part of a bech32 address: the characters between the last `1` and the checksum. The account address and the operator
 * address of a validator have the same data part, but different prefixes and checksums. Other addresses are returned in lower
 * case.
 */
export function dataPart(address: string): string {
  const lower = lowerCase(address);
  if (lower.startsWith('0x')) return lower;
  return BECH32.exec(lower)?.groups?.['data'] ?? lower;
}
