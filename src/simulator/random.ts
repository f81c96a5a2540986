import { bech32 } from '@scure/base';

/*
 * Seeded random numbers, and the addresses, keys and signatures drawn from them.
 */

const HEX_DIGITS = '0123456789abcdef';
const BECH32_ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
/** 20 bytes in groups of five bits. */
const KEY_GROUPS = 32;
const BECH32_CHECKSUM_LENGTH = 6;
const SIGNATURE_BYTES = 65;

/**
 * Pseudorandom generator (mulberry32). Generators with different labels are independent, so one part's draws don't
 * affect another's.
 */
export class Random {
  #state: number;

  constructor(seed: number, label: string) {
    this.#state = fnv1a(`${seed}/${label}`);
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** An integer; both bounds are included. */
  between(minimum: number, maximum: number): number {
    return minimum + Math.floor(this.next() * (maximum - minimum + 1));
  }

  /** Exponentially distributed. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T extends { readonly weight: number }>(choices: readonly [T, ...T[]]): T {
    let remaining = this.next() * choices.reduce((total, choice) => total + choice.weight, 0);
    return choices.find((choice) => (remaining -= choice.weight) < 0) ?? choices[0];
  }

  string(alphabet: string, length: number): string {
    let text = '';
    while (text.length < length) text += alphabet.charAt(this.between(0, alphabet.length - 1));
    return text;
  }

  hex(length: number): string {
    return this.string(HEX_DIGITS, length);
  }
}

/**
 * Converts a rate to a number of arrivals per block. Gaps are between 0.5 and 1.5 times the mean, so that the simulated
 * traffic has no long random pauses.
 */
export class Arrivals {
  readonly #random: Random;
  #credit = 0;
  #gap: number;

  constructor(random: Random) {
    this.#random = random;
    this.#gap = random.next();
  }

  /** The number of arrivals in a span of time in which `expected` arrive on average. */
  due(expected: number): number {
    this.#credit += expected;
    let count = 0;
    while (this.#credit >= this.#gap) {
      this.#credit -= this.#gap;
      this.#gap = 0.5 + this.#random.next();
      count += 1;
    }
    return count;
  }
}

/** The two bech32 addresses of one key: equal data characters under two prefixes, each with its own checksum. */
export interface AccountPair {
  readonly account: string;
  readonly operator: string;
}

export function createAccountPair(random: Random): AccountPair {
  const key = drawKey(random);
  return { account: bech32.encode('hub', key), operator: bech32.encode('hubvaloper', key) };
}

export function createAccount(random: Random): string {
  return bech32.encode('hub', drawKey(random));
}

/** In groups of five bits. */
function drawKey(random: Random): number[] {
  const key = Array.from({ length: KEY_GROUPS }, () => random.between(0, BECH32_ALPHABET.length - 1));
  // The two checksums used to be random. Their draws are skipped, so that a seed still gives the same chain.
  random.string(BECH32_ALPHABET, 2 * BECH32_CHECKSUM_LENGTH);
  return key;
}

/** The common public key of the signers (TSS). The first data characters encode the key type. */
export function createPublicKey(random: Random): string {
  return `hubpub1addwnpepq${random.string(BECH32_ALPHABET, 60)}`;
}

/** Mixed case like an EIP-55 address, but the case is random and no valid checksum. */
export function createExternalAddress(random: Random): string {
  let address = '0x';
  for (const digit of random.hex(40)) address += random.chance(0.5) ? digit.toUpperCase() : digit;
  return address;
}

/** 130 hex characters without 0x. The last byte is the recovery id. */
export function createSignature(random: Random): string {
  return `${random.hex((SIGNATURE_BYTES - 1) * 2)}0${random.between(0, 1)}`;
}

/** FNV-1a: spreads similar seeds over all 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return hash;
}
