import { BytePattern } from './byte-pattern.js';
import { INVALID, type Field } from './field.js';
import { parseDecimal, parseLiteral, type Numeral } from './numeral.js';
import { Byte, InvalidJson, JsonScanner, MemoryBudgetExceeded, NumberLiteral, type Scalar } from './scanner.js';
import { StringInterner } from './string-interner.js';

/*
 * Shapes describe the part of a document that is read: `object({ nonce: number, members: list(member) })`. A shape is compiled
 * once into a reader, a function that reads the next value of a scanner by recursive descent. A value of another type is INVALID
 * and counted by its path. Keys that a shape does not name are skipped. Shapes use the names of the spec (docs/coverage.md);
 * documents may also use aliases of them.
 */

/** Reads the next value of a document. */
export type Reader<T> = (scanner: JsonScanner, problems: FieldProblems) => Field<T>;

export interface Shape<T> {
  /** Compiles a reader. `path` is where the value is, in the names of the spec. */
  readonly compile: (path: string, aliases: Aliases) => Reader<T>;
  /** Paths of all fields that are read at or below `path`, in the names of the spec. */
  readonly paths: (path: string) => readonly string[];
}

/** The type of the values that a shape reads. */
export type ValueOf<S> = S extends Shape<infer T> ? T : never;

/** Other names that a document may use instead of those of the spec. An alias of a field is not the name of another field. */
export interface Aliases {
  /** Alias → field name in the spec. */
  readonly fields: Readonly<Record<string, string>>;
  /** Alias → enum value in the spec. */
  readonly values: Readonly<Record<string, string>>;
}

export const NO_ALIASES: Aliases = { fields: {}, values: {} };

export interface FieldProblems {
  /** Number of invalid values by the path of their field. */
  readonly invalid: Map<string, number>;
  /** Number of unknown enum values by the path of their field. */
  readonly unknown: Map<string, number>;
  /** Paths of absent fields, without those of rows. */
  readonly missing: Set<string>;
  /** Paths of keys that the shape does not know; the first ones, because a document can have any number. */
  readonly unrecognized: Set<string>;
}

export function emptyProblems(): FieldProblems {
  return { invalid: new Map(), unknown: new Map(), missing: new Set(), unrecognized: new Set() };
}

export type DocumentResult<T> =
  /** `value` is `undefined` when the JSON is valid but is another document. */
  { readonly ok: true; readonly value: T | undefined; readonly problems: FieldProblems } | UnreadableDocument;

/** The message does not contain the name of the document. `schema` and `rate_limited` only of a document that is an answer to several requests. */
export interface UnreadableDocument {
  readonly ok: false;
  readonly reason: 'not_json' | 'too_large' | 'schema' | 'rate_limited';
  readonly message: string;
}

/** Reads a whole response body. `budgetBytes` limits the memory of the values that are built. */
export function readDocument<T>(read: Reader<T>, body: Buffer, budgetBytes: number): DocumentResult<T> {
  if (body.length === 0) return { ok: false, reason: 'not_json', message: 'empty body' };
  const problems = emptyProblems();
  try {
    const scanner = new JsonScanner(body, budgetBytes);
    const value = read(scanner, problems);
    addMissing(problems, '', value);
    scanner.expectEnd();
    return { ok: true, value: value === INVALID ? undefined : value, problems };
  } catch (error) {
    if (error instanceof InvalidJson) return { ok: false, reason: 'not_json', message: error.message };
    if (error instanceof MemoryBudgetExceeded) {
      const budget = `${Math.floor(budgetBytes / 2 ** 20)} MiB`;
      return { ok: false, reason: 'too_large', message: `reading the document needs more than ${budget} of memory` };
    }
    throw error;
  }
}

/** Limits of `unrecognized`. */
export const MAX_UNRECOGNIZED_FIELDS = 20;
const MAX_UNRECOGNIZED_KEY_CHARACTERS = 64;

/** A scalar, converted by `parse`. `tryRead`, if any, reads values of the usual form faster. */
function scalar<T>(
  parse: (json: Exclude<Scalar, null>, scanner: JsonScanner) => Field<T>,
  tryRead?: (scanner: JsonScanner) => T | undefined,
): Shape<T> {
  return {
    compile: (path) => (scanner, problems) => {
      const fast = tryRead?.(scanner);
      if (fast !== undefined) return fast;
      const json = scanner.readScalar();
      if (json === null) return undefined;
      const value = json === undefined ? INVALID : parse(json, scanner);
      if (value === INVALID) increment(problems.invalid, path);
      return value;
    },
    paths: (path) => [path],
  };
}

