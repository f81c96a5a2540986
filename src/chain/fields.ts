import { z } from 'zod';
import { dataPart } from './addresses.js';
import { INVALID, type Field } from './field.js';
import { parseNumeral } from './numeral.js';

/*
 * The zod schemas of fields. A field that is missing, also as `null`, is `undefined`. One with a value of another type is INVALID, and its
 * document is valid all the same. Neither makes an issue of zod: a document can have a wrong value in each of 60,000 rows.
 */

export type FieldSchema<T> = z.ZodType<Field<T>>;

/** The type of a field that is present. */
export type ValueOf<Schema extends z.ZodType> = Exclude<z.output<Schema>, undefined | typeof INVALID>;

/** A scalar, as `read` converts it from JSON. Not a transform of zod, which makes a closure for each value. */
function scalar<T>(read: (json: unknown) => Field<T>): FieldSchema<T> {
  const convert = (json: unknown): unknown => (json === null ? undefined : noted(read(json)));
  // The type of what `overwrite` returns is that of its input.
  return z.unknown().overwrite(convert).optional() as FieldSchema<T>;
}

/** How many INVALID and unknown values were read so far, of all documents. While one is read, nothing else is, so the difference is that of the document. */
let wrongValues = 0;

export function wrongValuesSoFar(): number {
  return wrongValues;
}

function noted<T>(value: T): T {
  if (value === INVALID || value === UNKNOWN_VALUE) wrongValues += 1;
  return value;
}

/** A number: a decimal string or a JSON number. */
export const numeral = scalar((json) => parseNumeral(json));

export const string = scalar((json) => (typeof json === 'string' ? json : INVALID));

export const boolean = scalar((json) => (typeof json === 'boolean' ? json : INVALID));

/** An address in lower case. Mixed case is only a checksum (EIP-55). */
export const address = scalar(interned((text) => text.toLowerCase()));

export const addressDataPart = scalar(interned(dataPart));

/** Chains have some hundreds of validators and tokens. */
const MAX_INTERNED = 10_000;

/** Converts strings that repeat, and returns the same string for equal ones. */
function interned(convert: (text: string) => string): (json: unknown) => Field<string> {
  const known = new Map<string, string>();
  return (json) => {
    if (typeof json !== 'string') return INVALID;
    const found = known.get(json);
    if (found !== undefined) return found;
    const converted = convert(json);
    if (known.size >= MAX_INTERNED) known.clear();
    known.set(json, converted);
    return converted;
  };
}

/** A chain id: a string, or a JSON integer as its digits, which are lost above 2^53. */
export const chainId = scalar((json) => {
  if (typeof json === 'string') return json;
  return Number.isSafeInteger(json) ? String(json) : INVALID;
});

/** Replaces enum values that the exporter does not know. */
export const UNKNOWN_VALUE = 'other';

const enumerations = new WeakSet<z.ZodType>();

export function isEnumeration(schema: z.ZodType): boolean {
  return enumerations.has(schema);
}

/**
 * A protobuf enum. A gRPC gateway sends the number of a value whose name it does not know, so `namesByNumber` has the name of each
 * number; `aliases` has other names of values. Unknown values become `other` and are counted.
 */
export function enumeration(namesByNumber: ReadonlyMap<number, string>, aliases: Aliases = {}): FieldSchema<string> {
  const names = new Map([
    ...Array.from(namesByNumber.values(), (name) => [name, name] as const),
    ...Object.entries(aliases),
  ]);
  const schema = scalar((json) => {
    if (typeof json === 'string') return names.get(json) ?? UNKNOWN_VALUE;
    return typeof json === 'number' ? (namesByNumber.get(json) ?? UNKNOWN_VALUE) : INVALID;
  });
  enumerations.add(schema);
  return schema;
}

const missingOrInvalid = scalar((): Field<never> => INVALID);

