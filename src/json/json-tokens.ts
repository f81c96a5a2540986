/** The bytes that JSON is made of. */
export const Byte = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  colon: 0x3a,
  openBrace: 0x7b,
  closeBrace: 0x7d,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  minus: 0x2d,
  plus: 0x2b,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  capitalE: 0x45,
  letterE: 0x65,
  letterF: 0x66,
  letterN: 0x6e,
  letterT: 0x74,
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  delete: 0x7f,
} as const;

export const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The high bit of each byte of a word. */
const HIGH_BITS = 0x80808080 | 0;

/**
 * A bit for each quote, backslash or control character among the four bytes of a word, and perhaps for some above the lowest of
 * them: a byte that is below what is taken from it borrows, which shows in its high bit and can change the byte above it.
 */
export function stopsIn(word: number): number {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const isQuote = (quotes - 0x01010101) & ~quotes;
  const isBackslash = (backslashes - 0x01010101) & ~backslashes;
  const isControl = (word - 0x20202020) & ~word;
  return (isQuote | isBackslash | isControl) & HIGH_BITS;
}

/** How many bytes stand before the lowest that `stopsIn` found. */
export function bytesBefore(stops: number): number {
  return (31 - Math.clz32(stops & -stops)) >> 3;
}

/** By the letter after a backslash: how long the escape is; 0 where there is none. */
export const ESCAPE_LENGTHS = new Uint8Array(256);
for (const letter of Buffer.from('"\\/bfnrt')) ESCAPE_LENGTHS[letter] = 2;
ESCAPE_LENGTHS[0x75] = 6;

/** 1 for the bytes of hexadecimal digits. */
export const IS_HEX = new Uint8Array(256);
for (const digit of Buffer.from('0123456789abcdefABCDEF')) IS_HEX[digit] = 1;

/** Stands for an object or a list where something else was asked for. */
export const COMPOUND: unique symbol = Symbol('an object or a list');

/** A number as it is written: its digits are kept, also those a double would lose. */
export class NumberLiteral {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The bytes are not JSON; the message says what stands where. */
export class NotJson extends Error {}

/** A key that is read stands twice in one object, which takes the slower way of reading. */
export class RepeatedKey extends Error {}

/** What was to be made of the document is more than the memory allowed for it. */
export class OverBudget extends Error {}

/** Which of the brackets that are open are those of objects: a bit each, so that depth costs next to nothing. */
export class Nesting {
  depth = 0;
  #bits = new Uint8Array(64);

  get isObject(): boolean {
    const top = this.depth - 1;
    return ((this.#bits[top >> 3] ?? 0) & (1 << (top & 7))) !== 0;
  }

  push(isObject: boolean): void {
    const at = this.depth >> 3;
    if (at === this.#bits.length) {
      const grown = new Uint8Array(2 * at);
      grown.set(this.#bits);
      this.#bits = grown;
    }
    const bit = 1 << (this.depth & 7);
    const others = (this.#bits[at] ?? 0) & ~bit;
    this.#bits[at] = isObject ? others | bit : others;
    this.depth += 1;
  }

  pop(): void {
    this.depth -= 1;
  }
}
