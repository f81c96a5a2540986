/**
 * A number of a document, or the result of a calculation. An integer is a bigint, because amounts reach 2^256; a number
 * with a fraction is the nearest double. So `===` and the keys of a Map compare values, and `<` and `>` are exact.
 */
export type Numeral = bigint | number;

/** For JSON.stringify, which throws on bigints. */
export function withoutBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** The numeral of a count, a duration or the result of a calculation with doubles. */
export function toNumeral(value: Numeral): Numeral {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
}

export function add(a: Numeral, b: Numeral): Numeral {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a + b;
  const [left, right] = [toNumeral(a), toNumeral(b)];
  if (typeof left === 'bigint' && typeof right === 'bigint') return left + right;
  return toNumeral(Number(left) + Number(right));
}

export function subtract(a: Numeral, b: Numeral): Numeral {
  return add(a, -b);
}

export function multiply(a: Numeral, b: Numeral): Numeral {
  const [left, right] = [toNumeral(a), toNumeral(b)];
  if (typeof left === 'bigint' && typeof right === 'bigint') return left * right;
  return toNumeral(Number(left) * Number(right));
}

export function sum(values: Iterable<Numeral>): Numeral {
  let total: Numeral = 0n;
  for (const value of values) total = add(total, value);
  return total;
}

/** Sorts numerals, or texts by code unit, in ascending order. */
export function compare<Value extends Numeral | string>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The lowest value that is not `undefined`. */
export function lowest<Value extends Numeral>(values: Iterable<Value | undefined>): Value | undefined {
  let result: Value | undefined;
  for (const value of values) if (value !== undefined && (result === undefined || value < result)) result = value;
  return result;
}

/** The highest value that is not `undefined`. */
export function highest<Value extends Numeral>(values: Iterable<Value | undefined>): Value | undefined {
  let result: Value | undefined;
  for (const value of values) if (value !== undefined && (result === undefined || value > result)) result = value;
  return result;
}

/** The largest integer not above a ÷ b; `undefined` when b is 0. */
export function floorDivide(a: Numeral, b: Numeral): Numeral | undefined {
  const [left, right] = [toNumeral(a), toNumeral(b)];
  if (right === 0n) return undefined;
  if (typeof left !== 'bigint' || typeof right !== 'bigint') return toNumeral(Math.floor(Number(left) / Number(right)));
  const quotient = left / right;
  return left % right !== 0n && left < 0n !== right < 0n ? quotient - 1n : quotient;
}

/** The double nearest to a ÷ b; `undefined` when b is 0. */
export function ratio(a: Numeral, b: Numeral): number | undefined {
  const [left, right] = [toNumeral(a), toNumeral(b)];
  if (right === 0n) return undefined;
  if (typeof left !== 'bigint' || typeof right !== 'bigint') return Number(left) / Number(right);
  if (left < 0n !== right < 0n) return 0 - nearestQuotient(magnitude(left), magnitude(right));
  return nearestQuotient(magnitude(left), magnitude(right));
}

/** Rounds once: the integer quotient has at least 64 bits, and its lowest bit is set when there is a remainder. */
function nearestQuotient(dividend: bigint, divisor: bigint): number {
  const shift = Math.max(0, bitLength(divisor) - bitLength(dividend) + 68);
  const shifted = dividend << BigInt(shift);
  return Number((shifted / divisor) | (shifted % divisor === 0n ? 0n : 1n)) / 2 ** shift;
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Bit length of a positive value, rounded up to a multiple of four. */
function bitLength(value: bigint): number {
  return value.toString(16).length * 4;
}
