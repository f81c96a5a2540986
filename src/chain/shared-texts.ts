import { standsAt } from './json-tokens.js';

/** Texts beyond this are not worth remembering: what occurs again and again are addresses, ids and names. */
const MAX_LENGTH = 160;

/** Places to remember a text in, a power of two: some hundreds of validators and tokens seldom meet in one. */
const PLACES = 4096;

interface Known<T> {
  readonly bytes: DataView;
  readonly value: T;
}

/**
 * What was made of texts that occur again and again, such as the addresses of validators, found by their bytes as they stand in a
 * document. One text a place, and a newer one takes the place of an older, so it never grows however many there are.
 */
export class SharedTexts<T> {
  readonly #make: (text: string) => T;
  readonly #places: (Known<T> | undefined)[] = Array.from({ length: PLACES }, () => undefined);

  constructor(make: (text: string) => T) {
    this.#make = make;
  }

  /** What was made of the text of these bytes, quotes included. */
  find(bytes: DataView, start: number, end: number): T | undefined {
    const known = this.#places[placeOf(bytes, start, end)];
    const isSame = known?.bytes.byteLength === end - start && standsAt(bytes, start, known.bytes);
    return isSame ? known.value : undefined;
  }

  learn(bytes: DataView, start: number, end: number, text: string): T {
    const value = this.#make(text);
    if (end - start > MAX_LENGTH) return value;
    // A copy, or it would keep the whole document.
    const from = bytes.byteOffset + start;
    const copy = new DataView(bytes.buffer.slice(from, from + end - start));
    this.#places[placeOf(bytes, start, end)] = { bytes: copy, value };
    return value;
  }
}

/** By the length, the last characters and some in the middle: addresses differ in the last, or only in which letters are large. */
function placeOf(bytes: DataView, start: number, end: number): number {
  let hash = end - start;
  if (hash < 8) {
    for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ bytes.getUint8(at), 0x01000193);
  } else {
    hash = Math.imul(hash ^ bytes.getInt32(end - 8, true), 0x9e3779b1);
    hash = Math.imul(hash ^ bytes.getInt32(end - 4, true) ^ (hash >>> 15), 0x85ebca6b);
    hash = Math.imul(hash ^ bytes.getInt32((start + end) >> 1, true) ^ (hash >>> 13), 0x9e3779b1);
  }
  return (hash ^ (hash >>> 13)) & (PLACES - 1);
}
