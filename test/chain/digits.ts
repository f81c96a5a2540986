import { INVALID } from '../../src/chain/field.js';
import { type DecimalString, parseDecimal } from '../../src/chain/numeral.js';

/** Parses a decimal. Throws for an invalid one. */
export function digits(text: string): DecimalString {
  const parsed = parseDecimal(text);
  if (parsed === undefined || parsed === INVALID) throw new Error(`not a number: ${text}`);
  return parsed;
}
