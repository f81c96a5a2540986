/*
 * Exact arithmetic and the reading of one JSON value, as rules 1 to 3 of the contract say them and in the plainest code
 * there is: it is what the exporter is measured by, so nothing here comes from the exporter.
 */

/** A rational number; the denominator is positive. */
export interface Exact {
  readonly n: bigint;
  readonly d: bigint;
}

/** What a family reads is missing or of the wrong kind. */
export class Withdrawn extends Error {}

export function whole(value: bigint | number): Exact {
  return { n: BigInt(value), d: 1n };
}

export const zero = whole(0);

export function compare(a: Exact, b: Exact): number {
  const [left, right] = [a.n * b.d, b.n * a.d];
  return left < right ? -1 : left > right ? 1 : 0;
}

export const same = (a: Exact, b: Exact): boolean => compare(a, b) === 0;
export const above = (a: Exact, b: Exact): boolean => compare(a, b) > 0;
export const plus = (a: Exact, b: Exact): Exact => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d });
export const minus = (a: Exact, b: Exact): Exact => plus(a, { n: -b.n, d: b.d });
export const times = (a: Exact, b: Exact): Exact => ({ n: a.n * b.n, d: a.d * b.d });
export const sum = (values: readonly Exact[]): Exact => values.reduce(plus, zero);

/** A ratio with denominator 0 is absent. */
export function over(a: Exact, b: Exact): Exact | undefined {
  if (b.n === 0n) return undefined;
  const sign = b.n < 0n ? -1n : 1n;
  return { n: sign * a.n * b.d, d: sign * b.n * a.d };
}

export function roundDown({ n, d }: Exact): Exact {
  const quotient = n / d;
  return whole(n % d < 0n ? quotient - 1n : quotient);
}

export const distance = (a: Exact, b: Exact): Exact => (above(a, b) ? minus(a, b) : minus(b, a));

export function lowest(values: readonly Exact[]): Exact | undefined {
  return values.toSorted(compare)[0];
}

export function highest(values: readonly Exact[]): Exact | undefined {
  return values.toSorted(compare).at(-1);
}

/** The nearest double: 80 significant digits and a last one for what they leave over, read by the language. */
export function toDouble({ n, d }: Exact): number {
  const digits = BigInt(80 + d.toString().length);
  const scaled = n * 10n ** digits;
  const sticky = scaled % d === 0n ? '0' : '1';
  const sign = n < 0n ? '-' : '';
  const quotient = scaled / d;
  return Number(`${sign}${quotient < 0n ? -quotient : quotient}${sticky}e-${digits + 1n}`);
}

/** A decimal string, or a number of JSON, exactly. */
export function decimal(digits: string): Exact {
  const match = /^(?<sign>[+-]?)(?<units>\d+)(?:\.(?<fraction>\d+))?$/.exec(digits);
  if (match?.groups === undefined || digits.length > 100) throw new Withdrawn(`${digits} is not a number`);
  const { sign = '', units = '', fraction = '' } = match.groups;
  const n = BigInt(units + fraction);
  return { n: sign === '-' ? -n : n, d: 10n ** BigInt(fraction.length) };
}

type Json = unknown;

export function isMissing(json: Json): json is null | undefined {
  return json === undefined || json === null;
}

export function isObject(json: Json): json is Readonly<Record<string, Json>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** A field of an object; of a missing object every field is missing. */
export function field(json: Json, ...path: readonly string[]): Json {
  let value = json;
  for (const name of path) {
    if (isMissing(value)) return undefined;
    if (!isObject(value)) throw new Withdrawn(`${name} is looked for in no object`);
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

export function optionalNumber(json: Json): Exact | undefined {
  if (isMissing(json) || json === '') return undefined;
  if (typeof json === 'string') return decimal(json);
  if (typeof json === 'number') return decimal(json.toString());
  throw new Withdrawn('not a number');
}

export function number(json: Json): Exact {
  const value = optionalNumber(json);
  if (value === undefined) throw new Withdrawn('no number');
  return value;
}

export function optionalText(json: Json): string | undefined {
  if (isMissing(json)) return undefined;
  if (typeof json !== 'string') throw new Withdrawn('not a text');
  return json;
}

export function text(json: Json): string {
  const value = optionalText(json);
  if (value === undefined) throw new Withdrawn('no text');
  return value;
}

export function flag(json: Json): boolean {
  if (typeof json !== 'boolean') throw new Withdrawn('no flag');
  return json;
}

export function list(json: Json): readonly Json[] {
  if (!Array.isArray(json)) throw new Withdrawn('no list');
  return json;
}

export function chainId(json: Json): string {
  return typeof json === 'number' && Number.isInteger(json) ? json.toString() : (optionalText(json) ?? '');
}

/** An external address. */
export const address = (json: Json): string => text(json).toLowerCase();

/** The data part of a bech32 address: after the last `1`, without the six characters of the checksum. */
export function key(json: Json): string {
  const lower = text(json).toLowerCase();
  const separator = lower.lastIndexOf('1');
  return separator < 0 ? lower : lower.slice(separator + 1, -6);
}

/** `undefined` where the value cannot be read. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Withdrawn) return undefined;
    throw thrown;
  }
}

/** Collects series under the keys the harness uses. */
export class Collected {
  readonly values: Record<string, number> = {};

  single(name: string, value: () => Exact | undefined): void {
    this.labelled(name, () => {
      const exact = value();
      return exact === undefined ? [] : [[{}, exact]];
    });
  }

  labelled(name: string, derive: () => readonly (readonly [Readonly<Record<string, string>>, Exact])[]): void {
    for (const [labels, exact] of readable(derive) ?? []) {
      const written = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
      const series = written.length === 0 ? name : `${name}{${written.join(',')}}`;
      if (Object.hasOwn(this.values, series)) throw new Error(`the reference gives ${series} twice`);
      const double = toDouble(exact);
      if (Number.isFinite(double)) this.values[series] = double;
    }
  }
}
