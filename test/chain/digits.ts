import { INVALID } from '../../src/json/field.js';
import { type DecimalString, parseDecimal } from '../../src/json/numeral.js';

/** Digits for a test; throws for text that the exporter rejects. */
export function digits(text: string): DecimalString {
  const parsed = parseDecimal(text);
  if (parsed === undefined || parsed === INVALID) throw new Error(`not a number: ${text}`);
  return parsed;
}
