import type { Digits } from '../../src/chain/decimal.js';
import { WRONG } from '../../src/chain/reading.js';
import { readNumber } from '../../src/chain/scalars.js';

/** A number of a document, for tests; fails on what the exporter would not read. */
export function digits(text: string): Digits {
  const read = readNumber(text);
  if (read === undefined || read === WRONG) throw new Error(`not a number: ${text}`);
  return read;
}
