import { isUtf8 } from 'node:buffer';
import { bytesBefore, Byte, BYTE_ORDER_MARK, ESCAPE_LENGTHS, IS_HEX, NotJson, stopsIn } from './json-tokens.js';

/** Three harmless bytes, to make a word of one byte. */
const SPACES = 0x20202000;

/**
 * Finds where each piece ends that JSON is made of, strictly; what stands where is up to the cursor. Positions are passed along
 * rather than kept, since the loops over them are most of the work, and run faster over variables than over fields.
 */
export class JsonLexer {
  protected readonly bytes: Buffer;
  protected readonly words: DataView;
  /** Of the text passed last. */
  protected hasEscape = false;

  /** Throws when the bytes are not UTF-8. */
  constructor(bytes: Buffer) {
    if (!isUtf8(bytes)) throw new NotJson('is not valid UTF-8');
    this.bytes = bytes;
    this.words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  protected get start(): number {
    return this.bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  }

  /** The text that was just passed, from quote to quote. One with an escape is left to JSON.parse, which knows them all. */
  protected textPassed(start: number, end: number): string {
    if (this.hasEscape) return JSON.parse(this.bytes.toString('utf8', start, end)) as string;
    return this.bytes.toString('utf8', start + 1, end - 1);
  }

  /** Of bytes that are known to be ASCII. */
  protected part(start: number, end: number): string {
    return this.bytes.toString('latin1', start, end);
  }

  /** After the text whose opening quote stands here. */
  protected endOfText(start: number): number {
    this.hasEscape = false;
    let at = this.stopOfText(start + 1);
    while (this.bytes[at] !== Byte.quote) {
      if (this.bytes[at] !== Byte.backslash) this.fail(at);
      this.hasEscape = true;
      at = this.stopOfText(this.endOfEscape(at));
    }
    return at + 1;
  }

  /** Where a text has its next quote, backslash or control character. Eight bytes at a time, as most of a document is texts. */
  private stopOfText(start: number): number {
    const { bytes, words } = this;
    const lastPair = bytes.length - 8;
    let at = start;
    for (; at <= lastPair; at += 8) {
      const first = stopsIn(words.getInt32(at, true));
      const second = stopsIn(words.getInt32(at + 4, true));
      if (first !== 0) return at + bytesBefore(first);
      if (second !== 0) return at + 4 + bytesBefore(second);
    }
    while (stopsIn((bytes[at] ?? 0) | SPACES) === 0) at += 1;
    return at;
  }

  private endOfEscape(at: number): number {
    const end = at + (ESCAPE_LENGTHS[this.bytes[at + 1] ?? 0] ?? 0);
    if (end === at) this.fail(at);
    for (let index = at + 2; index < end; index += 1) {
      if (IS_HEX[this.bytes[index] ?? 0] !== 1) this.fail(at);
    }
    return end;
  }

  protected endOfNumber(start: number): number {
    const { bytes } = this;
    let at = bytes[start] === Byte.minus ? start + 1 : start;
    at = bytes[at] === Byte.zero ? at + 1 : this.endOfDigits(at);
    if (bytes[at] === Byte.point) at = this.endOfDigits(at + 1);
    if (bytes[at] === Byte.letterE || bytes[at] === Byte.capitalE) {
      const sign = bytes[at + 1];
      at = this.endOfDigits(sign === Byte.minus || sign === Byte.plus ? at + 2 : at + 1);
    }
    return at;
  }

  private endOfDigits(start: number): number {
    const at = this.afterDigits(start);
    return at > start ? at : this.fail(at);
  }

  protected afterDigits(start: number): number {
    const { bytes } = this;
    let at = start;
    for (let byte = bytes[at]; byte !== undefined && byte >= Byte.zero && byte <= Byte.nine; byte = bytes[at]) at += 1;
    return at;
  }

  protected endOfWord(start: number, word: string): number {
    for (let index = 0; index < word.length; index += 1) {
      if (this.bytes[start + index] !== word.charCodeAt(index)) this.fail(start + index);
    }
    return start + word.length;
  }

  /** Where something stands that is no white space, or the end. */
  protected afterSpace(at: number): number {
    const byte = this.bytes[at];
    return byte !== undefined && byte > Byte.space ? at : this.pastSpace(at);
  }

  private pastSpace(start: number): number {
    const { bytes } = this;
    let at = start;
    for (;;) {
      const byte = bytes[at];
      if (byte !== Byte.space && byte !== Byte.lineFeed && byte !== Byte.carriageReturn && byte !== Byte.tab) return at;
      at += 1;
    }
  }

  protected fail(at: number): never {
    const byte = this.bytes[at];
    if (byte === undefined) throw new NotJson(`is not JSON: it ends at byte ${at}, in the middle`);
    const found = byte > Byte.space && byte < Byte.delete ? `'${String.fromCharCode(byte)}'` : `byte ${byte}`;
    throw new NotJson(`is not JSON: unexpected ${found} at byte ${at}`);
  }
}
