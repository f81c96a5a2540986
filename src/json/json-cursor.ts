import { strictBase64 } from './base64.js';
import { EXACT_LENGTH } from './decimal.js';
import { JsonValues } from './json-values.js';
import { Byte, COMPOUND, NumberLiteral, OverBudget } from './json-tokens.js';
import { NumberColumn, type NumberIndex } from './number-column.js';
import type { BytePattern } from './byte-pattern.js';
import type { StringInterner } from './string-interner.js';

/** About what a string takes beside its characters. */
const STRING_OVERHEAD = 24;

/** What a number takes when it is too large to stand where its pointer would. */
const NUMBER_BYTES = 16;

/** Where a text stands in its document. */
export type TextPlace = number & { readonly __brand: 'place of a text' };

/** Wherever an empty text stands: before anything that stands in an object. */
export const EMPTY_TEXT = 0 as TextPlace;

/** Digits of which every number fits in 32 bits. */
const INTEGER_LENGTH = 9;

/** Read so far. */
let documents = 0;

/** What stands where no object or list is asked for. */
export type Scalar = string | boolean | null | NumberLiteral | typeof COMPOUND;

/**
 * Reads JSON straight from its bytes, strictly, and makes only what is asked for. JSON.parse would make all of it: a hostile
 * document of 40 MB then takes gigabytes, and the memory limit of a worker thread does not hold it, as V8 ends the whole process
 * when one allocation is too much. Skipping costs no memory here however deep it goes, and what is made is counted against a budget.
 */
export class JsonCursor extends JsonValues {
  #at = this.start;
  #left: number;
  /** Whether an object may have one key several times, as hardly any has. */
  readonly expectsRepeatedKeys: boolean;
  readonly numbers = new NumberColumn();
  /** Another one for each document. */
  readonly serial: number;

  /** Throws when the bytes are not UTF-8. `budget` is about how many bytes of memory may be made. */
  constructor(bytes: Buffer, budget: number, expectsRepeatedKeys: boolean) {
    super(bytes);
    documents += 1;
    this.serial = documents;
    this.#left = budget;
    this.expectsRepeatedKeys = expectsRepeatedKeys;
  }

  get position(): number {
    return this.#at;
  }

  /** Only to a position this cursor was at before. */
  set position(position: number) {
    this.#at = position;
  }

