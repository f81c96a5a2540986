import { isAscii, isUtf8 } from 'node:buffer';
import { Byte, BYTE_ORDER_MARK, ESCAPE_LENGTHS, IS_HEX, NotJson } from './json-tokens.js';

/** Passes the pieces JSON is made of, byte by byte and strictly; what stands where is up to the cursor. */
export class JsonLexer {
  protected readonly bytes: Buffer;
  protected at: number;
  private readonly encoding: 'latin1' | 'utf8';

  /** Throws when the bytes are not UTF-8. */
  constructor(bytes: Buffer) {
    if (!isUtf8(bytes)) throw new NotJson('is not valid UTF-8');
    this.bytes = bytes;
    this.encoding = isAscii(bytes) ? 'latin1' : 'utf8';
    this.at = bytes.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK.length : 0;
  }

  /** The text that starts here. One with an escape is left to JSON.parse, which knows them all. */
  protected text(): string {
    const start = this.at;
    const hasEscape = this.passText();
    if (hasEscape) return JSON.parse(this.bytes.toString('utf8', start, this.at)) as string;
    return this.bytes.toString(this.encoding, start + 1, this.at - 1);
  }

  protected passText(): boolean {
    const bytes = this.bytes;
    let hasEscape = false;
    let at = this.at + 1;
    for (;;) {
      const byte = bytes[at];
      if (byte === Byte.quote) break;
      if (byte === Byte.backslash) {
        hasEscape = true;
        at += this.escapeLength(at);
      } else {
        if (byte === undefined || byte < Byte.space) this.fail(at);
        at += 1;
      }
    }
    this.at = at + 1;
    return hasEscape;
  }

  private escapeLength(at: number): number {
    const length = ESCAPE_LENGTHS[this.bytes[at + 1] ?? 0] ?? 0;
    if (length === 0) this.fail(at);
    for (let index = at + 2; index < at + length; index += 1) {
      if (IS_HEX[this.bytes[index] ?? 0] !== 1) this.fail(at);
    }
    return length;
  }

  protected passNumber(): void {
    let at = this.at;
    if (this.bytes[at] === Byte.minus) at += 1;
    at = this.bytes[at] === Byte.zero ? at + 1 : this.passDigits(at);
    if (this.bytes[at] === Byte.point) at = this.passDigits(at + 1);
    if (this.bytes[at] === Byte.letterE || this.bytes[at] === Byte.capitalE) {
      const sign = this.bytes[at + 1];
      at = this.passDigits(sign === Byte.minus || sign === Byte.plus ? at + 2 : at + 1);
    }
    this.at = at;
  }

  private passDigits(start: number): number {
    let at = start;
    for (let byte = this.bytes[at]; byte !== undefined && byte >= Byte.zero && byte <= Byte.nine; byte = this.bytes[at])
      at += 1;
    return at > start ? at : this.fail(at);
  }

  protected word<T>(word: string, value: T): T {
    for (let index = 0; index < word.length; index += 1) {
      if (this.bytes[this.at + index] !== word.charCodeAt(index)) this.fail(this.at + index);
    }
    this.at += word.length;
    return value;
  }

  /** The first byte that is no white space; `undefined` at the end. */
  protected next(): number | undefined {
    let byte = this.bytes[this.at];
    while (byte === Byte.space || byte === Byte.lineFeed || byte === Byte.carriageReturn || byte === Byte.tab) {
      this.at += 1;
      byte = this.bytes[this.at];
    }
    return byte;
  }

  protected fail(at = this.at): never {
    const byte = this.bytes[at];
    if (byte === undefined) throw new NotJson(`is not JSON: it ends at byte ${at}, in the middle`);
    const found = byte > Byte.space && byte < Byte.delete ? `'${String.fromCharCode(byte)}'` : `byte ${byte}`;
    throw new NotJson(`is not JSON: unexpected ${found} at byte ${at}`);
  }
}
