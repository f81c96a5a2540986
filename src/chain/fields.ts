import { dataPart } from './addresses.js';
import { toNumeral, type Numeral } from './numeral.js';

/**
 * A field of a document: its value; `undefined` when it is missing (no key, `null`, or an empty string where a number
 * belongs); `INVALID` when it has a value of another type.
 */
export type Field<T> = T | undefined | typeof INVALID;

export const INVALID: unique symbol = Symbol('invalid value');

/** Whether a field has a value of its type. */
export function isValid<T>(field: Field<T>): field is T {
  return field !== undefined && field !== INVALID;
}

export function validOrUndefined<T>(field: Field<T>): T | undefined {
  return isValid(field) ? field : undefined;
}

/*
 * The schemas of fields. A missing field, also `null`, is `undefined`. A value of another type is INVALID, and the
 * document is valid all the same. There is no issue for it: a document can have a wrong value in each of 60,000 rows.
 * With zod, reading a document for the first time takes twice as long, and a poll allocates a quarter more memory.
 */

export interface FieldSchema<T = unknown> {
  readonly parse: (json: unknown) => Field<T>;
  readonly isEnumeration?: boolean;
  /** The fields of an object. */
  readonly fields?: Shape;
  /** The schema of the rows of a list. */
  readonly row?: FieldSchema;
}

/** The type of a field with a valid value. */
export type SchemaValue<Schema> = Schema extends FieldSchema<infer T> ? T : never;

type Shape = Readonly<Record<string, FieldSchema>>;

/** Other names of fields or values, by alias. */
export type Aliases = Readonly<Record<string, string>>;

/** A field that `read` converts from JSON other than `null`. */
function schema<T>(read: (json: unknown) => Field<T>): FieldSchema<T> {
  return { parse: (json) => (json === undefined || json === null ? undefined : read(json)) };
}

/** Optional sign, digits, optional fraction, no exponent. */
const DECIMAL = /^([+-]?\d+)(?:\.(\d+))?$/;
const ZEROS = /^0+$/;
const MAX_CHARACTERS = 100;
/** The usual form, which is exact as a double. Parsing it as a double takes a third of the time. */
const SHORT_INTEGER = /^\d{1,15}$/;

/**
 * Reads a decimal string or a JSON number. An empty string is a missing number. Above 2^53, JSON.parse has rounded an
 * integer without quotes.
 */
export function parseNumeral(json: unknown): Field<Numeral> {
  // JSON.parse reads 1e400 as infinity.
  if (typeof json === 'number') return Number.isFinite(json) ? toNumeral(json) : INVALID;
  if (json === null || json === undefined || json === '') return undefined;
  if (typeof json !== 'string' || json.length > MAX_CHARACTERS) return INVALID;
  if (SHORT_INTEGER.test(json)) return BigInt(Number(json));
  const [, whole, fraction = '0'] = DECIMAL.exec(json) ?? [];
  if (whole === undefined) return INVALID;
  return ZEROS.test(fraction) ? BigInt(whole) : toNumeral(Number(json));
}

/** The numeral of a setting, which has been validated. */
export function asNumeral(setting: string): Numeral {
  const numeral = parseNumeral(setting);
  if (!isValid(numeral)) throw new Error(`not a number: ${setting}`);
  return numeral;
}

/** A number: a decimal string or a JSON number. */
export const numeral = schema(parseNumeral);

export const string = schema((json) => (typeof json === 'string' ? json : INVALID));

export const boolean = schema((json) => (typeof json === 'boolean' ? json : INVALID));

/** An address in lower case. Mixed case is only a checksum (EIP-55). */
export const address = schema(interned((text) => text.toLowerCase()));

export const addressDataPart = schema(interned(dataPart));

/** Chains have some hundreds of validators and tokens, and their addresses are short. */
const MAX_INTERNED = 10_000;
const MAX_INTERNED_LENGTH = 128;

