import { createHash } from 'node:crypto';
import { bech32 } from '@scure/base';

/**
 * The data part of a bech32 address: the characters between the last `1` and the checksum. The account address and the
 * operator address of a validator have the same data part, but different prefixes and checksums. An address of another
 * format is returned in lower case.
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

const ED25519_KEY_BYTES = 32;
const CONSENSUS_ADDRESS_BYTES = 20;

/**
 * The consensus address of a validator, by its operator address and its ed25519 key; `undefined` for an operator
 * address or a key of another form.
 */
export function consensusAddress(operator: string, key: Buffer): string | undefined {
  const [, prefix] = /^(.+)valoper1/.exec(operator) ?? [];
  if (prefix === undefined || key.length !== ED25519_KEY_BYTES) return undefined;
  const hash = createHash('sha256').update(key).digest();
  return bech32.encode(`${prefix}valcons`, bech32.toWords(hash.subarray(0, CONSENSUS_ADDRESS_BYTES)), false);
}
