import { isUtf8 } from 'node:buffer';
import type { BytePattern } from './byte-pattern.js';
import { MAX_EXACT_DIGITS, type DecimalString, type Numeral } from './numeral.js';
import type { StringInterner } from './string-interner.js';

/*
 * How a document is read.
 *
 * JSON.parse builds every value of a document. For a hostile document of 40 MB that takes gigabytes, and V8 ends the whole
 * process when an allocation fails, whatever the heap limit of the worker thread. This scanner works on the bytes of the
 * response instead and builds only the values that a shape (shapes.ts) reads:
 *
 * - It holds one offset. Each method looks at the next token, validates it strictly (RFC 8259) and moves the offset after
 *   it; methods called `try…` leave the offset unchanged when the next token is of another type.
 * - Most bytes of a document are in strings, so the end of a string is searched eight bytes at a time. A string is decoded
 *   only when a shape reads it, and strings that repeat are decoded once (string-interner.ts). Escapes are left to
 *   JSON.parse.
 * - `skipValue` validates a value without building it. It does not recurse: open brackets are kept in a stack of bits, so a
 *   hostile nesting depth costs one bit per level.
 * - Everything that is built is counted against a memory budget by `allocate`. A document that exceeds it fails with
 *   MemoryBudgetExceeded, and the thread survives.
 */

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
  upperE: 0x45,
  lowerE: 0x65,
  lowerF: 0x66,
  lowerN: 0x6e,
  lowerT: 0x74,
  lowerU: 0x75,
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  delete: 0x7f,
} as const;

/** The bytes are not JSON; the message says what is wrong and at which offset. */
export class InvalidJson extends Error {}

/** The values that a shape reads exceed the memory budget of the document. */
export class MemoryBudgetExceeded extends Error {}

/** A number that is not in quotes, with all its digits. */
export class NumberLiteral {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Returned for an object or array where a scalar is expected. */
export const COMPOUND: unique symbol = Symbol('object or array');

export type ScalarOrCompound = string | boolean | null | NumberLiteral | typeof COMPOUND;

/** A string that is decoded lazily. It refers to the response body, so it must not be used after the body is released. */
export class LazyString {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;

  /** A valid string token between two offsets, quotes included. */
  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  get isEmpty(): boolean {
    return this.#end - this.#start === '""'.length;
  }

  decode(): string {
    return JSON.parse(this.#bytes.toString('utf8', this.#start, this.#end)) as string;
  }
}

/** Approximate heap size of a string without its characters, and of a number. */
const STRING_BYTES = 24;
const NUMBER_BYTES = 16;

/** Amounts of tokens with 18 decimals have fewer digits. */
const MAX_FAST_DIGITS = 30;

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Length of an escape sequence by the byte after its backslash; 0 for an invalid one. */
const escapeLengths = new Uint8Array(256);
for (const byte of Buffer.from('"\\/bfnrt')) escapeLengths[byte] = 2;
escapeLengths[Byte.lowerU] = 6;

const isHexDigit = new Uint8Array(256);
for (const byte of Buffer.from('0123456789abcdefABCDEF')) isHexDigit[byte] = 1;

export class JsonScanner {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #openBrackets = new BracketStack();
  #offset: number;
  #budget: number;
  /** Whether the string token that was scanned last has an escape sequence. */
  #hasEscape = false;

  /** Throws InvalidJson when the bytes are not UTF-8. `budgetBytes` limits the approximate size of what is built. */
  constructor(bytes: Buffer, budgetBytes: number) {
    if (!isUtf8(bytes)) throw new InvalidJson('not valid UTF-8');
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#offset = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    this.#budget = budgetBytes;
  }

  get offset(): number {
    return this.#offset;
  }

