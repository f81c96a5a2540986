import { BytePattern } from './byte-pattern.js';
import { INVALID, type Field } from './field.js';
import { parseDecimal, parseLiteral, type Numeral } from './numeral.js';
import { Byte, NumberLiteral, type JsonScanner, type LazyString, type ScalarOrCompound } from './scanner.js';
import { StringInterner } from './string-interner.js';

/*
 * Shapes describe the part of a document that is read: `object({ nonce: number, members: list(member) })`. A shape is
 * compiled once into a reader, a function that reads the next value of a scanner. Fields of another type are INVALID and
 * counted by their path; keys that a shape does not name are skipped. Shapes use the names of the spec (docs/coverage.md);
 * documents may also use their aliases. Shapes keep interned strings, and readers predicted keys, from one document to the next.
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
  /** Paths of keys that the shape does not know; the first ones, because a document can have any number. */
  readonly unrecognized: Set<string>;
}

export function emptyProblems(): FieldProblems {
  return { invalid: new Map(), unknown: new Map(), unrecognized: new Set() };
}

/** Limits of `unrecognized`. */
export const MAX_UNRECOGNIZED_FIELDS = 20;
const MAX_UNRECOGNIZED_KEY_CHARACTERS = 64;

/** A scalar. `tryRead`, if any, reads values of the usual form; `parse` converts all others. */
export function scalar<T>(
  parse: (json: Exclude<ScalarOrCompound, null>, scanner: JsonScanner) => Field<T>,
  tryRead?: (scanner: JsonScanner) => T | undefined,
): Shape<T> {
  return {
    compile: (path) => (scanner, problems) => {
      const fast = tryRead?.(scanner);
      if (fast !== undefined) return fast;
      const json = scanner.readScalar();
      if (json === null) return undefined;
      const value = parse(json, scanner);
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

/** A string that is decoded only when it is used; valid until the response body is released. */
export const lazyString: Shape<LazyString> = scalar<LazyString>(
  () => INVALID,
  (scanner) => scanner.tryRawString(),
);

/** A string that repeats in documents, converted by `convert` once per distinct value. `parse` converts values of other types. */
export function interned(
  convert: (decoded: string) => string,
  parse: (json: Exclude<ScalarOrCompound, null>) => Field<string> = () => INVALID,
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
  const known = new Set(namesByNumber.values());
  return {
    compile: (path, aliases) => {
      const values = new Map(Object.entries(aliases.values));
      const interner = new StringInterner((name) => {
        const value = values.get(name) ?? name;
        return known.has(value) ? value : OTHER;
      });
      return (scanner, problems) => {
        const name = scanner.tryInterned(interner);
        if (name === OTHER) increment(problems.unknown, path);
        if (name !== undefined) return name;
        const json = scanner.readScalar();
        if (json === null) return undefined;
        if (!(json instanceof NumberLiteral)) {
          increment(problems.invalid, path);
          return INVALID;
        }
        const value = namesByNumber.get(Number(json.text));
        if (value === undefined) increment(problems.unknown, path);
        return value ?? OTHER;
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

export interface ObjectShape<F extends Fields> extends Shape<ObjectOf<F>> {
  readonly fields: F;
}

/** Names of the fields that are skipped. Keys that are in neither list are skipped too, but recorded as unrecognized. */
type SkippedFields = readonly string[] | 'any';

/**
 * An object. Other keys than the given ones are skipped. The last value of a repeated key counts, as in JSON.parse; of a key and its
 * alias, the key counts.
 */
export function object<F extends Fields>(fields: F, skipped: SkippedFields = []): ObjectShape<F> {
  return {
    fields,
    compile: (path, aliases) => compileObject(fields, skipped, path, aliases, false),
    paths: (path) => Object.entries(fields).flatMap(([name, shape]) => shape.paths(joinPath(path, name))),
  };
}

/** An object with at least one of the given keys. Without any, it is another document, such as an error, and is read as missing. */
export function objectWithKnownKey<F extends Fields>(fields: F, skipped: SkippedFields = []): Shape<ObjectOf<F>> {
  const compile: Shape<ObjectOf<F>>['compile'] = (path, aliases) => compileObject(fields, skipped, path, aliases, true);
  return { ...object(fields, skipped), compile };
}

interface Member {
  readonly name: string;
  readonly read: Reader<unknown>;
  readonly isAlias: boolean;
  /** One bit for each field with aliases, to record that its name in the spec occurs. 0 without aliases. */
  readonly mask: number;
}

interface KnownKey {
  /** `undefined` for a key that is skipped. */
  readonly member: Member | undefined;
  /** The path of an unrecognized key. */
  readonly unrecognized: string | undefined;
}

/** A key of the last object that the reader has read. */
interface ExpectedKey extends KnownKey {
  /** Its bytes, from the comma before it (the first key has none) to the colon after it. */
  readonly token: BytePattern;
}

/** Limits of the key prediction: later and longer keys are always decoded. */
const MAX_EXPECTED_KEYS = 64;
const MAX_EXPECTED_KEY_BYTES = 64;

/**
 * Predicts keys, because nodes write the keys of every row in the same order and spelling: each key is first compared with the
 * bytes of the key at the same position of the previous object, and decoded and looked up only when it differs.
 */
function compileObject<F extends Fields>(
  fields: F,
  skipped: SkippedFields,
  path: string,
  aliases: Aliases,
  needsKnownKey: boolean,
): Reader<ObjectOf<F>> {
  const keys = keysOf(fields, skipped, path, aliases);
  const createObject = objectFactory(Object.keys(fields));
  const allocation = OBJECT_BYTES + PROPERTY_BYTES * Object.keys(fields).length;
  const expectedKeys: ExpectedKey[] = [];

  function unknownKey(name: string): KnownKey {
    if (skipped === 'any') return SKIPPED_KEY;
    return { member: undefined, unrecognized: joinPath(path, name.slice(0, MAX_UNRECOGNIZED_KEY_CHARACTERS)) };
  }

  /** Decodes and looks up the next key. Returns `undefined` at the end of the object. */
  function lookupKey(scanner: JsonScanner, position: number): KnownKey | undefined {
    const start = scanner.offset;
    if (!scanner.nextEntry(Byte.closeBrace, position === 0)) return undefined;
    const name = scanner.readKey();
    const key = keys.get(name) ?? unknownKey(name);
    const token = scanner.bytesSince(start);
    if (position < MAX_EXPECTED_KEYS && token.length <= MAX_EXPECTED_KEY_BYTES) {
      expectedKeys[position] = { token: new BytePattern(token), ...key };
    }
    return key;
  }

  return (scanner, problems) => {
    if (!scanner.tryOpen(Byte.openBrace)) return missingOrInvalid(scanner, path, problems);
    scanner.allocate(allocation);
    const values = createObject();
    let hasKnownKey = false;
    let namesOfSpec = 0;
    for (let position = 0; ; position += 1) {
      const expected = expectedKeys[position];
      const isExpected = expected !== undefined && scanner.tryConsume(expected.token);
      const key = isExpected ? expected : lookupKey(scanner, position);
      if (key === undefined) break;
      const { member } = key;
      if (member === undefined) {
        if (key.unrecognized !== undefined) addUnrecognized(problems, key.unrecognized);
        scanner.skipValue();
        continue;
      }
      const value = member.read(scanner, problems);
      if (!member.isAlias) namesOfSpec |= member.mask;
      if (!member.isAlias || (namesOfSpec & member.mask) === 0) values[member.name] = value;
      hasKnownKey = true;
    }
    // Each property was read by the shape of its name.
    return hasKnownKey || !needsKnownKey ? (values as ObjectOf<F>) : undefined;
  };
}

const SKIPPED_KEY: KnownKey = { member: undefined, unrecognized: undefined };

/** The keys that an object shape knows: its fields, the skipped ones, and the aliases of both. */
function keysOf(fields: Fields, skipped: SkippedFields, path: string, aliases: Aliases): Map<string, KnownKey> {
  const keys = new Map<string, KnownKey>();
  for (const name of skipped === 'any' ? [] : skipped) keys.set(name, SKIPPED_KEY);
  for (const [name, shape] of Object.entries(fields)) {
    const member = { name, read: shape.compile(joinPath(path, name), aliases), isAlias: false, mask: 0 };
    keys.set(name, { member, unrecognized: undefined });
  }
  const masks = new Map<string, number>();
  for (const [alias, name] of Object.entries(aliases.fields)) {
    const key = keys.get(name);
    if (key === undefined) continue;
    if (key.member === undefined) {
      keys.set(alias, key);
      continue;
    }
    const mask = masks.get(name) ?? 2 ** masks.size;
    masks.set(name, mask);
    keys.set(name, { ...key, member: { ...key.member, mask } });
    keys.set(alias, { ...key, member: { ...key.member, mask, isAlias: true } });
  }
  return keys;
}

function addUnrecognized({ unrecognized }: FieldProblems, path: string): void {
  if (unrecognized.size < MAX_UNRECOGNIZED_FIELDS) unrecognized.add(path);
}

/**
 * Generates a function that creates objects from a literal, so that V8 gives all of them one hidden class. Reading a document of
 * 10 MB takes 10 to 20 % longer when a template is spread or properties are added one by one. The names are constants of the
 * source, never from a document.
 */
function objectFactory(names: readonly string[]): () => Record<string, unknown> {
  const properties = names.map((name) => `${JSON.stringify(name)}: undefined`).join(', ');
  // oxlint-disable-next-line typescript/no-implied-eval -- only constants of the source
  return new Function(`return { ${properties} };`) as () => Record<string, unknown>;
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
