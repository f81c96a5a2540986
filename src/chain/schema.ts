import type { Digits } from './decimal.js';
import type { Dialect } from './dialect.js';
import type { JsonCursor } from './json-cursor.js';
import { Byte, NumberLiteral } from './json-tokens.js';
import { memberReader } from './members.js';
import { WRONG, type Read } from './reading.js';
import { readChainId, readFlag, readNumber, readText, type ScalarReader } from './scalars.js';

/** What reading a document counts: values of a wrong kind and unknown enum values, by the path of their field. */
export interface Problems {
  readonly invalid: Map<string, number>;
  readonly unknown: Map<string, number>;
}

export function noProblems(): Problems {
  return { invalid: new Map(), unknown: new Map() };
}

/** Reads the value that the cursor stands before. */
export type Reader<T> = (cursor: JsonCursor, problems: Problems) => Read<T>;

/**
 * The form of a part of a document. `compile` gives its reader for a dialect, with the path of the field worked out once and
 * not per row; `paths` lists the fields read below it, in the spec's names.
 */
export interface Shape<T> {
  readonly compile: (path: string, dialect: Dialect) => Reader<T>;
  readonly paths: (path: string) => readonly string[];
}

export type ReadAs<S> = S extends Shape<infer T> ? T : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type ObjectOf<F extends Fields> = { readonly [K in keyof F]: Read<ReadAs<F[K]>> };

export const number: Shape<Digits> = scalar(readNumber);
export const text: Shape<string> = scalar(readText);
export const flag: Shape<boolean> = scalar(readFlag);
export const chainId: Shape<string> = scalar(readChainId);

function scalar<T>(read: ScalarReader<T>): Shape<T> {
  return {
    compile: (path) => (cursor, problems) => {
      const json = cursor.scalar();
      if (json === null) return undefined;
      const value = read(json);
      if (value === WRONG) count(problems.invalid, path);
      return value;
    },
    paths: (path) => [path],
  };
}

/** What an enum value reads as when the exporter does not know it. */
export const OTHER = 'other';

/**
 * An enum by name; a bare number stands for the value of that number, as gateways send what their own code does not know.
 * `numbers` gives the names by number. Unknown values read as `other` and are counted.
 */
export function oneOf(numbers: ReadonlyMap<number, string>): Shape<string> {
  const known = new Set(numbers.values());
  return {
    compile:
      (path, { values }) =>
      (cursor, problems) => {
        const json = cursor.scalar();
        if (json === null) return undefined;
        if (typeof json !== 'string' && !(json instanceof NumberLiteral)) {
          count(problems.invalid, path);
          return WRONG;
        }
        const name = typeof json === 'string' ? valueName(values, json) : numbers.get(Number(json.text));
        if (name !== undefined && known.has(name)) return name;
        count(problems.unknown, path);
        return OTHER;
      },
    paths: (path) => [path],
  };
}

function valueName(values: Dialect['values'], name: string): string {
  return (Object.hasOwn(values, name) ? values[name] : undefined) ?? name;
}

export interface ObjectShape<F extends Fields> extends Shape<ObjectOf<F>> {
  readonly fields: F;
}

/** An object; of its keys only the named ones are read, so a newer node may add others. */
export function object<F extends Fields>(fields: F): ObjectShape<F> {
  return {
    fields,
    compile: (path, dialect) => compileObject(fields, path, dialect, false),
    paths: (path) => Object.entries(fields).flatMap(([name, shape]) => shape.paths(join(path, name))),
  };
}

/** An object that is missing when none of its keys is there: then it is something else, such as an error body. */
export function recognized<F extends Fields>({ fields, paths }: ObjectShape<F>): Shape<ObjectOf<F>> {
  return { compile: (path, dialect) => compileObject(fields, path, dialect, true), paths };
}

function compileObject<F extends Fields>(
  fields: F,
  path: string,
  dialect: Dialect,
  needsKey: boolean,
): Reader<ObjectOf<F>> {
  const readMembers = memberReader(
    Object.entries(fields).map(([name, shape]) => ({
      name,
      wireName: dialect.fields[name] ?? name,
      read: shape.compile(join(path, name), dialect),
    })),
  );
  return (cursor, problems) => {
    if (cursor.passesNull()) return undefined;
    if (!cursor.enters(Byte.openBrace)) return wrong(cursor, path, problems);
    const { found, isRecognized } = readMembers(cursor, problems);
    // The members are the fields of the shape, each read as its own shape says.
    return needsKey && !isRecognized ? undefined : (found as ObjectOf<F>);
  };
}

/** About what an entry of a list takes beside its value. */
const ENTRY_BYTES = 8;

export function list<T>(row: Shape<T>): Shape<readonly Read<T>[]> {
  return {
    compile: (path, dialect) => {
      const readRow = row.compile(`${path}[]`, dialect);
      return (cursor, problems) => {
        if (cursor.passesNull()) return undefined;
        if (!cursor.enters(Byte.openBracket)) return wrong(cursor, path, problems);
        const read: Read<T>[] = [];
        while (cursor.hasEntry(Byte.closeBracket, read.length === 0)) {
          cursor.spend(ENTRY_BYTES);
          read.push(readRow(cursor, problems));
        }
        return read;
      };
    },
    paths: (path) => [path, ...row.paths(`${path}[]`).filter((field) => field !== `${path}[]`)],
  };
}

export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** What stands here is of another kind: passed, and counted. */
function wrong(cursor: JsonCursor, path: string, { invalid }: Problems): typeof WRONG {
  cursor.skip();
  count(invalid, path);
  return WRONG;
}

function count(counts: Map<string, number>, path: string): void {
  counts.set(path, (counts.get(path) ?? 0) + 1);
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
