import type { Digits } from './decimal.js';
import type { Scalar } from './json-cursor.js';
import { NumberLiteral } from './json-tokens.js';
import { INVALID, type Field } from './field.js';

/** Reads a scalar of one kind; `null` never gets here. */
export type ScalarReader<T> = (json: Exclude<Scalar, null>) => Field<T>;

const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;
const MAX_NUMBER_LENGTH = 100;

/**
 * Reads a number: a decimal string of at most 100 characters, or a finite JSON number. It stays text until a family
 * converts it, once, or computes with it exactly. An empty string is a missing number.
 */
export function readNumber(json: Exclude<Scalar, null>): Field<Digits> {
  if (typeof json === 'string') {
    if (json === '') return undefined;
    return json.length <= MAX_NUMBER_LENGTH && NUMBER.test(json) ? (json as Digits) : INVALID;
  }
  return json instanceof NumberLiteral ? plainDigits(json.text) : INVALID;
}

/** A number of the configuration, which was checked when it was read. */
export function trustedDigits(text: string): Digits {
  return text as Digits;
}

export function readText(json: Exclude<Scalar, null>): Field<string> {
  return typeof json === 'string' ? json : INVALID;
}

/** For what is read before it becomes a scalar. */
export function readNone(): Field<never> {
  return INVALID;
}

export function readFlag(json: Exclude<Scalar, null>): Field<boolean> {
  return typeof json === 'boolean' ? json : INVALID;
}

/** A chain id used as a label: text, or a JSON integer as its digits. */
export function readChainId(json: Exclude<Scalar, null>): Field<string> {
  if (json instanceof NumberLiteral) return /^-?\d+$/.test(json.text) ? json.text : INVALID;
  return readText(json);
}

/** Far beyond what a double can tell apart; only a hostile number is longer. */
const MAX_LITERAL = 400;

/** The digits of a JSON number without an exponent, so that `1e21` and `1e-7` are read like any other; all digits are kept. */
function plainDigits(literal: string): Field<Digits> {
  const value = Number(literal);
  if (!Number.isFinite(value)) return INVALID;
  const [mantissa = '', exponentText = '0'] = literal.toLowerCase().split('e');
  const exponent = Number(exponentText);
  if (literal.length > MAX_LITERAL || Math.abs(exponent) > MAX_LITERAL) return plainDigits(String(value));
  if (exponent === 0) return mantissa as Digits;
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.');
  const digits = whole + fraction;
  const point = whole.length + exponent;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}` as Digits;
  const padded = digits.padEnd(point, '0');
  return (sign + padded.slice(0, point) + (padded.length > point ? `.${padded.slice(point)}` : '')) as Digits;
}
