import { z } from 'zod';
import { transform, type ZodMiniType } from 'zod/mini';
import { dataPart } from './addresses.js';
import { INVALID, type Field } from './field.js';
import { parseNumeral } from './numeral.js';

/*
 * The zod schemas of fields. A missing field, also `null`, is `undefined`. A value of another type is INVALID, and the document is valid all the
 * same. Neither makes an issue of zod: a document can have a wrong value in each of 60,000 rows.
 */

export type FieldSchema<T = unknown> = ZodMiniType<Field<T>>;

/** The type of a field with a valid value. */
export type ValueOf<Schema extends FieldSchema> = Exclude<z.output<Schema>, undefined | typeof INVALID>;

type Json = string | number | boolean | object;

/** A field that `read` converts from JSON other than `null`. The transform of zod itself makes a closure for each value. */
function field<T>(read: (json: Json) => Field<T>): FieldSchema<T> {
  return transform((json: Json | null | undefined) => (json === undefined || json === null ? undefined : read(json)));
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
function interned(convert: (text: string) => string): (json: Json) => Field<string> {
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
  const schema = field((json) => {
    if (typeof json === 'string') return names.get(json) ?? UNKNOWN_VALUE;
    return typeof json === 'number' ? (namesByNumber.get(json) ?? UNKNOWN_VALUE) : INVALID;
  });
  structures.set(schema, { isEnumeration: true });
  return schema;
}

/** The parts of a schema; none for a scalar that is no enum. */
interface Structure {
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
  return structures.get(schema) ?? {};
}

export function list<T>(row: FieldSchema<T>): FieldSchema<readonly Field<T>[]> {
  const rows = z.array(row);
  const schema = field((json) => (Array.isArray(json) ? z.parse(rows, json) : INVALID));
  structures.set(schema, { row });
  return schema;
}

type ObjectOf<Fields extends Shape> = { readonly [Name in keyof Fields]: z.output<Fields[Name]> };

export function object<const Fields extends Shape>(
  fields: Fields,
  { aliases = {}, ignored = [] }: Pick<Structure, 'aliases' | 'ignored'> = {},
): FieldSchema<ObjectOf<Fields>> {
  const properties = z.object(fields);
  const renamed = Object.entries(aliases).filter(([, name]) => Object.hasOwn(fields, name));
  const schema = field((json) => {
    if (typeof json !== 'object' || Array.isArray(json)) return INVALID;
    // A missing property is `undefined`, too.
    return z.parse(properties, withNames(json, renamed)) as ObjectOf<Fields>;
  });
  structures.set(schema, { fields, aliases, ignored });
  return schema;
}

/** Creates objects with the aliases of all dialects; the second argument lists fields that nothing reads. */
export function objectWith(aliases: Aliases) {
  return <const Fields extends Shape>(fields: Fields, ignored: readonly string[] = []) =>
    object(fields, { aliases, ignored });
}

function withNames(json: object, aliases: readonly (readonly [alias: string, name: string])[]): object {
  let renamed: Record<string, unknown> | undefined;
  for (const [alias, name] of aliases) {
    if (!Object.hasOwn(json, alias) || Object.hasOwn(json, name)) continue;
    renamed ??= { ...json };
    renamed[name] = Reflect.get(json, alias);
  }
  return renamed ?? json;
}

/** Whether an object has a field of its schema, at least as `null`. An object without any is another document, such as an error. */
export function hasKnownField(schema: FieldSchema, value: object): boolean {
  return Object.keys(structureOf(schema).fields ?? {}).some((name) => Object.hasOwn(value, name));
}
