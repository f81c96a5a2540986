import type { Digits } from './decimal.js';
import { WRONG } from './reading.js';

const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;
const MAX_NUMBER_LENGTH = 100;

/**
 * Reads a number: a decimal string of at most 100 characters, or a finite JSON number. It stays text until a family
 * converts it, once, or computes with it exactly. An empty string is a missing number.
 */
export function readNumber(json: unknown): Digits | undefined | typeof WRONG {
  if (typeof json === 'string') {
    if (json === '') return undefined;
    return json.length <= MAX_NUMBER_LENGTH && NUMBER.test(json) ? (json as Digits) : WRONG;
  }
  return typeof json === 'number' && Number.isFinite(json) ? plainDigits(json) : WRONG;
}

/** A number of the configuration, which was checked when it was read. */
export function configured(text: string): Digits {
  return text as Digits;
}

export function readText(json: unknown): string | typeof WRONG {
  return typeof json === 'string' ? json : WRONG;
}

export function readFlag(json: unknown): boolean | typeof WRONG {
  return typeof json === 'boolean' ? json : WRONG;
}

/** A chain id used as a label: text, or a JSON integer as its digits. */
export function readChainId(json: unknown): string | typeof WRONG {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? String(json) : WRONG;
  return readText(json);
}

/** The digits of a double without an exponent, so that `1e21` and `1e-7` are read like any other number. */
function plainDigits(value: number): Digits {
  const text = String(value);
  const exponentAt = text.indexOf('e');
  if (exponentAt < 0) return text as Digits;
  const exponent = Number(text.slice(exponentAt + 1));
  const sign = text.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = text.slice(sign.length, exponentAt).split('.');
  const digits = whole + fraction;
  const point = whole.length + exponent;
  const plain = point > 0 ? digits.padEnd(point, '0') : `0.${'0'.repeat(-point)}${digits}`;
  return (sign + plain) as Digits;
}
