import { z } from 'zod';
import { INVALID, isValid, type Field } from './field.js';

/*
 * Numbers are exact: a `Numeral` is a number of a document, a `Decimal` (decimal.ts) the result of a calculation, and calculations take both, which
 * are `AnyNumber`. A `DecimalString` is a number as text, for settings, JSON and the state file.
 */

/** Optional sign, digits, optional fraction, no exponent. */
export type DecimalString = string & { readonly __brand: 'digits' };

/** A quoted integer of at most 15 digits, the usual form, is a JavaScript number; any other number is a string with all digits. */
export type Numeral = number | DecimalString;

/** Integers of up to this many digits are exact as doubles. */
export const MAX_EXACT_DIGITS = 15;

const SHORT_INTEGER = /^(?:0|[1-9]\d{0,14})$/;
const DECIMAL = /^[+-]?\d+(?:\.\d+)?$/;
const MAX_CHARACTERS = 100;

/** Parses a decimal string of at most 100 characters, and keeps all digits. An empty string is a missing number. */
export function parseDecimal(text: string): Field<DecimalString> {
  if (text === '') return undefined;
  return text.length <= MAX_CHARACTERS && DECIMAL.test(text) ? (text as DecimalString) : INVALID;
}

/** The schema of a number in the state file. */
export const decimalString = z.custom<DecimalString>(
  (value) => typeof value === 'string' && isValid(parseDecimal(value)),
);

export const numeralSchema = z.union([z.number().int(), decimalString]) satisfies z.ZodType<Numeral>;

/** Reads a decimal string or a JSON number. Above 2^53, JSON.parse has rounded the digits of an integer without quotes. */
export function parseNumeral(json: unknown): Field<Numeral> {
  if (typeof json === 'number') return withoutExponent(json);
  if (typeof json !== 'string') return json === null || json === undefined ? undefined : INVALID;
  return SHORT_INTEGER.test(json) ? Number(json) : parseDecimal(json);
}

/** Casts a validated string: a setting or the value of a flag. */
export function asDecimalString(text: string): DecimalString {
  return text as DecimalString;
}

/** The digits of a JSON number: `1e21` and `1e-7` are read like other numbers. */
function withoutExponent(value: number): Field<DecimalString> {
  // JSON.parse reads 1e400 as infinity.
  if (!Number.isFinite(value)) return INVALID;
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.');
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}` as DecimalString;
  const padded = digits.padEnd(point, '0');
  return (sign + padded.slice(0, point) + (padded.length > point ? `.${padded.slice(point)}` : '')) as DecimalString;
}