  /** Counts memory against the budget; throws MemoryBudgetExceeded when it is used up. */
  allocate(bytes: number): void {
    this.#budget -= bytes;
    if (this.#budget < 0) throw new MemoryBudgetExceeded();
  }

  tryNull(): boolean {
    const start = this.#skipWhitespace(this.#offset);
    if (this.#bytes[start] !== Byte.lowerN) return false;
    this.#offset = this.#scanKeyword(start, 'null');
    return true;
  }

  /** Consumes an opening brace or bracket. */
  tryOpen(bracket: typeof Byte.openBrace | typeof Byte.openBracket): boolean {
    const start = this.#skipWhitespace(this.#offset);
    if (this.#bytes[start] !== bracket) return false;
    this.#offset = start + 1;
    return true;
  }

  /**
   * Moves to the next entry of an object or array and consumes the comma before it. At the end, consumes the closing bracket and
   * returns false.
   */
  nextEntry(closeBracket: typeof Byte.closeBrace | typeof Byte.closeBracket, isFirst: boolean): boolean {
    const start = this.#skipWhitespace(this.#offset);
    const byte = this.#bytes[start];
    if (byte === closeBracket) {
      this.#offset = start + 1;
      return false;
    }
    if (!isFirst && byte !== Byte.comma) this.#fail(start);
    this.#offset = isFirst ? start : start + 1;
    return true;
  }

  /** Consumes exactly the bytes of a pattern. */
  tryConsume(pattern: BytePattern): boolean {
    if (!pattern.matchesAt(this.#view, this.#offset)) return false;
    this.#offset += pattern.length;
    return true;
  }

  /** The bytes between an earlier offset and the current one. */
  bytesSince(start: number): Uint8Array {
    return this.#bytes.subarray(start, this.#offset);
  }

  /** Reads a key and its colon. */
  readKey(): string {
    const start = this.#skipWhitespace(this.#offset);
    const end = this.#scanString(start);
    const key = this.#decode(start, end);
    this.#offset = this.#scanColon(end);
    return key;
  }

  /** Reads a quoted integer without sign and leading zeros, the usual form of numbers. Longer ones are left to `readScalar`. */
  tryQuotedInteger(): Numeral | undefined {
    const bytes = this.#bytes;
    const quote = this.#skipWhitespace(this.#offset);
    const start = quote + 1;
    if (bytes[quote] !== Byte.quote) return undefined;
    const end = this.#skipDigits(start);
    const length = end - start;
    if (bytes[end] !== Byte.quote || length === 0 || length > MAX_FAST_DIGITS) return undefined;
    if (bytes[start] === Byte.zero && length > 1) return undefined;
    this.#offset = end + 1;
    if (length > MAX_EXACT_DIGITS) {
      this.allocate(STRING_BYTES + length);
      return bytes.toString('latin1', start, end) as DecimalString;
    }
    this.allocate(NUMBER_BYTES);
    let value = 0;
    for (let offset = start; offset < end; offset += 1) value = 10 * value + (bytes[offset] ?? 0) - Byte.zero;
    return value;
  }

  /** Reads a string without decoding it. */
  tryRawString(): LazyString | undefined {
    const start = this.#skipWhitespace(this.#offset);
    if (this.#bytes[start] !== Byte.quote) return undefined;
    this.#offset = this.#scanString(start);
    this.allocate(STRING_BYTES);
    return new LazyString(this.#bytes, start, this.#offset);
  }

  /** Reads a string and returns the value that an interner caches for it. */
  tryInterned<T>(interner: StringInterner<T>): T | undefined {
    const start = this.#skipWhitespace(this.#offset);
    if (this.#bytes[start] !== Byte.quote) return undefined;
    const end = this.#scanString(start);
    this.#offset = end;
    const cached = interner.lookup(this.#view, start, end);
    if (cached !== undefined) return cached;
    this.allocate(STRING_BYTES + end - start);
    return interner.insert(this.#view, start, end, this.#decode(start, end));
  }

  /** Reads a scalar. An object or array is skipped and returned as COMPOUND. */
  readScalar(): ScalarOrCompound {
    const start = this.#skipWhitespace(this.#offset);
    switch (this.#bytes[start]) {
      case Byte.quote: {
        const end = this.#scanString(start);
        this.#offset = end;
        this.allocate(STRING_BYTES + end - start);
        return this.#decode(start, end);
      }
      case Byte.lowerT:
        this.#offset = this.#scanKeyword(start, 'true');
        return true;
      case Byte.lowerF:
        this.#offset = this.#scanKeyword(start, 'false');
        return false;
      case Byte.lowerN:
        this.#offset = this.#scanKeyword(start, 'null');
        return null;
      case Byte.openBrace:
      case Byte.openBracket:
        this.skipValue();
        return COMPOUND;
      default:
        this.#offset = this.#scanNumber(start);
        this.allocate(STRING_BYTES + this.#offset - start);
        return new NumberLiteral(this.#bytes.toString('latin1', start, this.#offset));
    }
  }

  /** Validates one value without building it. */
  skipValue(): void {
    this.#offset = this.#scanValue(this.#skipWhitespace(this.#offset));
  }

  /** Throws unless only white space follows. */
  expectEnd(): void {
    const end = this.#skipWhitespace(this.#offset);
    if (end < this.#bytes.length) this.#fail(end);
  }

  // The scan methods validate one token or value from an offset and return the offset after it. Offsets are passed along
  // rather than stored, since loops over local variables run faster than over fields.

  #scanValue(start: number): number {
    const bytes = this.#bytes;
    const stack = this.#openBrackets;
    stack.clear();
    let offset = start;
    for (;;) {
      const byte = bytes[offset];
      if (byte === Byte.openBrace || byte === Byte.openBracket) {
        const isObject = byte === Byte.openBrace;
        stack.push(isObject);
        offset = this.#skipWhitespace(offset + 1);
        if (bytes[offset] !== (isObject ? Byte.closeBrace : Byte.closeBracket)) {
          if (isObject) offset = this.#scanKey(offset);
          continue;
        }
      } else {
        offset = this.#scanScalar(offset, byte);
        if (stack.depth === 0) return offset;
        offset = this.#skipWhitespace(offset);
      }
      offset = this.#scanToNextValue(offset, stack);
      if (stack.depth === 0) return offset;
    }
  }

  /** After a value: scans closing brackets up to the next value, or up to the end of the outermost bracket. */
  #scanToNextValue(start: number, stack: BracketStack): number {
    const bytes = this.#bytes;
    let offset = start;
    while (stack.depth > 0) {
      const byte = bytes[offset];
      if (byte === Byte.comma) {
        offset = this.#skipWhitespace(offset + 1);
        return stack.topIsObject ? this.#scanKey(offset) : offset;
      }
      if (byte !== (stack.topIsObject ? Byte.closeBrace : Byte.closeBracket)) this.#fail(offset);
      stack.pop();
      offset += 1;
      if (stack.depth > 0) offset = this.#skipWhitespace(offset);
    }
    return offset;
  }

  #scanScalar(start: number, byte: number | undefined): number {
    switch (byte) {
      case Byte.quote:
        return this.#scanString(start);
      case Byte.lowerT:
        return this.#scanKeyword(start, 'true');
      case Byte.lowerF:
        return this.#scanKeyword(start, 'false');
      case Byte.lowerN:
        return this.#scanKeyword(start, 'null');
      default:
        return this.#scanNumber(start);
    }
  }

  /** Scans a key, its colon and the white space after it. */
  #scanKey(start: number): number {
    return this.#skipWhitespace(this.#scanColon(this.#scanString(start)));
  }

  #scanColon(start: number): number {
    const offset = this.#skipWhitespace(start);
    return this.#bytes[offset] === Byte.colon ? offset + 1 : this.#fail(offset);
  }

  #scanString(start: number): number {
    const bytes = this.#bytes;
    if (bytes[start] !== Byte.quote) this.#fail(start);
    this.#hasEscape = false;
    let offset = this.#findStringDelimiter(start + 1);
    while (bytes[offset] !== Byte.quote) {
      if (bytes[offset] !== Byte.backslash) this.#fail(offset);
      this.#hasEscape = true;
      offset = this.#findStringDelimiter(this.#scanEscape(offset));
    }
    return offset + 1;
  }

  /** The offset of the next quote, backslash or control character. Compares eight bytes at a time; with one at a time, reading takes 10 % longer. */
  #findStringDelimiter(start: number): number {
    const bytes = this.#bytes;
    const view = this.#view;
    const lastWordPair = bytes.length - 8;
    let offset = start;
    for (; offset <= lastWordPair; offset += 8) {
      const first = delimitersIn(view.getInt32(offset, true));
      const second = delimitersIn(view.getInt32(offset + 4, true));
      if (first !== 0) return offset + lowestMark(first);
      if (second !== 0) return offset + 4 + lowestMark(second);
    }
    for (;;) {
      const byte = bytes[offset] ?? 0;
      if (byte === Byte.quote || byte === Byte.backslash || byte < Byte.space) return offset;
      offset += 1;
    }
  }

  #scanEscape(start: number): number {
    const end = start + (escapeLengths[this.#bytes[start + 1] ?? 0] ?? 0);
    if (end === start) this.#fail(start);
    for (let offset = start + 2; offset < end; offset += 1) {
      if (isHexDigit[this.#bytes[offset] ?? 0] !== 1) this.#fail(start);
    }
    return end;
  }

  #scanNumber(start: number): number {
    const bytes = this.#bytes;
    let offset = bytes[start] === Byte.minus ? start + 1 : start;
    offset = bytes[offset] === Byte.zero ? offset + 1 : this.#scanDigits(offset);
    if (bytes[offset] === Byte.point) offset = this.#scanDigits(offset + 1);
    if (bytes[offset] === Byte.lowerE || bytes[offset] === Byte.upperE) {
      const sign = bytes[offset + 1];
      offset = this.#scanDigits(sign === Byte.minus || sign === Byte.plus ? offset + 2 : offset + 1);
    }
    return offset;
  }

  #scanDigits(start: number): number {
    const end = this.#skipDigits(start);
    return end > start ? end : this.#fail(start);
  }

  #skipDigits(start: number): number {
    const bytes = this.#bytes;
    let offset = start;
    for (let byte = bytes[offset]; byte !== undefined && byte >= Byte.zero && byte <= Byte.nine; byte = bytes[offset]) {
      offset += 1;
    }
    return offset;
  }

  #scanKeyword(start: number, keyword: string): number {
    for (let index = 0; index < keyword.length; index += 1) {
      if (this.#bytes[start + index] !== keyword.charCodeAt(index)) this.#fail(start + index);
    }
    return start + keyword.length;
  }

  /** Small, so that V8 inlines it: documents of nodes have no white space between tokens. */
  #skipWhitespace(start: number): number {
    const byte = this.#bytes[start];
    return byte !== undefined && byte > Byte.space ? start : this.#scanWhitespace(start);
  }

  #scanWhitespace(start: number): number {
    const bytes = this.#bytes;
    let offset = start;
    for (;;) {
      const byte = bytes[offset];
      if (byte !== Byte.space && byte !== Byte.lineFeed && byte !== Byte.carriageReturn && byte !== Byte.tab)
        return offset;
      offset += 1;
    }
  }

  /** Decodes the string token between two offsets. It must be the one that was scanned last, to which `#hasEscape` belongs. */
  #decode(start: number, end: number): string {
    if (this.#hasEscape) return JSON.parse(this.#bytes.toString('utf8', start, end)) as string;
    return this.#bytes.toString('utf8', start + 1, end - 1);
  }

  #fail(offset: number): never {
    const byte = this.#bytes[offset];
    if (byte === undefined) throw new InvalidJson(`not JSON: unexpected end at byte ${offset}`);
    const found = byte > Byte.space && byte < Byte.delete ? `'${String.fromCharCode(byte)}'` : `byte ${byte}`;
    throw new InvalidJson(`not JSON: unexpected ${found} at byte ${offset}`);
  }
}

/** Sign bits of the four bytes of a word. */
const SIGN_BITS = 0x80808080 | 0;

/**
 * Marks the sign bit of each byte of a word that is a quote, a backslash or a control character, by the SWAR (SIMD within a
 * register) tests for a zero byte and for a byte below a limit. A borrow can mark bytes above the lowest marked one wrongly, so only the lowest mark counts.
 */
function delimitersIn(word: number): number {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const quoteMask = (quotes - 0x01010101) & ~quotes;
  const backslashMask = (backslashes - 0x01010101) & ~backslashes;
  const controlMask = (word - 0x20202020) & ~word;
  return (quoteMask | backslashMask | controlMask) & SIGN_BITS;
}

/** The index of the lowest marked byte of a word. */
function lowestMark(marks: number): number {
  return (31 - Math.clz32(marks & -marks)) >> 3;
}

/** The brackets that are open, one bit each: 1 for an object, 0 for an array. */
class BracketStack {
  depth = 0;
  #bits = new Uint8Array(64);

  get topIsObject(): boolean {
    const top = this.depth - 1;
    return ((this.#bits[top >> 3] ?? 0) & (1 << (top & 7))) !== 0;
  }

  clear(): void {
    this.depth = 0;
  }

  push(isObject: boolean): void {
    const index = this.depth >> 3;
    if (index === this.#bits.length) {
      const grown = new Uint8Array(2 * index);
      grown.set(this.#bits);
      this.#bits = grown;
    }
    const bit = 1 << (this.depth & 7);
    const others = (this.#bits[index] ?? 0) & ~bit;
    this.#bits[index] = isObject ? others | bit : others;
    this.depth += 1;
  }

  pop(): void {
    this.depth -= 1;
  }
}
