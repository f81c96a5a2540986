import { z } from 'zod';
import { INVALID, isPresent, type Field } from './field.js';

/** A decimal number as a string: optional sign, digits, optional fraction, no exponent. */
export type DecimalString = string & { readonly __brand: 'digits' };

/**
 * A number of a document. Quoted integers of at most 15 digits, the usual form, are JavaScript numbers; all others are strings with all
 * digits.
 */
export type Numeral = number | DecimalString;

/** Integers of up to this many digits are exact as doubles. */
export const MAX_EXACT_DIGITS = 15;

const SHORT_INTEGER = /^(?:0|[1-9]\d{0,14})$/;
const DECIMAL = /^[+-]?\d+(?:\.\d+)?$/;
const MAX_CHARACTERS = 100;

/**
 * Parses a decimal string of at most 100 characters. All digits are kept; a number is rounded once, when a family converts it.
 * An empty string is a missing number.
 */
export function parseDecimal(text: string): Field<DecimalString> {
  if (text === '') return undefined;
  return text.length <= MAX_CHARACTERS && DECIMAL.test(text) ? (text as DecimalString) : INVALID;
}

/** The schema of numbers that the exporter has written itself. */
export const decimalString = z.custom<DecimalString>(
  (value) => typeof value === 'string' && isPresent(parseDecimal(value)),
);

/** The same, of numbers of documents. */
export const numeralSchema = z.union([z.number().int(), decimalString]) satisfies z.ZodType<Numeral>;

/** A number of a document: a decimal string or a JSON number. Of an unquoted integer above 2^53, JSON.parse has rounded the digits. */
export function parseNumeral(json: unknown): Field<Numeral> {
  if (typeof json === 'number') return withoutExponent(json);
  if (typeof json !== 'string') return json === null || json === undefined ? undefined : INVALID;
  return SHORT_INTEGER.test(json) ? Number(json) : parseDecimal(json);
}

/** Casts a string that is validated elsewhere: a setting or the value of a flag. */
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
