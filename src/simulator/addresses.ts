import type { Random } from './random.js';

const BECH32_ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
/** 20 bytes in groups of five bits. */
const DATA_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

/** The two bech32 forms of one key: the same data characters under two prefixes, each with its own checksum. */
export interface AccountPair {
  readonly account: string;
  readonly operator: string;
}

export function createAccountPair(random: Random): AccountPair {
  const data = random.characters(BECH32_ALPHABET, DATA_LENGTH);
  return { account: bech32(random, 'hub', data), operator: bech32(random, 'hubvaloper', data) };
}

export function createAccount(random: Random): string {
  return createAccountPair(random).account;
}

/** Of the signers' common key; its first characters encode the kind of key. */
export function createPublicKey(random: Random): string {
  return `hubpub1addwnpepq${random.characters(BECH32_ALPHABET, 60)}`;
}

/** Mixed case as checksummed addresses have it. The case is random: nothing here verifies it. */
export function createExternalAddress(random: Random): string {
  let address = '0x';
  for (const digit of random.hex(40)) address += random.chance(0.5) ? digit.toUpperCase() : digit;
  return address;
}

/** The checksum characters only look the part; readers of the service compare the data characters. */
function bech32(random: Random, prefix: string, data: string): string {
  return `${prefix}1${data}${random.characters(BECH32_ALPHABET, CHECKSUM_LENGTH)}`;
}