/** A number: a decimal string or a JSON number. */
export const number: Shape<Numeral> = scalar<Numeral>(
  (json, scanner) => {
    if (typeof json === 'string') return parseDecimal(json);
    if (!(json instanceof NumberLiteral)) return INVALID;
    const digits = parseLiteral(json.text);
    // A literal of few characters can have hundreds of digits: 1e308.
    if (typeof digits === 'string') scanner.allocate(digits.length);
    return digits;
  },
  (scanner) => scanner.tryQuotedInteger(),
);

export const string: Shape<string> = scalar((json) => (typeof json === 'string' ? json : INVALID));

export const boolean: Shape<boolean> = scalar((json) => (typeof json === 'boolean' ? json : INVALID));

/** A low-cardinality string, such as the address of a validator. `parse` converts values of other types. */
export function interned(
  convert: (text: string) => string,
  parse: (json: Exclude<Scalar, null>) => Field<string> = () => INVALID,
): Shape<string> {
  const interner = new StringInterner(convert);
  return scalar(parse, (scanner) => scanner.tryInterned(interner));
}

/** Replaces enum values that the exporter does not know. */
export const OTHER = 'other';

/**
 * A protobuf enum. A gRPC gateway sends the number of a value whose name it does not know, so `namesByNumber` has the name of each
 * number. Unknown values become `other` and are counted.
 */
export function enumeration(namesByNumber: ReadonlyMap<number, string>): Shape<string> {
  return {
    compile: (path, aliases) => {
      const values = new Map(Array.from(namesByNumber.values(), (name) => [name, name]));
      for (const [alias, name] of Object.entries(aliases.values)) if (values.has(name)) values.set(alias, name);
      const read = interned(
        (name) => values.get(name) ?? OTHER,
        (json) => (json instanceof NumberLiteral ? (namesByNumber.get(Number(json.text)) ?? OTHER) : INVALID),
      ).compile(path, aliases);
      return (scanner, problems) => {
        const value = read(scanner, problems);
        if (value === OTHER) increment(problems.unknown, path);
        return value;
      };
    },
    paths: (path) => [path],
  };
}

/** Approximate heap size of an array element, of an object and of one of its properties. */
const ELEMENT_BYTES = 8;
const OBJECT_BYTES = 32;
const PROPERTY_BYTES = 8;

export function list<T>(row: Shape<T>): Shape<readonly Field<T>[]> {
  return {
    compile: (path, aliases) => {
      const readRow = row.compile(`${path}[]`, aliases);
      return (scanner, problems) => {
        if (!scanner.tryOpen(Byte.openBracket)) return missingOrInvalid(scanner, path, problems);
        const rows: Field<T>[] = [];
        while (scanner.nextEntry(Byte.closeBracket, rows.length === 0)) {
          scanner.allocate(ELEMENT_BYTES);
          rows.push(readRow(scanner, problems));
        }
        return rows;
      };
    },
    // A list of scalars is one field.
    paths: (path) => [path, ...row.paths(`${path}[]`).filter((field) => field !== `${path}[]`)],
  };
}

type Fields = Readonly<Record<string, Shape<unknown>>>;
type ObjectOf<F extends Fields> = { readonly [K in keyof F]: Field<ValueOf<F[K]>> };

/** Names of the fields that are skipped. Keys that are in neither list are skipped too, but recorded as unrecognized. */
type SkippedFields = readonly string[] | 'any';

/** A key that an object shape knows: the name of a field or an alias of it. */
interface Key {
  /** The name of the field in the spec. */
  readonly field: string;
  readonly isAlias: boolean;
  /** `undefined` when the field is skipped. */
  readonly read: Reader<unknown> | undefined;
  /** The bytes of the key in most documents, with the colon. */
  readonly token: BytePattern;
}

/**
 * An object. Other keys than the given ones are skipped. The last value of a repeated key counts, as in JSON.parse; of a key and its
 * alias, the key counts. With `needsKnownKey`, an object without any of the keys is another document, such as an error, and is read
 * as missing.
 */
