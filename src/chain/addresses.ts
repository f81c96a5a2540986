/**
 * The data part of a bech32 address: the characters between the last `1` and the checksum. The account address and the operator
 * address of a validator have the same data part, but different prefixes and checksums. An address of another format is returned in
 * lower case.
 */
export function dataPart(text: string): string {
  const lower = text.toLowerCase();
  // The prefix can contain the separator `1`, so the last one counts.
  const separator = lower.lastIndexOf('1');
  if (separator < 1 || lower.startsWith('1') || lower.startsWith('0x')) return lower;
  const rest = lower.slice(separator + 1);
  return DATA_AND_CHECKSUM.test(rest) ? rest.slice(0, -CHECKSUM_CHARACTERS) : lower;
}

const CHECKSUM_CHARACTERS = 6;
const DATA_AND_CHECKSUM = /^[02-9ac-hj-np-z]{7,}$/;
