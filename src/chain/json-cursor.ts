import { JsonLexer } from './json-lexer.js';
import { Byte, COMPOUND, Nesting, NumberLiteral, OverBudget } from './json-tokens.js';

/** About what a string takes beside its characters. */
const STRING_OVERHEAD = 24;

/** What stands where no object or list is asked for. */
export type Scalar = string | boolean | null | NumberLiteral | typeof COMPOUND;

/**
 * Reads JSON straight from its bytes, strictly, and makes only what is asked for. JSON.parse would make all of it: a hostile
 * document of 40 MB then takes gigabytes, and the memory limit of a worker thread does not hold it, as V8 ends the whole process
 * when one allocation is too much. Skipping costs no memory here however deep it goes, and what is made is counted against a budget.
 */
export class JsonCursor extends JsonLexer {
  #left: number;
  readonly #nesting = new Nesting();
  /** Whether an object may have one key several times, as hardly any has. */
  readonly expectsRepeatedKeys: boolean;

  /** Throws when the bytes are not UTF-8. `budget` is about how many bytes of memory may be made. */
  constructor(bytes: Buffer, budget: number, expectsRepeatedKeys: boolean) {
    super(bytes);
    this.#left = budget;
    this.expectsRepeatedKeys = expectsRepeatedKeys;
  }

  get position(): number {
    return this.at;
  }

  /** Only to a position this cursor was at before. */
  set position(position: number) {
    this.at = position;
  }

  /** Takes from the budget; throws when it is used up. */
  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new OverBudget();
  }

  passesNull(): boolean {
    if (this.next() !== Byte.letterN) return false;
    this.word('null', null);
    return true;
  }

  /** Enters an object or list when one stands next. */
  enters(open: number): boolean {
    if (this.next() !== open) return false;
    this.at += 1;
    return true;
  }

  /** Whether another entry follows before the end, which is passed when none does. */
  hasEntry(close: number, isFirst: boolean): boolean {
    const byte = this.next();
    if (byte === close) {
      this.at += 1;
      return false;
    }
    if (!isFirst) {
      if (byte !== Byte.comma) this.fail();
      this.at += 1;
    }
    return true;
  }

  /** Whether the key that comes next is written just so, quotes included; it is passed when it is. */
  passesKey(quoted: Uint8Array): boolean {
    const start = this.next() === Byte.quote ? this.at : this.fail();
    for (let index = 0; index < quoted.length; index += 1) {
      if (this.bytes[start + index] !== quoted[index]) return false;
    }
    this.at = start + quoted.length;
    this.#passColon();
    return true;
  }

  /** The key that comes next, and how it is written, quotes included. */
  key(): { readonly name: string; readonly quoted: Uint8Array } {
    if (this.next() !== Byte.quote) this.fail();
    const start = this.at;
    const name = this.text();
    const quoted = this.bytes.subarray(start, this.at);
    this.#passColon();
    return { name, quoted };
  }

  /** The value that comes next when it is none of the others; `COMPOUND` for an object or a list, which is passed. */
  scalar(): Scalar {
    switch (this.next()) {
      case Byte.quote: {
        const text = this.text();
        this.spend(STRING_OVERHEAD + text.length);
        return text;
      }
      case Byte.letterT:
        return this.word('true', true);
      case Byte.letterF:
        return this.word('false', false);
      case Byte.letterN:
        return this.word('null', null);
      case Byte.openBrace:
      case Byte.openBracket:
        this.skip();
        return COMPOUND;
      default: {
        const start = this.at;
        this.passNumber();
        return new NumberLiteral(this.bytes.toString('latin1', start, this.at));
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
    if (this.next() !== undefined) this.fail();
  }

  /** Passes one scalar, or one step into, along or out of what is nested. */
  #passOne(nesting: Nesting): void {
    const byte = this.next();
    if (byte === Byte.openBrace || byte === Byte.openBracket) {
      this.at += 1;
      nesting.push(byte === Byte.openBrace);
      if (this.next() === (byte === Byte.openBrace ? Byte.closeBrace : Byte.closeBracket)) this.#passEnds(nesting);
      else if (byte === Byte.openBrace) this.#passKey();
      return;
    }
    if (byte === Byte.quote) this.passText();
    else if (byte === Byte.letterT) this.word('true', true);
    else if (byte === Byte.letterF) this.word('false', false);
    else if (!this.passesNull()) this.passNumber();
    this.#passEnds(nesting);
  }

  /** After a value: passes every end that follows, then the comma before the next value. */
  #passEnds(nesting: Nesting): void {
    while (nesting.depth > 0) {
      const byte = this.next();
      if (byte === Byte.comma) {
        this.at += 1;
        if (nesting.isObject) this.#passKey();
        return;
      }
      if (byte !== (nesting.isObject ? Byte.closeBrace : Byte.closeBracket)) this.fail();
      this.at += 1;
      nesting.pop();
    }
  }

  #passKey(): void {
    if (this.next() !== Byte.quote) this.fail();
    this.passText();
    this.#passColon();
  }

  #passColon(): void {
    if (this.next() !== Byte.colon) this.fail();
    this.at += 1;
  }
}
