import { JsonLexer } from './json-lexer.js';
import { Byte, Nesting } from './json-tokens.js';

/** Finds where whole values end, however large and deep, checking that all of it is JSON. */
export class JsonValues extends JsonLexer {
  readonly #nesting = new Nesting();

  /** After the value that starts here. Depth costs a bit of memory for eight levels, and no stack. */
  protected endOfValue(start: number): number {
    const { bytes } = this;
    const nesting = this.#nesting;
    if (bytes[start] === Byte.quote) return this.endOfText(start);
    let at = start;
    for (;;) {
      const byte = bytes[at];
      if (byte === Byte.openBrace || byte === Byte.openBracket) {
        const isObject = byte === Byte.openBrace;
        nesting.push(isObject);
        at = this.afterSpace(at + 1);
        if (bytes[at] !== (isObject ? Byte.closeBrace : Byte.closeBracket)) {
          if (isObject) at = this.#endOfKey(at);
          continue;
        }
      } else {
        at = this.afterSpace(this.#endOfScalar(at, byte));
      }
      at = this.#afterEnds(at, nesting);
      if (nesting.depth === 0) return at;
    }
  }

  /** After every end that stands here, and when something is still open, where its next value starts. */
  #afterEnds(start: number, nesting: Nesting): number {
    const { bytes } = this;
    let at = start;
    while (nesting.depth > 0) {
      const byte = bytes[at];
      if (byte === Byte.comma) {
        at = this.afterSpace(at + 1);
        return nesting.isObject ? this.#endOfKey(at) : at;
      }
      if (byte !== (nesting.isObject ? Byte.closeBrace : Byte.closeBracket)) this.fail(at);
      nesting.pop();
      at += 1;
      if (nesting.depth > 0) at = this.afterSpace(at);
    }
    return at;
  }

  #endOfScalar(at: number, byte: number | undefined): number {
    switch (byte) {
      case Byte.quote:
        return this.endOfText(at);
      case Byte.letterT:
        return this.endOfWord(at, 'true');
      case Byte.letterF:
        return this.endOfWord(at, 'false');
      case Byte.letterN:
        return this.endOfWord(at, 'null');
      default:
        return this.endOfNumber(at);
    }
  }

  /** Where the value of the key that stands here starts. */
  #endOfKey(at: number): number {
    return this.afterSpace(this.endOfColon(this.endOfQuoted(at)));
  }

  protected endOfQuoted(at: number): number {
    return this.bytes[at] === Byte.quote ? this.endOfText(at) : this.fail(at);
  }

  protected endOfColon(start: number): number {
    const at = this.afterSpace(start);
    return this.bytes[at] === Byte.colon ? at + 1 : this.fail(at);
  }
}
