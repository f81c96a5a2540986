/** A number as text: optional sign, digits, optional fraction. `scalars.ts` and `decimalText` make them. */
export type Digits = string & { readonly __brand: 'digits' };

/** A number of a document: itself when it is written as a whole one of at most 15 digits, which nearly all are, else its text. */
export type Numeral = number | Digits;

/** Texts up to this length differ as doubles wherever they differ as numbers. */
export const EXACT_LENGTH = 15;

/** An exact decimal: `units` × 10^−`scale`. Amounts reach 2^256, so nothing is added or compared as a double. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

export const ZERO: Decimal = { units: 0n, scale: 0 };

export function decimal(digits: Numeral): Decimal {
  if (typeof digits === 'number') return integer(digits);
  const point = digits.indexOf('.');
  if (point < 0) return { units: BigInt(digits), scale: 0 };
  return {
    units: BigInt(digits.slice(0, point) + digits.slice(point + 1)),
    scale: digits.length - point - 1,
  };
}

export function integer(value: number | bigint): Decimal {
  return { units: BigInt(value), scale: 0 };
}

/** The nearest double of the text; never a negative zero, which Prometheus would print as `-0`. */
export function double(digits: Numeral): number {
  return Number(digits) + 0;
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

/** Negative, zero or positive as `a` is below, equal to or above `b`. */
export function compare(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const difference = atScale(a, scale) - atScale(b, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

const SPLIT = 10 ** EXACT_LENGTH;

/** Adds up many numbers: those of up to 30 digits in two halves, as arithmetic on big integers takes longer. */
export class Sum {
  #high = 0;
  #low = 0;
  #other = ZERO;

  get total(): Decimal {
    const halves = BigInt(this.#high) * BigInt(SPLIT) + BigInt(this.#low);
    return add(this.#other, { units: halves, scale: 0 });
  }

  /** Adds what cannot be told in halves. */
  add(numeral: Numeral): void {
    this.#other = add(this.#other, decimal(numeral));
  }

  /** Adds `high` × 10^15 + `low`, both whole and below 10^15. */
  addHalves(high: number, low: number): void {
    this.#low += low;
    this.#high += high;
    if (this.#low >= SPLIT) {
      this.#low -= SPLIT;
      this.#high += 1;
    }
    // Before the next could take it beyond what a double counts exactly.
    if (this.#high < 4 * SPLIT) return;
    this.#other = this.total;
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

/** Negative, zero or positive as `a` is below, equal to or above `b`. */
export function compareNumerals(a: Numeral, b: Numeral): number {
  return isShort(a) && isShort(b) ? Number(a) - Number(b) : compare(decimal(a), decimal(b));
}

function isShort(numeral: Numeral): boolean {
  return typeof numeral === 'number' || numeral.length <= EXACT_LENGTH;
}

export function isPositive(numeral: Numeral): boolean {
  return compareNumerals(numeral, 0) > 0;
}

/** The lowest number that a row tells; rows that tell none are passed over. */
export function lowestNumeral<T>(rows: readonly T[], tell: (row: T) => Numeral | undefined): Numeral | undefined {
  return outermost(rows, tell, -1);
}

/** The highest number that a row tells; rows that tell none are passed over. */
export function highestNumeral<T>(rows: readonly T[], tell: (row: T) => Numeral | undefined): Numeral | undefined {
  return outermost(rows, tell, 1);
}

function outermost<T>(
  rows: readonly T[],
  tell: (row: T) => Numeral | undefined,
  direction: -1 | 1,
): Numeral | undefined {
  let found: Numeral | undefined;
  for (const row of rows) {
    const told = tell(row);
    if (told !== undefined && (found === undefined || compareNumerals(told, found) * direction > 0)) found = told;
  }
  return found;
}

/** What equal numbers share, however they are written. */
export function numeralKey(numeral: Numeral): Numeral {
  if (typeof numeral === 'number') return numeral;
  const text = exactText(numeral);
  return text.length <= EXACT_LENGTH && !text.includes('.') ? Number(text) : text;
}

/** All its digits, always written the same way. */
export function exactText(numeral: Numeral): Digits {
  if (typeof numeral === 'number') return String(numeral) as Digits;
  return WRITTEN_PLAINLY.test(numeral) ? numeral : decimalText(decimal(numeral));
}

const WRITTEN_PLAINLY = /^(?:0|[1-9]\d*)$/;

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

/** The nearest double; infinite when there is none, which the renderer leaves out. */
export function toDouble(value: Decimal): number {
  return value.scale === 0 ? Number(value.units) : nearestQuotient(value.units, 10n ** BigInt(value.scale));
}

/** All its digits: no exponent, no zeros around it that say nothing. */
export function decimalText({ units, scale }: Decimal): Digits {
  const digits = magnitude(units)
    .toString()
    .padStart(scale + 1, '0');
  const point = digits.length - scale;
  const fraction = digits.slice(point).replace(/0+$/, '');
  const text = fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`;
  return (units < 0n ? `-${text}` : text) as Digits;
}

/** Rounds once: the quotient keeps at least 64 bits, the last of which says whether anything was cut off. */
function nearestQuotient(dividend: bigint, divisor: bigint): number {
  const negative = dividend < 0n !== divisor < 0n;
  const n = magnitude(dividend);
  const d = magnitude(divisor);
  const shift = Math.max(0, bits(d) - bits(n) + 68);
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

/** Bits of a positive value, at most three too many. */
function bits(value: bigint): number {
  return value.toString(16).length * 4;
}
