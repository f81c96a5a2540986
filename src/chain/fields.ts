import type { z } from 'zod';
import { transform, type ZodMiniType } from 'zod/mini';
import { dataPart } from './addresses.js';
import { INVALID, type Field } from './field.js';
import { parseNumeral } from './numeral.js';

/*
 * The zod schemas of fields. A missing field, also `null`, is `undefined`. A value of another type is INVALID, and the document is valid all the
 * same. Neither makes an issue of zod: a document can have a wrong value in each of 60,000 rows.
 *
 * zod reads the document as a whole, and the reader of each field what is in it: zod itself takes four times as long for a row.
 */

export type FieldSchema<T = unknown> = ZodMiniType<Field<T>>;

/** The type of a field with a valid value. */
export type ValueOf<Schema extends FieldSchema> = Exclude<z.output<Schema>, undefined | typeof INVALID>;

type Json = string | number | boolean | object;

type Read<T = unknown> = (json: Json) => Field<T>;

interface Structure {
  readonly read: Read;
  readonly isEnumeration?: boolean;
  /** The fields of an object. */
  readonly fields?: Shape;
  /** Other names of the fields. If an object has a field by both names, the name of the spec counts. */
  readonly aliases?: Aliases;
  /** Fields of the object that nothing reads. */
  readonly ignored?: readonly string[];
  /** The schema of the rows of a list. */
  readonly row?: FieldSchema;
}

type Shape = Readonly<Record<string, FieldSchema>>;

/** Other names of fields or values, by alias. */
export type Aliases = Readonly<Record<string, string>>;

const structures = new WeakMap<FieldSchema, Structure>();

export function structureOf(schema: FieldSchema): Structure {
  const structure = structures.get(schema);
  if (structure === undefined) throw new Error('a schema of zod alone is no field');
  return structure;
}

/** A field that `read` converts from JSON other than `null`. */
function field<T>(read: Read<T>, structure: Omit<Structure, 'read'> = {}): FieldSchema<T> {
  const schema = transform((json: Json | null | undefined) => readField(read, json));
  structures.set(schema, { ...structure, read });
  return schema;
}

function readField<T>(read: Read<T>, json: Json | null | undefined): Field<T> {
  return json === undefined || json === null ? undefined : read(json);
}

/** A number: a decimal string or a JSON number. */
export const numeral = field((json) => parseNumeral(json));

export const string = field((json) => (typeof json === 'string' ? json : INVALID));

export const boolean = field((json) => (typeof json === 'boolean' ? json : INVALID));

/** An address in lower case. Mixed case is only a checksum (EIP-55). */
export const address = field(interned((text) => text.toLowerCase()));

export const addressDataPart = field(interned(dataPart));

/** Chains have some hundreds of validators and tokens, and their addresses are short. */
const MAX_INTERNED = 10_000;
const MAX_INTERNED_LENGTH = 128;

/** Converts each distinct string once, if it is short. */
function interned(convert: (text: string) => string): Read<string> {
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
export const chainId = field((json) => {
  if (typeof json === 'string') return json;
  return typeof json === 'number' && Number.isSafeInteger(json) ? String(json) : INVALID;
});

/** Replaces enum values that the schema does not have. */
export const UNKNOWN_VALUE = 'other';

/** A protobuf enum. A gRPC gateway sends the number of a value that its version does not have; `aliases` are other names of values. */
export function enumeration(namesByNumber: ReadonlyMap<number, string>, aliases: Aliases = {}): FieldSchema<string> {
  const names = new Map([
    ...Array.from(namesByNumber.values(), (name) => [name, name] as const),
    ...Object.entries(aliases),
  ]);
  const read = (json: Json) => {
    if (typeof json === 'string') return names.get(json) ?? UNKNOWN_VALUE;
    return typeof json === 'number' ? (namesByNumber.get(json) ?? UNKNOWN_VALUE) : INVALID;
  };
  return field(read, { isEnumeration: true });
}

export function list<T>(row: FieldSchema<T>): FieldSchema<readonly Field<T>[]> {
  // The reader of a schema has the type of its values.
  const read = structureOf(row).read as Read<T>;
  return field((json) => (Array.isArray(json) ? readList(read, json) : INVALID), { row });
}

function readList<T>(read: Read<T>, json: readonly (Json | null)[]): readonly Field<T>[] {
  const rows: Field<T>[] = [];
  for (const row of json) rows.push(readField(read, row));
  return rows;
}

type ObjectOf<Fields extends Shape> = { readonly [Name in keyof Fields]: z.output<Fields[Name]> };

export function object<const Fields extends Shape>(
  fields: Fields,
  { aliases = {}, ignored = [] }: Pick<Structure, 'aliases' | 'ignored'> = {},
): FieldSchema<ObjectOf<Fields>> {
  const names = Object.entries(fields).map(([name, schema]): NamedField => {
    const aliasesOfName = Object.keys(aliases).filter((alias) => aliases[alias] === name);
    return { name, aliases: aliasesOfName, read: structureOf(schema).read };
  });
  // A missing property is `undefined`, too.
  const read = (json: Json) => readObject(names, json) as Field<ObjectOf<Fields>>;
  return field(read, { fields, aliases, ignored });
}

interface NamedField {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly read: Read;
}

function readObject(fields: readonly NamedField[], json: Json): Field<Record<string, unknown>> {
  if (typeof json !== 'object' || Array.isArray(json)) return INVALID;
  // JSON has no `undefined`, and no prototype has a field of the spec.
  const values = json as Readonly<Record<string, Json | null | undefined>>;
  const result: Record<string, unknown> = {};
  for (const { name, aliases, read } of fields) {
    let value = values[name];
    if (value === undefined) for (const alias of aliases) value ??= values[alias];
    if (value !== undefined) result[name] = readField(read, value);
  }
  return result;
}

/** Creates objects with the aliases of all dialects; the second argument lists fields that nothing reads. */
export function objectWith(aliases: Aliases) {
  return <const Fields extends Shape>(fields: Fields, ignored: readonly string[] = []) =>
    object(fields, { aliases, ignored });
}

/** Whether an object has a field of its schema, at least as `null`. An object without any is another document, such as an error. */
export function hasKnownField(schema: FieldSchema, value: object): boolean {
  return Object.keys(structureOf(schema).fields ?? {}).some((name) => Object.hasOwn(value, name));
}
