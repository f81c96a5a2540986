import { isAscii, isUtf8 } from 'node:buffer';
import { Byte, BYTE_ORDER_MARK, COMPOUND, Nesting, NotJson, NumberLiteral, OverBudget } from './json-tokens.js';

/** About what a string takes beside its characters. */
const STRING_OVERHEAD = 24;

/** What stands where no object or list is asked for. */
export type Scalar = string | boolean | null | NumberLiteral | typeof COMPOUND;

/**
 * Reads JSON straight from its bytes, strictly, and makes only what is asked for. JSON.parse would make all of it: a hostile
 * document of 40 MB then takes gigabytes, and the memory limit of a worker thread does not hold it, as V8 ends the whole process
 * when one allocation is too much. Skipping costs no memory here however deep it goes, and what is made is counted against a budget.
 */
export class JsonCursor {
  readonly #bytes: Buffer;
  readonly #encoding: 'latin1' | 'utf8';
  #at: number;
  #left: number;
  readonly #nesting = new Nesting();
  /** Whether an object may have one key several times, as hardly any has. */
  readonly expectsRepeatedKeys: boolean;

  /** Throws when the bytes are not UTF-8. `budget` is about how many bytes of memory may be made. */
  constructor(bytes: Buffer, budget: number, expectsRepeatedKeys: boolean) {
    if (!isUtf8(bytes)) throw new NotJson('is not valid UTF-8');
    this.#bytes = bytes;
    this.#encoding = isAscii(bytes) ? 'latin1' : 'utf8';
    this.#at = bytes.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK.length : 0;
    this.#left = budget;
    this.expectsRepeatedKeys = expectsRepeatedKeys;
  }

  get position(): number {
    return this.#at;
  }

  /** Goes on at a position this cursor was at before. */
  moveTo(position: number): void {
    this.#at = position;
  }

