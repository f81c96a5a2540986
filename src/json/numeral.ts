import { INVALID, type Field } from './field.js';

/** A decimal number as a string: optional sign, digits, optional fraction, no exponent. */
export type DecimalString = string & { readonly __brand: 'digits' };

/**
 * A number of a document. Quoted integers of at most 15 digits, the usual form, are JavaScript numbers; all others, including
 * unquoted ones, are strings with all digits.
 */
export type Numeral = number | DecimalString;

/** Integers of up to this many digits are exact as doubles. */
export const MAX_EXACT_DIGITS = 15;

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

/** Casts a string that is validated elsewhere: a setting or the value of a flag. */
export function asDecimalString(text: string): DecimalString {
  return text as DecimalString;
}

/** Longer literals and exponents, which only a hostile document has, are rounded to a double. */
const MAX_LITERAL_CHARACTERS = 400;
const MAX_EXPONENT = 400;

/** Converts a JSON number literal to digits without an exponent: `1e21` and `1e-7` are read like other numbers. */
export function parseLiteral(literal: string): Field<DecimalString> {
  const value = Number(literal);
  if (!Number.isFinite(value)) return INVALID;
  const [mantissa = '', exponentText = '0'] = literal.toLowerCase().split('e');
  const exponent = Number(exponentText);
  if (literal.length > MAX_LITERAL_CHARACTERS || Math.abs(exponent) > MAX_EXPONENT) return parseLiteral(String(value));
  if (exponent === 0) return mantissa as DecimalString;
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.');
  const digits = whole + fraction;
  const point = whole.length + exponent;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}` as DecimalString;
  const padded = digits.padEnd(point, '0');
  return (sign + padded.slice(0, point) + (padded.length > point ? `.${padded.slice(point)}` : '')) as DecimalString;
}
