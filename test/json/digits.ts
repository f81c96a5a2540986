import type { Digits } from '../../src/json/decimal.js';
import { INVALID } from '../../src/json/field.js';
import { readNumber } from '../../src/json/scalars.js';

/** A number of a document, for tests; fails on what the exporter would not read. */
export function digits(text: string): Digits {
  const read = readNumber(text);
  if (read === undefined || read === INVALID) throw new Error(`not a number: ${text}`);
  return read;
}