export function object<F extends Fields>(
  fields: F,
  skipped: SkippedFields = [],
  { needsKnownKey = false } = {},
): Shape<ObjectOf<F>> {
  const createObject = objectFactory(Object.keys(fields));
  const allocation = OBJECT_BYTES + PROPERTY_BYTES * Object.keys(fields).length;
  return {
    compile: (path, aliases) => {
      const keys = keysOf(fields, skipped, path, aliases);
      const hasAlias = new Set(Object.values(aliases.fields));
      // The keys of the previous object by position. Nodes write those of all rows in the same order, so most need no decoding.
      const expectedKeys: Key[] = [];
      return (scanner, problems) => {
        if (!scanner.tryOpen(Byte.openBrace)) return missingOrInvalid(scanner, path, problems);
        scanner.allocate(allocation);
        const values = createObject();
        let hasKnownKey = false;
        /** The fields with an alias that have occurred by their name in the spec. */
        let named: string[] | undefined;
        for (let position = 0; scanner.nextEntry(Byte.closeBrace, position === 0); position += 1) {
          let key = expectedKeys[position];
          if (key === undefined || !scanner.tryConsume(key.token)) {
            const name = scanner.readKey();
            key = keys.get(name);
            if (key === undefined && skipped !== 'any') addUnrecognized(problems, path, name);
            if (key !== undefined && position < keys.size) expectedKeys[position] = key;
          }
          if (key?.read === undefined) {
            scanner.skipValue();
            continue;
          }
          const { field, isAlias } = key;
          const value = key.read(scanner, problems);
          if (!isAlias || named?.includes(field) !== true) values[field] = value;
          if (!isAlias && hasAlias.has(field)) (named ??= []).push(field);
          hasKnownKey = true;
        }
        // Each property was read by the shape of its name.
        return hasKnownKey || !needsKnownKey ? (values as ObjectOf<F>) : undefined;
      };
    },
    paths: (path) => Object.entries(fields).flatMap(([name, shape]) => shape.paths(joinPath(path, name))),
  };
}

/**
 * A function that creates objects from a literal, so that V8 gives all of them one hidden class; copying an object makes reading a
 * document 20 % slower. The names are constants of the source,
 * never from a document.
 */
function objectFactory(names: readonly string[]): () => Record<string, unknown> {
  const properties = names.map((name) => `${JSON.stringify(name)}: undefined`).join(', ');
  // oxlint-disable-next-line typescript/no-implied-eval -- only constants of the source
  return new Function(`return { ${properties} };`) as () => Record<string, unknown>;
}

function keysOf(fields: Fields, skipped: SkippedFields, path: string, aliases: Aliases): Map<string, Key> {
  const keys = new Map<string, Key>();
  const add = (key: string, field: string, read: Key['read']): void => {
    keys.set(key, { field, isAlias: key !== field, read, token: new BytePattern(Buffer.from(`"${key}":`)) });
  };
  for (const name of skipped === 'any' ? [] : skipped) add(name, name, undefined);
  for (const [name, shape] of Object.entries(fields)) add(name, name, shape.compile(joinPath(path, name), aliases));
  for (const [alias, name] of Object.entries(aliases.fields)) {
    if (keys.has(name)) add(alias, name, keys.get(name)?.read);
  }
  return keys;
}

function addUnrecognized({ unrecognized }: FieldProblems, path: string, key: string): void {
  if (unrecognized.size === MAX_UNRECOGNIZED_FIELDS) return;
  unrecognized.add(joinPath(path, key.slice(0, MAX_UNRECOGNIZED_KEY_CHARACTERS)));
}

/** Rows of lists are many, and not looked at. */
function addMissing(problems: FieldProblems, path: string, value: unknown): void {
  // Neither a scalar nor a list.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return;
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) problems.missing.add(joinPath(path, name));
    else addMissing(problems, joinPath(path, name), field);
  }
}

/** `null` is a missing value; anything else is skipped and counted. */
function missingOrInvalid(scanner: JsonScanner, path: string, problems: FieldProblems): typeof INVALID | undefined {
  if (scanner.tryNull()) return undefined;
  scanner.skipValue();
  increment(problems.invalid, path);
  return INVALID;
}

function increment(counts: Map<string, number>, path: string): void {
  counts.set(path, (counts.get(path) ?? 0) + 1);
}

function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
