import { MAX_EXACT_DIGITS, type DecimalString, type Numeral } from './numeral.js';

/** The result of a calculation: `units` × 10^−`scale`. Amounts reach 2^256, which doubles cannot add or compare exactly. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** A number of a document, or the result of a calculation. */
export type AnyNumber = Numeral | Decimal;

export const ZERO: Decimal = { units: 0n, scale: 0 };

export function decimal(value: AnyNumber): Decimal {
  if (typeof value === 'object') return value;
  if (typeof value === 'number') return integer(value);
  const point = value.indexOf('.');
  if (point < 0) return { units: BigInt(value), scale: 0 };
  return { units: BigInt(value.slice(0, point) + value.slice(point + 1)), scale: value.length - point - 1 };
}

export function integer(value: number | bigint): Decimal {
  return { units: BigInt(value), scale: 0 };
}

export function add(a: AnyNumber, b: AnyNumber): Decimal {
  const { left, right, scale } = atCommonScale(a, b);
  return { units: left + right, scale };
}

export function subtract(a: AnyNumber, b: AnyNumber): Decimal {
  const { left, right, scale } = atCommonScale(a, b);
  return { units: left - right, scale };
}

export function multiply(a: AnyNumber, b: AnyNumber): Decimal {
  const [left, right] = [decimal(a), decimal(b)];
  return { units: left.units * right.units, scale: left.scale + right.scale };
}

/** A larger sum may be inexact as a double after the next addition. */
const MAX_EXACT_SUM = Number.MAX_SAFE_INTEGER - 10 ** MAX_EXACT_DIGITS;

/** Adds numbers as doubles while their sum is exact. */
export function sum(values: Iterable<AnyNumber>): Decimal {
  let { units, scale } = ZERO;
  let numbers = 0;
  for (const value of values) {
    if (typeof value === 'number' && Math.abs(numbers) <= MAX_EXACT_SUM) {
      numbers += value;
      continue;
    }
    const next = decimal(value);
    if (next.scale === scale) units += next.units;
    else ({ units, scale } = add({ units, scale }, next));
  }
  return numbers === 0 ? { units, scale } : add({ units, scale }, numbers);
}

/** Negative when `a` is lower than `b`, positive when it is higher, else 0. Without conversion where doubles are exact. */
export function compare(a: AnyNumber, b: AnyNumber): number {
  if (isShort(a) && isShort(b)) return Number(a) - Number(b);
  const { left, right } = atCommonScale(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}

function isShort(value: AnyNumber): value is Numeral {
  return typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_EXACT_DIGITS);
}

/** The lowest value that is not `undefined`, the first of equal values. */
export function lowest<Value extends AnyNumber>(values: Iterable<Value | undefined>): Value | undefined {
  return extreme(values, -1);
}

/** The highest value that is not `undefined`, the first of equal values. */
export function highest<Value extends AnyNumber>(values: Iterable<Value | undefined>): Value | undefined {
  return extreme(values, 1);
}

function extreme<Value extends AnyNumber>(values: Iterable<Value | undefined>, direction: -1 | 1): Value | undefined {
  let result: Value | undefined;
  for (const value of values) {
    if (value === undefined) continue;
    if (result === undefined || compare(value, result) * direction > 0) result = value;
  }
  return result;
}

/** A Map key: equal for equal numbers, such as `1` and `01.0`. */
export function numeralKey(numeral: Numeral): Numeral {
  if (typeof numeral === 'number') return numeral;
  const digits = toDecimalString(numeral);
  const length = digits.startsWith('-') ? digits.length - 1 : digits.length;
  return length <= MAX_EXACT_DIGITS && !digits.includes('.') ? Number(digits) : digits;
}

/** The double nearest to a ÷ b; `undefined` when b is 0. */
export function ratio(a: AnyNumber, b: AnyNumber): number | undefined {
  const { left, right } = atCommonScale(a, b);
  return right === 0n ? undefined : nearestQuotient(left, right);
}

/** The largest integer not above a ÷ b; `undefined` when b is 0. */
export function floorDivide(a: AnyNumber, b: AnyNumber): Decimal | undefined {
  const { left, right } = atCommonScale(a, b);
  if (right === 0n) return undefined;
  const quotient = left / right;
  const roundedUp = left % right !== 0n && left < 0n !== right < 0n;
  return integer(roundedUp ? quotient - 1n : quotient);
}

/**
 * The nearest double, rounded once. Infinite when it is out of range; infinite values are not exported. Never a negative zero, which
 * Prometheus prints as `-0`.
 */
export function toDouble(value: AnyNumber): number {
  if (typeof value !== 'object') return Number(value) + 0;
  return value.scale === 0 ? Number(value.units) : nearestQuotient(value.units, 10n ** BigInt(value.scale));
}

/** Seconds, rounded to milliseconds. */
export function exactSeconds(seconds: number): Decimal {
  return { units: BigInt(Math.round(seconds * 1000)), scale: 3 };
}

/** Milliseconds in seconds, rounded once. */
export function toSeconds(milliseconds: AnyNumber): number {
  const { units, scale } = decimal(milliseconds);
  return toDouble({ units, scale: scale + 3 });
}

const CANONICAL_INTEGER = /^(?:0|[1-9]\d*)$/;

/** All digits in canonical form: no exponent, no leading or trailing zeros. */
export function toDecimalString(value: AnyNumber): DecimalString {
  if (typeof value === 'string' && CANONICAL_INTEGER.test(value)) return value;
  const { units, scale } = decimal(value);
  const digits = magnitude(units)
    .toString()
    .padStart(scale + 1, '0');
  const point = digits.length - scale;
  const fraction = digits.slice(point).replace(/0+$/, '');
  const text = fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`;
  return (units < 0n ? `-${text}` : text) as DecimalString;
}

/** Rounds once: the integer quotient has at least 64 bits, and its lowest bit is set when there is a remainder. */
function nearestQuotient(dividend: bigint, divisor: bigint): number {
  const negative = dividend < 0n !== divisor < 0n;
  const n = magnitude(dividend);
  const d = magnitude(divisor);
  const shift = Math.max(0, bitLength(d) - bitLength(n) + 68);
  const shifted = n << BigInt(shift);
  const quotient = (shifted / d) | (shifted % d === 0n ? 0n : 1n);
  const nearest = Number(quotient) / 2 ** shift;
  return negative && nearest !== 0 ? -nearest : nearest;
}

/** The units of two numbers at the larger scale. */
function atCommonScale(a: AnyNumber, b: AnyNumber): { left: bigint; right: bigint; scale: number } {
  const [left, right] = [decimal(a), decimal(b)];
  const scale = Math.max(left.scale, right.scale);
  return { left: atScale(left, scale), right: atScale(right, scale), scale };
}

function atScale(value: Decimal, scale: number): bigint {
  return scale === value.scale ? value.units : value.units * 10n ** BigInt(scale - value.scale);
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Bit length of a positive value, rounded up to a multiple of four. */
function bitLength(value: bigint): number {
  return value.toString(16).length * 4;
}
