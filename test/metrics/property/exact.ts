/*
 * Rational arithmetic and reading of JSON values for the reference implementation. It shares no code with the exporter.
 */

/** A rational number; the denominator is positive. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Thrown when a field that a family reads is missing or invalid. */
export class Withdrawn extends Error {}

export function integer(value: bigint | number): Rational {
  return { numerator: BigInt(value), denominator: 1n };
}

export const zero = integer(0);

export function compare(a: Rational, b: Rational): number {
  const [left, right] = [a.numerator * b.denominator, b.numerator * a.denominator];
  return left < right ? -1 : left > right ? 1 : 0;
}

export const equal = (a: Rational, b: Rational): boolean => compare(a, b) === 0;
export const isGreater = (a: Rational, b: Rational): boolean => compare(a, b) > 0;
export const add = (a: Rational, b: Rational): Rational => ({
  numerator: a.numerator * b.denominator + b.numerator * a.denominator,
  denominator: a.denominator * b.denominator,
});
export const subtract = (a: Rational, b: Rational): Rational => add(a, { ...b, numerator: -b.numerator });
export const multiply = (a: Rational, b: Rational): Rational => ({
  numerator: a.numerator * b.numerator,
  denominator: a.denominator * b.denominator,
});
export const sum = (values: readonly Rational[]): Rational => values.reduce(add, zero);

/** The quotient, or `undefined` for a divisor of 0. */
export function divide(a: Rational, b: Rational): Rational | undefined {
  if (b.numerator === 0n) return undefined;
  const sign = b.numerator < 0n ? -1n : 1n;
  return { numerator: sign * a.numerator * b.denominator, denominator: sign * b.numerator * a.denominator };
}

export function floor({ numerator, denominator }: Rational): Rational {
  const quotient = numerator / denominator;
  return integer(numerator % denominator < 0n ? quotient - 1n : quotient);
}

export const distance = (a: Rational, b: Rational): Rational => (isGreater(a, b) ? subtract(a, b) : subtract(b, a));

export function lowest(values: readonly Rational[]): Rational | undefined {
  return values.toSorted(compare)[0];
}

export function highest(values: readonly Rational[]): Rational | undefined {
  return values.toSorted(compare).at(-1);
}

/** The nearest double: `Number` parses at least 80 significant digits and a sticky digit for the remainder. */
export function toDouble({ numerator, denominator }: Rational): number {
  const digits = BigInt(80 + denominator.toString().length);
  const scaled = numerator * 10n ** digits;
  const sticky = scaled % denominator === 0n ? '0' : '1';
  const sign = numerator < 0n ? '-' : '';
  const quotient = scaled / denominator;
  return Number(`${sign}${quotient < 0n ? -quotient : quotient}${sticky}e-${digits + 1n}`);
}

/** The exact value of a decimal string. */
export function decimal(digits: string): Rational {
  const match = /^(?<sign>[+-]?)(?<units>\d+)(?:\.(?<fraction>\d+))?$/.exec(digits);
  if (match?.groups === undefined || digits.length > 100) throw new Withdrawn(`${digits} is not a number`);
  const { sign = '', units = '', fraction = '' } = match.groups;
  const numerator = BigInt(units + fraction);
  return { numerator: sign === '-' ? -numerator : numerator, denominator: 10n ** BigInt(fraction.length) };
}

export function isMissing(json: unknown): json is null | undefined {
  return json === undefined || json === null;
}

export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** The field at a path. All fields of a missing object are missing. */
export function field(json: unknown, ...path: readonly string[]): unknown {
  let value = json;
  for (const name of path) {
    if (isMissing(value)) return undefined;
    if (!isObject(value)) throw new Withdrawn(`the parent of ${name} is not an object`);
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

export function optionalNumber(json: unknown): Rational | undefined {
  if (isMissing(json) || json === '') return undefined;
  if (typeof json === 'string') return decimal(json);
  if (typeof json === 'number') return decimal(json.toString());
  throw new Withdrawn('not a number');
}

export function number(json: unknown): Rational {
  const value = optionalNumber(json);
  if (value === undefined) throw new Withdrawn('missing number');
  return value;
}

export function optionalString(json: unknown): string | undefined {
  if (isMissing(json)) return undefined;
  if (typeof json !== 'string') throw new Withdrawn('not a string');
  return json;
}

export function string(json: unknown): string {
  const value = optionalString(json);
  if (value === undefined) throw new Withdrawn('missing string');
  return value;
}

export function boolean(json: unknown): boolean {
  if (typeof json !== 'boolean') throw new Withdrawn('not a boolean');
  return json;
}

export function list(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw new Withdrawn('not a list');
  return json;
}

export function chainId(json: unknown): string {
  return typeof json === 'number' && Number.isInteger(json) ? json.toString() : (optionalString(json) ?? '');
}

/** An external address. */
export const address = (json: unknown): string => string(json).toLowerCase();

/** The data part of a bech32 address: everything after the last `1` except the six characters of the checksum. */
export function dataPart(json: unknown): string {
  const lower = string(json).toLowerCase();
  const separator = lower.lastIndexOf('1');
  return separator < 0 ? lower : lower.slice(separator + 1, -6);
}

/** The result of `read`, or `undefined` if a field is missing or invalid. */
export function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Withdrawn) return undefined;
    throw thrown;
  }
}

/** Collects series in the format of `SeriesValues`. */
export class SeriesCollector {
  readonly values: Record<string, number> = {};

  gauge(name: string, value: () => Rational | undefined): void {
    this.labeledGauge(name, () => {
      const result = value();
      return result === undefined ? [] : [[{}, result]];
    });
  }

  labeledGauge(name: string, derive: () => readonly (readonly [Readonly<Record<string, string>>, Rational])[]): void {
    for (const [labels, value] of orUndefined(derive) ?? []) {
      const pairs = Object.entries(labels).map(([label, labelValue]) => `${label}=${JSON.stringify(labelValue)}`);
      const series = pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
      if (Object.hasOwn(this.values, series)) throw new Error(`duplicate series ${series}`);
      const double = toDouble(value);
      if (Number.isFinite(double)) this.values[series] = double;
    }
  }
}
