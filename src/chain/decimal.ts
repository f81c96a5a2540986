import { MAX_EXACT_DIGITS, type DecimalString, type Numeral } from '../json/numeral.js';

/** An exact decimal: `units` × 10^−`scale`. Amounts reach 2^256, so nothing is added or compared as a double. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

export const ZERO: Decimal = { units: 0n, scale: 0 };

export function decimal(numeral: Numeral): Decimal {
  if (typeof numeral === 'number') return integer(numeral);
  const point = numeral.indexOf('.');
  if (point < 0) return { units: BigInt(numeral), scale: 0 };
  return {
    units: BigInt(numeral.slice(0, point) + numeral.slice(point + 1)),
    scale: numeral.length - point - 1,
  };
}

export function integer(value: number | bigint): Decimal {
  return { units: BigInt(value), scale: 0 };
}

/** The nearest double; never a negative zero, which Prometheus prints as `-0`. */
export function numeralToDouble(numeral: Numeral): number {
  return Number(numeral) + 0;
}

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: atScale(a, scale) + atScale(b, scale), scale };
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return add(a, { units: -b.units, scale: b.scale });
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, scale: a.scale + b.scale };
}

export function sum(values: Iterable<Decimal>): Decimal {
  let { units, scale } = ZERO;
  for (const value of values) {
    if (value.scale === scale) units += value.units;
    else ({ units, scale } = add({ units, scale }, value));
  }
  return { units, scale };
}

/** Compares exactly: negative when `a` is lower than `b`, positive when it is higher, else 0. */
export function compare(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const difference = atScale(a, scale) - atScale(b, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** An integer of up to 30 digits is `high` × 10^15 + `low`. */
const LOW_RANGE = 10 ** MAX_EXACT_DIGITS;
const UNSIGNED_INTEGER = /^\d{1,30}$/;

/**
 * Adds up many numbers exactly. Integers of up to 30 digits, as most token amounts, are added as two limbs in base 10^15. With a
 * BigInt per number, polling a module state of 10 MB takes 10 % longer.
 */
export class Sum {
  #high = 0;
  #low = 0;
  #rest = ZERO;

  get total(): Decimal {
    return add(this.#rest, { units: BigInt(this.#high) * BigInt(LOW_RANGE) + BigInt(this.#low), scale: 0 });
  }

  add(value: Numeral): void {
    if (typeof value === 'number') {
      this.#addParts(0, value);
    } else if (UNSIGNED_INTEGER.test(value)) {
      this.#addParts(Number(value.slice(0, -MAX_EXACT_DIGITS)), Number(value.slice(-MAX_EXACT_DIGITS)));
    } else {
      this.#rest = add(this.#rest, decimal(value));
    }
  }

  #addParts(high: number, low: number): void {
    this.#low += low;
    this.#high += high;
    if (this.#low >= LOW_RANGE) {
      this.#low -= LOW_RANGE;
      this.#high += 1;
    }
    // Both parts stay below 2^53, where doubles are exact.
    if (this.#high < 4 * LOW_RANGE) return;
    this.#rest = this.total;
    this.#high = 0;
    this.#low = 0;
  }
}

export function lowest(values: readonly Decimal[]): Decimal | undefined {
  return values.reduce<Decimal | undefined>((low, value) => (low && compare(low, value) <= 0 ? low : value), undefined);
}

export function highest(values: readonly Decimal[]): Decimal | undefined {
  return values.reduce<Decimal | undefined>(
    (high, value) => (high && compare(high, value) >= 0 ? high : value),
    undefined,
  );
}

/** `compare` for numbers of a document, without conversion where doubles are exact. */
export function compareNumerals(a: Numeral, b: Numeral): number {
  return isShort(a) && isShort(b) ? Number(a) - Number(b) : compare(decimal(a), decimal(b));
}

function isShort(numeral: Numeral): boolean {
  return typeof numeral === 'number' || numeral.length <= MAX_EXACT_DIGITS;
}

export function isPositive(numeral: Numeral): boolean {
  return compareNumerals(numeral, 0) > 0;
}

/** The lowest of the numbers that rows have; rows without one are ignored. */
export function lowestNumeral<T>(rows: readonly T[], numeralOf: (row: T) => Numeral | undefined): Numeral | undefined {
  return extreme(rows, numeralOf, -1);
}

/** The highest of the numbers that rows have; rows without one are ignored. */
export function highestNumeral<T>(rows: readonly T[], numeralOf: (row: T) => Numeral | undefined): Numeral | undefined {
  return extreme(rows, numeralOf, 1);
}

function extreme<T>(
  rows: readonly T[],
  numeralOf: (row: T) => Numeral | undefined,
  direction: -1 | 1,
): Numeral | undefined {
  let result: Numeral | undefined;
  for (const row of rows) {
    const numeral = numeralOf(row);
    if (numeral === undefined) continue;
    if (result === undefined || compareNumerals(numeral, result) * direction > 0) result = numeral;
  }
  return result;
}

/** A Map key that is the same for equal numbers, however they are written. */
export function numeralKey(numeral: Numeral): Numeral {
  if (typeof numeral === 'number') return numeral;
  const digits = canonicalDecimal(numeral);
  return digits.length <= MAX_EXACT_DIGITS && !digits.includes('.') ? Number(digits) : digits;
}

/** All digits of a number in canonical form. */
export function canonicalDecimal(numeral: Numeral): DecimalString {
  if (typeof numeral === 'number') return String(numeral) as DecimalString;
  return CANONICAL_INTEGER.test(numeral) ? numeral : toDecimalString(decimal(numeral));
}

const CANONICAL_INTEGER = /^(?:0|[1-9]\d*)$/;

/** The double nearest to a ÷ b; `undefined` when b is 0. */
export function ratio(a: Decimal, b: Decimal): number | undefined {
  const scale = Math.max(a.scale, b.scale);
  const divisor = atScale(b, scale);
  return divisor === 0n ? undefined : nearestQuotient(atScale(a, scale), divisor);
}

/** The largest integer not above a ÷ b; `undefined` when b is 0. */
export function floorDivide(a: Decimal, b: Decimal): Decimal | undefined {
  const scale = Math.max(a.scale, b.scale);
  const dividend = atScale(a, scale);
  const divisor = atScale(b, scale);
  if (divisor === 0n) return undefined;
  const quotient = dividend / divisor;
  const roundedUp = dividend % divisor !== 0n && dividend < 0n !== divisor < 0n;
  return integer(roundedUp ? quotient - 1n : quotient);
}

/** The nearest double, rounded once; infinite when it is out of range. Infinite values are not exported. */
export function decimalToDouble(value: Decimal): number {
  return value.scale === 0 ? Number(value.units) : nearestQuotient(value.units, 10n ** BigInt(value.scale));
}

/** Milliseconds in seconds, rounded once. */
export function toSeconds({ units, scale }: Decimal): number {
  return decimalToDouble({ units, scale: scale + 3 });
}

/** All digits in canonical form: no exponent, no leading or trailing zeros. */
export function toDecimalString({ units, scale }: Decimal): DecimalString {
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