function orInvalid<T>(schema: z.ZodType<T>): FieldSchema<T> {
  return z.union([schema, missingOrInvalid]).optional();
}

export function list<T>(row: FieldSchema<T>): FieldSchema<readonly Field<T>[]> {
  return orInvalid(z.array(row));
}

type Shape = Readonly<Record<string, z.ZodType>>;

type ObjectOf<Own extends Shape> = { readonly [Name in keyof Own]: z.output<Own[Name]> };

/** Other names of fields or values, by alias. */
export type Aliases = Readonly<Record<string, string>>;

interface KnownKeys {
  /** Other names of fields. Of a field and its alias, the field counts. */
  readonly aliases?: Aliases;
  /** Fields of the document that nothing reads. */
  readonly ignored?: readonly string[];
}

/** What each object schema knows besides its fields. */
const knownKeys = new WeakMap<z.ZodType, { readonly aliases: Aliases; readonly ignored: readonly string[] }>();

export function object<const Fields extends Shape>(
  shape: Fields,
  { aliases = {}, ignored = [] }: KnownKeys = {},
): FieldSchema<ObjectOf<Fields>> {
  const schema = z.object(shape);
  const known = Object.entries(aliases).filter(([, name]) => Object.hasOwn(shape, name) || ignored.includes(name));
  knownKeys.set(schema, { aliases: Object.fromEntries(known), ignored });
  const renamed = known.filter(([, name]) => Object.hasOwn(shape, name));
  const named =
    renamed.length === 0
      ? schema
      : z
          .unknown()
          .overwrite((json) => withNames(json, renamed))
          .pipe(schema);
  // A property that is not there is `undefined`, too.
  return orInvalid(named as z.ZodType<ObjectOf<Fields>>);
}

function withNames(json: unknown, aliases: readonly (readonly [alias: string, name: string])[]): unknown {
  if (typeof json !== 'object' || json === null) return json;
  let renamed: Record<string, unknown> | undefined;
  for (const [alias, name] of aliases) {
    if (!Object.hasOwn(json, alias) || Object.hasOwn(json, name)) continue;
    renamed ??= { ...json };
    renamed[name] = Reflect.get(json, alias);
  }
  return renamed ?? json;
}

/** The schema inside of what `object` and `list` wrap around it. */
function innerSchema(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return innerSchema(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodUnion) return innerSchema(schema.options[0] as z.ZodType);
  if (schema instanceof z.ZodPipe) return innerSchema(schema.out as z.ZodType);
  return schema;
}

/** The fields of an object schema by name; none for another schema. */
export function fieldsOf(schema: z.ZodType): readonly (readonly [name: string, field: z.ZodType])[] {
  const inner = innerSchema(schema);
  return inner instanceof z.ZodObject ? Object.entries<z.ZodType>(inner.shape) : [];
}

/** The field of an object schema by a key of a document; `undefined` for a key that is unknown, `null` for one that is ignored. */
export function fieldByKey(
  schema: z.ZodType,
  key: string,
): readonly [name: string, field: z.ZodType] | null | undefined {
  const { aliases, ignored } = knownKeys.get(innerSchema(schema)) ?? { aliases: {}, ignored: [] };
  const name = Object.hasOwn(aliases, key) ? aliases[key] : key;
  const field = fieldsOf(schema).find(([fieldName]) => fieldName === name);
  return field ?? (name !== undefined && ignored.includes(name) ? null : undefined);
}

/** The schema of the rows of a list; `undefined` for another schema. */
export function rowSchema(schema: z.ZodType): z.ZodType | undefined {
  const inner = innerSchema(schema);
  return inner instanceof z.ZodArray ? (inner.element as z.ZodType) : undefined;
}

/** Whether an object has a field of its schema, at least as `null`. An object without any, such as an error, is something else. */
export function hasKnownField(schema: z.ZodType, value: object): boolean {
  return fieldsOf(schema).some(([name]) => Object.hasOwn(value, name));
}
