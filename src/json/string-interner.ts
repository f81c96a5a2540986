import { BytePattern } from './byte-pattern.js';

/** Texts beyond this are not worth remembering: what occurs again and again are addresses, ids and names. */
const MAX_LENGTH = 160;

/** Places to remember a text in, a power of two: some hundreds of validators and tokens seldom meet in one. */
const PLACES = 4096;

interface Known<T> {
  readonly bytes: BytePattern;
  readonly value: T;
}

/**
 * What was made of texts that occur again and again, such as the addresses of validators, found by their bytes as they stand in a
 * document. One text a place, and a newer one takes the place of an older, so it never grows however many there are.
 */
export class StringInterner<T> {
  readonly #make: (text: string) => T;
  readonly #places: (Known<T> | undefined)[] = Array.from({ length: PLACES }, () => undefined);

  constructor(make: (text: string) => T) {
    this.#make = make;
  }

  /** What was made of the text of these bytes of a document of `size`, quotes included. */
  find(bytes: DataView, size: number, start: number, end: number): T | undefined {
    const known = this.#places[placeOf(bytes, start, end)];
    const isSame = known?.bytes.length === end - start && known.bytes.standAt(bytes, size, start);
    return isSame ? known.value : undefined;
  }

  /** Makes of a text what it is from now on found by. */
  learn(bytes: DataView, start: number, end: number, text: string): T {
    const value = this.#make(text);
    if (end - start > MAX_LENGTH) return value;
    const own = new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
    this.#places[placeOf(bytes, start, end)] = { bytes: new BytePattern(own), value };
    return value;
  }
}

/** By the length and some of the characters: addresses differ in the last ones, or only in which letters are capitals. */
function placeOf(bytes: DataView, start: number, end: number): number {
  let hash = end - start;
  if (hash < 8) {
    for (let at = start; at < end; at += 1) hash = mixed(hash, bytes.getUint8(at));
  } else {
    hash = mixed(hash, bytes.getInt32(end - 8, true));
    hash = mixed(hash, bytes.getInt32(end - 4, true));
    hash = mixed(hash, bytes.getInt32(start + 4, true));
    hash = mixed(hash, bytes.getInt32((start + end) >> 1, true));
  }
  return (hash ^ (hash >>> 13)) & (PLACES - 1);
}

function mixed(hash: number, word: number): number {
  return Math.imul(hash ^ word ^ (hash >>> 15), 0x9e3779b1);
}