/** Converts each distinct string once, if it is short. */
function interned(convert: (text: string) => string): (json: unknown) => Field<string> {
  const cache = new Map<string, string>();
  return (json) => {
    if (typeof json !== 'string') return INVALID;
    const cached = cache.get(json);
    if (cached !== undefined) return cached;
    const converted = convert(json);
    if (cache.size >= MAX_INTERNED) cache.clear();
    if (json.length <= MAX_INTERNED_LENGTH) cache.set(json, converted);
    return converted;
  };
}

/** A chain id: a string, or a JSON integer as its digits. Above 2^53, JSON.parse has rounded the digits. */
export const chainId = schema((json) => {
  if (typeof json === 'string') return json;
  return typeof json === 'number' && Number.isSafeInteger(json) ? String(json) : INVALID;
});

/** Replaces enum values that the schema does not have. */
export const UNKNOWN_VALUE = 'other';

/**
 * A protobuf enum. A gRPC gateway sends the number of a value that its version does not have; `aliases` are other names
 * of values.
 */
export function enumeration(namesByNumber: ReadonlyMap<number, string>, aliases: Aliases = {}): FieldSchema<string> {
  const names = new Map([
    ...Array.from(namesByNumber.values(), (name) => [name, name] as const),
    ...Object.entries(aliases),
  ]);
  const parsed = schema((json) => {
    if (typeof json === 'string') return names.get(json) ?? UNKNOWN_VALUE;
    return typeof json === 'number' ? (namesByNumber.get(json) ?? UNKNOWN_VALUE) : INVALID;
  });
  return { ...parsed, isEnumeration: true };
}

export function list<T>(row: FieldSchema<T>): FieldSchema<readonly Field<T>[]> {
  return { ...schema((json) => (Array.isArray(json) ? readList(row, json) : INVALID)), row };
}

function readList<T>({ parse }: FieldSchema<T>, json: readonly unknown[]): readonly Field<T>[] {
  return json.map((row) => parse(row));
}

type ShapeValue<Fields extends Shape> = { readonly [Name in keyof Fields]: Field<SchemaValue<Fields[Name]>> };

/** With other names of the fields. If an object has a field by both names, the name of the spec counts. */
export function object<const Fields extends Shape>(
  fields: Fields,
  aliases: Aliases = {},
): FieldSchema<ShapeValue<Fields>> {
  const named = Object.entries(fields).map(([name, { parse }]): NamedField => {
    return { name, aliases: Object.keys(aliases).filter((alias) => aliases[alias] === name), parse };
  });
  // A missing property is `undefined`, too.
  const parsed = schema((json) => readObject(named, json) as Field<ShapeValue<Fields>>);
  return { ...parsed, fields };
}

interface NamedField extends Pick<FieldSchema, 'parse'> {
  readonly name: string;
  readonly aliases: readonly string[];
}

function readObject(fields: readonly NamedField[], json: unknown): Field<Record<string, unknown>> {
  if (typeof json !== 'object' || Array.isArray(json)) return INVALID;
  // JSON has no `undefined`, and no prototype has a field of the spec.
  const values = json as Readonly<Record<string, unknown>>;
  const result: Record<string, unknown> = {};
  for (const { name, aliases, parse } of fields) {
    let value = values[name];
    if (value === undefined) for (const alias of aliases) value ??= values[alias];
    if (value !== undefined) result[name] = parse(value);
  }
  return result;
}

/** Creates objects with the same aliases. */
export function objectWith(aliases: Aliases) {
  return <const Fields extends Shape>(fields: Fields) => object(fields, aliases);
}

/**
 * Whether an object has a field of its schema, at least as `null`. An object without any is another document, such as
 * an error.
 */
export function hasKnownField(objectSchema: FieldSchema, value: object): boolean {
  return Object.keys(objectSchema.fields ?? {}).some((name) => Object.hasOwn(value, name));
}
