const HEX_DIGITS = '0123456789abcdef';

/** Seeded random numbers (mulberry32). The label keeps streams apart, so that a change in one part moves no other. */
export class Random {
  #state: number;

  constructor(seed: number, label: string) {
    this.#state = fingerprint(`${seed}/${label}`);
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** A whole number, both ends included. */
  between(lowest: number, highest: number): number {
    return lowest + Math.floor(this.next() * (highest - lowest + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T extends { readonly weight: number }>(choices: readonly [T, ...T[]]): T {
    let remaining = this.next() * choices.reduce((total, choice) => total + choice.weight, 0);
    return choices.find((choice) => (remaining -= choice.weight) < 0) ?? choices[0];
  }

  characters(alphabet: string, length: number): string {
    let text = '';
    while (text.length < length) text += alphabet.charAt(this.between(0, alphabet.length - 1));
    return text;
  }

  hex(length: number): string {
    return this.characters(HEX_DIGITS, length);
  }
}

/** Turns a rate into moments. Gaps are between half and one and a half of the mean: no minute is empty by bad luck. */
export class Arrivals {
  readonly #random: Random;
  #credit = 0;
  #gap: number;

  constructor(random: Random) {
    this.#random = random;
    this.#gap = random.next();
  }

  /** How many come in a span of time in which `expected` come on average. */
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

/** FNV-1a: spreads seeds that lie close together over all 32 bits. */
function fingerprint(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return hash;
}