  /** Takes from the budget; throws when it is used up. */
  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new OverBudget();
  }

  passesNull(): boolean {
    const at = this.afterSpace(this.#at);
    if (this.bytes[at] !== Byte.letterN) return false;
    this.#at = this.endOfWord(at, 'null');
    return true;
  }

  /** Enters an object or list when one stands next. */
  enters(open: number): boolean {
    const at = this.afterSpace(this.#at);
    if (this.bytes[at] !== open) return false;
    this.#at = at + 1;
    return true;
  }

  /** Whether another entry follows before the end, which is passed when none does. */
  hasEntry(close: number, isFirst: boolean): boolean {
    const at = this.afterSpace(this.#at);
    const byte = this.bytes[at];
    if (byte === close) {
      this.#at = at + 1;
      return false;
    }
    if (!isFirst && byte !== Byte.comma) this.fail(at);
    this.#at = isFirst ? at : at + 1;
    return true;
  }

  /** Passes just these bytes when they are next. */
  passes(expected: BytePattern): boolean {
    if (!expected.standAt(this.words, this.bytes.length, this.#at)) return false;
    this.#at += expected.length;
    return true;
  }

  /** The bytes since an earlier position. */
  passed(from: number): Uint8Array {
    return this.bytes.subarray(from, this.#at);
  }

  /** The key that comes next, with its colon. */
  key(): string {
    const start = this.afterSpace(this.#at);
    const end = this.endOfQuoted(start);
    const name = this.textPassed(start, end);
    this.#at = this.endOfColon(end);
    return name;
  }

  /**
   * A whole number in quotes, as nearly every one is written: itself up to 15 digits, its text up to 30. For anything else
   * `undefined`, and nothing is passed.
   */
  wholeNumber(): number | string | undefined {
    const start = this.afterSpace(this.#at) + 1;
    const end = this.#endOfWholeNumber(start);
    if (end === undefined) return undefined;
    this.#at = end + 1;
    const length = end - start;
    const isExact = length <= EXACT_LENGTH;
    this.spend(isExact ? NUMBER_BYTES : STRING_OVERHEAD + length);
    return isExact ? this.#valueOf(start, end) : this.part(start, end);
  }

  /** Passes a whole number as above and keeps it. */
  keptNumber(): NumberIndex | undefined {
    const start = this.afterSpace(this.#at) + 1;
    const end = this.#endOfWholeNumber(start);
    if (end === undefined) return undefined;
    this.#at = end + 1;
    this.spend(2 * NUMBER_BYTES);
    const split = Math.max(start, end - EXACT_LENGTH);
    return this.numbers.keep(this.#valueOf(start, split), this.#valueOf(split, end));
  }

  /** The closing quote, when from `start` on, after a quote, there is nothing but the digits of a number. */
  #endOfWholeNumber(start: number): number | undefined {
    const { bytes } = this;
    if (bytes[start - 1] !== Byte.quote) return undefined;
    const end = this.afterDigits(start);
    const length = end - start;
    if (bytes[end] !== Byte.quote || length === 0 || length > 2 * EXACT_LENGTH) return undefined;
    return bytes[start] === Byte.zero && length > 1 ? undefined : end;
  }

  /** Of at most 15 digits. In two halves, as most of the time is spent waiting for the digit before, and integers are faster. */
  #valueOf(start: number, end: number): number {
    const split = end - INTEGER_LENGTH;
    if (split <= start) return this.#integerOf(start, end);
    return this.#integerOf(start, split) * 10 ** INTEGER_LENGTH + this.#integerOf(split, end);
  }

  #integerOf(start: number, end: number): number {
    const { bytes } = this;
    let value = 0;
    for (let at = start; at < end; at += 1) value = (Math.imul(10, value) + (bytes[at] ?? 0) - Byte.zero) | 0;
    return value;
  }

  /** Passes the text that comes next and says where it stands; `undefined` when it is no text, nothing passed. */
  textPlace(): TextPlace | undefined {
    const start = this.afterSpace(this.#at);
    if (this.bytes[start] !== Byte.quote) return undefined;
    this.#at = this.endOfText(start);
    return this.#at - start === '""'.length ? EMPTY_TEXT : (start as TextPlace);
  }

  /** The text that stands at a place this cursor gave. */
  textAt(place: TextPlace): string {
    return place === EMPTY_TEXT ? '' : this.textPassed(place, this.endOfText(place));
  }

  /** The bytes of the text in base64 that comes next, until the next call; `null` when it is a text and not strict base64. */
  base64(): Uint8Array | null | undefined {
    const start = this.afterSpace(this.#at);
    if (this.bytes[start] !== Byte.quote) return undefined;
    const end = this.endOfText(start);
    this.#at = end;
    this.spend(STRING_OVERHEAD + end - start);
    if (!this.hasEscape) return strictBase64(this.bytes, start + 1, end - 1) ?? null;
    const text = Buffer.from(this.textPassed(start, end));
    return strictBase64(text, 0, text.length) ?? null;
  }

  /** What is known of the text that comes next; `undefined` when it is no text, nothing passed. */
  shared<T>(texts: StringInterner<T>): T | undefined {
    const start = this.afterSpace(this.#at);
    if (this.bytes[start] !== Byte.quote) return undefined;
    const end = this.endOfText(start);
    this.#at = end;
    const known = texts.find(this.words, this.bytes.length, start, end);
    if (known !== undefined) return known;
    this.spend(STRING_OVERHEAD + end - start);
    return texts.learn(this.words, start, end, this.textPassed(start, end));
  }

  /** The value that comes next when it is none of the others; `COMPOUND` for an object or a list, which is passed. */
  scalar(): Scalar {
    const start = this.afterSpace(this.#at);
    switch (this.bytes[start]) {
      case Byte.quote: {
        const end = this.endOfText(start);
        this.#at = end;
        this.spend(STRING_OVERHEAD + end - start);
        return this.textPassed(start, end);
      }
      case Byte.letterT:
        this.#at = this.endOfWord(start, 'true');
        return true;
      case Byte.letterF:
        this.#at = this.endOfWord(start, 'false');
        return false;
      case Byte.letterN:
        this.#at = this.endOfWord(start, 'null');
        return null;
      case Byte.openBrace:
      case Byte.openBracket:
        this.skip();
        return COMPOUND;
      default:
        this.#at = this.endOfNumber(start);
        return new NumberLiteral(this.part(start, this.#at));
    }
  }

  /** Passes one value, checking that it is JSON. */
  skip(): void {
    this.#at = this.endOfValue(this.afterSpace(this.#at));
  }

  /** Nothing but white space may follow. */
  end(): void {
    const at = this.afterSpace(this.#at);
    if (at < this.bytes.length) this.fail(at);
  }
}
