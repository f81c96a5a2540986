const WORD = 4;

/** Bytes to look for in documents; a copy, or they would keep the whole document they are from. */
export class BytePattern {
  readonly length: number;
  /** Four bytes each, the last four at the end, so that they may overlap those before. None when there are fewer than four. */
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.length = bytes.length;
    this.#bytes = Uint8Array.from(bytes);
    const view = new DataView(this.#bytes.buffer);
    this.#words = new Int32Array(bytes.length < WORD ? 0 : Math.ceil(bytes.length / WORD));
    for (const index of this.#words.keys()) {
      this.#words[index] = view.getInt32(Math.min(index * WORD, bytes.length - WORD), true);
    }
  }

  /** Whether just these bytes stand somewhere among `size` bytes; four at a time, as this is asked of every key. */
  standAt(bytes: DataView, size: number, start: number): boolean {
    const { length } = this;
    if (start + length > size) return false;
    if (length < WORD) return this.#standsByteByByte(bytes, start);
    const words = this.#words;
    const last = words.length - 1;
    for (let index = 0; index < last; index += 1) {
      if (bytes.getInt32(start + index * WORD, true) !== words[index]) return false;
    }
    return bytes.getInt32(start + length - WORD, true) === words[last];
  }

  #standsByteByByte(bytes: DataView, start: number): boolean {
    return this.#bytes.every((byte, index) => bytes.getUint8(start + index) === byte);
  }
}