  /** Takes from the budget; throws when it is used up. */
  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new OverBudget();
  }

  passesNull(): boolean {
    if (this.#next() !== Byte.letterN) return false;
    this.#word('null', null);
    return true;
  }

  /** Enters an object or list when one stands next. */
  enters(open: number): boolean {
    if (this.#next() !== open) return false;
    this.#at += 1;
    return true;
  }

  /** Whether another entry follows before the end, which is passed when none does. */
  hasEntry(close: number, isFirst: boolean): boolean {
    const byte = this.#next();
    if (byte === close) {
      this.#at += 1;
      return false;
    }
    if (!isFirst) {
      if (byte !== Byte.comma) this.#fail();
      this.#at += 1;
    }
    return true;
  }

  /** Whether the key that comes next is written just so, quotes included; it is passed when it is. */
  passesKey(quoted: Uint8Array): boolean {
    const start = this.#next() === Byte.quote ? this.#at : this.#fail();
    for (let index = 0; index < quoted.length; index += 1) {
      if (this.#bytes[start + index] !== quoted[index]) return false;
    }
    this.#at = start + quoted.length;
    this.#passColon();
    return true;
  }

  /** The key that comes next, and how it is written, quotes included. */
  key(): { readonly name: string; readonly quoted: Uint8Array } {
    if (this.#next() !== Byte.quote) this.#fail();
    const start = this.#at;
    const name = this.#text();
    const quoted = this.#bytes.subarray(start, this.#at);
    this.#passColon();
    return { name, quoted };
  }

  /** The value that comes next when it is none of the others; `COMPOUND` for an object or a list, which is passed. */
  scalar(): Scalar {
    switch (this.#next()) {
      case Byte.quote: {
        const text = this.#text();
        this.spend(STRING_OVERHEAD + text.length);
        return text;
      }
      case Byte.letterT:
        return this.#word('true', true);
      case Byte.letterF:
        return this.#word('false', false);
      case Byte.letterN:
        return this.#word('null', null);
      case Byte.openBrace:
      case Byte.openBracket:
        this.skip();
        return COMPOUND;
      default: {
        const start = this.#at;
        this.#passNumber();
        return new NumberLiteral(this.#bytes.toString('latin1', start, this.#at));
      }
    }
  }

  /** Passes one value, checking that it is JSON. Depth costs a bit of memory for eight levels, and no stack. */
  skip(): void {
    do {
      this.#passOne(this.#nesting);
    } while (this.#nesting.depth > 0);
  }

  /** Nothing but white space may follow. */
  end(): void {
    if (this.#next() !== undefined) this.#fail();
  }

  /** Passes one scalar, or one step into, along or out of what is nested. */
  #passOne(nesting: Nesting): void {
    const byte = this.#next();
    if (byte === Byte.openBrace || byte === Byte.openBracket) {
      this.#at += 1;
      nesting.push(byte === Byte.openBrace);
      if (this.#next() === (byte === Byte.openBrace ? Byte.closeBrace : Byte.closeBracket)) this.#passEnds(nesting);
      else if (byte === Byte.openBrace) this.#passKey();
      return;
    }
    if (byte === Byte.quote) this.#passText();
    else if (byte === Byte.letterT) this.#word('true', true);
    else if (byte === Byte.letterF) this.#word('false', false);
    else if (byte === Byte.letterN) this.#word('null', null);
    else this.#passNumber();
    this.#passEnds(nesting);
  }

  /** After a value: passes every end that follows, then the comma before the next value. */
  #passEnds(nesting: Nesting): void {
    while (nesting.depth > 0) {
      const byte = this.#next();
      if (byte === Byte.comma) {
        this.#at += 1;
        if (nesting.isObject) this.#passKey();
        return;
      }
      if (byte !== (nesting.isObject ? Byte.closeBrace : Byte.closeBracket)) this.#fail();
      this.#at += 1;
      nesting.pop();
    }
  }

  #passKey(): void {
    if (this.#next() !== Byte.quote) this.#fail();
    this.#passText();
    this.#passColon();
  }

  #passColon(): void {
    if (this.#next() !== Byte.colon) this.#fail();
    this.#at += 1;
  }

  /** The text that starts here. One with an escape is left to JSON.parse, which knows them all. */
  #text(): string {
    const start = this.#at;
    const hasEscape = this.#passText();
    if (hasEscape) return JSON.parse(this.#bytes.toString('utf8', start, this.#at)) as string;
    return this.#bytes.toString(this.#encoding, start + 1, this.#at - 1);
  }

  #passText(): boolean {
    const bytes = this.#bytes;
    let hasEscape = false;
    let at = this.#at + 1;
    for (;;) {
      const byte = bytes[at];
      if (byte === Byte.quote) break;
      if (byte === Byte.backslash) {
        hasEscape = true;
        at += this.#escapeLength(at);
      } else {
        if (byte === undefined || byte < Byte.space) this.#fail(at);
        at += 1;
      }
    }
    this.#at = at + 1;
    return hasEscape;
  }

  #escapeLength(at: number): number {
    const letter = String.fromCharCode(this.#bytes[at + 1] ?? 0);
    if ('"\\/bfnrt'.includes(letter)) return 2;
    if (letter !== 'u' || !/^[\dA-Fa-f]{4}$/.test(this.#bytes.toString('latin1', at + 2, at + 6))) this.#fail(at);
    return 6;
  }

  #passNumber(): void {
    let at = this.#at;
    if (this.#bytes[at] === Byte.minus) at += 1;
    at = this.#bytes[at] === Byte.zero ? at + 1 : this.#passDigits(at);
    if (this.#bytes[at] === Byte.point) at = this.#passDigits(at + 1);
    if (this.#bytes[at] === Byte.letterE || this.#bytes[at] === Byte.capitalE) {
      const sign = this.#bytes[at + 1];
      at = this.#passDigits(sign === Byte.minus || sign === Byte.plus ? at + 2 : at + 1);
    }
    this.#at = at;
  }

  #passDigits(start: number): number {
    let at = start;
    for (
      let byte = this.#bytes[at];
      byte !== undefined && byte >= Byte.zero && byte <= Byte.nine;
      byte = this.#bytes[at]
    )
      at += 1;
    return at > start ? at : this.#fail(at);
  }

  #word<T>(word: string, value: T): T {
    for (let index = 0; index < word.length; index += 1) {
      if (this.#bytes[this.#at + index] !== word.charCodeAt(index)) this.#fail(this.#at + index);
    }
    this.#at += word.length;
    return value;
  }

  /** The first byte that is no white space; `undefined` at the end. */
  #next(): number | undefined {
    let byte = this.#bytes[this.#at];
    while (byte === Byte.space || byte === Byte.lineFeed || byte === Byte.carriageReturn || byte === Byte.tab) {
      this.#at += 1;
      byte = this.#bytes[this.#at];
    }
    return byte;
  }

  #fail(at = this.#at): never {
    const byte = this.#bytes[at];
    if (byte === undefined) throw new NotJson(`is not JSON: it ends at byte ${at}, in the middle`);
    const found = byte > Byte.space && byte < Byte.delete ? `'${String.fromCharCode(byte)}'` : `byte ${byte}`;
    throw new NotJson(`is not JSON: unexpected ${found} at byte ${at}`);
  }
}
