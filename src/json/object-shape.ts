import type { Dialect } from '../chain/dialects.js';
import type { JsonCursor } from './json-cursor.js';
import { Byte } from './json-tokens.js';
import { memberReader } from './object-reader.js';
import { INVALID, type Field } from './field.js';
import { count, joinPath, type FieldProblems, type ValueOf, type Reader, type Shape } from './shape.js';

type Fields = Readonly<Record<string, Shape<unknown> | Inlined<InlinedFields>>>;
type InlinedFields = Readonly<Record<string, Shape<unknown>>>;

/** Paths of the fields that stand in an object though the document has them in objects of their own. */
type InlinedPath<F> = {
  [K in keyof F & string]: F[K] extends Inlined<infer G> ? `${K}.${keyof G & string}` : never;
}[keyof F & string];

type InlinedAs<F, Path> = Path extends `${infer K}.${infer I}`
  ? K extends keyof F
    ? F[K] extends Inlined<infer G>
      ? I extends keyof G
        ? ValueOf<G[I]>
        : never
      : never
    : never
  : never;

type ObjectOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Shape<unknown> ? K : never]: Field<ValueOf<F[K]>>;
} & { readonly [Path in InlinedPath<F>]: Field<InlinedAs<F, Path>> };

export interface ObjectShape<F extends Fields> extends Shape<ObjectOf<F>> {
  readonly fields: F;
}

/** An object that is not made: its fields stand in the one around it, by their path from there. */
export interface Inlined<F extends InlinedFields> {
  readonly inlined: F;
}

/** An object; of its keys only the named ones are read, so a newer node may add others. */
export function object<F extends Fields>(fields: F): ObjectShape<F> {
  return {
    fields,
    compile: (path, dialect) => compileObject(fields, path, dialect, false),
    paths: (path) => pathsOf(fields, path),
  };
}

function pathsOf(fields: Fields, path: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    'inlined' in field ? pathsOf(field.inlined, joinPath(path, name)) : field.paths(joinPath(path, name)),
  );
}

/**
 * Fields of an object of which every row has one, without making it. All of them are missing where it is missing, and of a
 * wrong kind where it is.
 */
export function inlined<F extends InlinedFields>(fields: F): Inlined<F> {
  return { inlined: fields };
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
  const wireName = (name: string): string => dialect.fields[name] ?? name;
  const members = Object.entries(fields).map(([name, field]) => {
    const at = joinPath(path, name);
    if (!('inlined' in field)) return { name, wireName: wireName(name), read: field.compile(at, dialect) };
    const inner = Object.entries(field.inlined).map(([own, shape]) => ({
      name: joinPath(name, own),
      wireName: wireName(own),
      read: shape.compile(joinPath(at, own), dialect),
    }));
    const readOther: Reader<never> = (cursor, problems) => wrong(cursor, at, problems);
    return { wireName: wireName(name), members: inner, readOther };
  });
  const readMembers = memberReader(members, needsKey);
  return (cursor, problems) => {
    if (!cursor.enters(Byte.openBrace)) return cursor.passesNull() ? undefined : wrong(cursor, path, problems);
    // The members are the fields of the shape, each read as its own shape says.
    return readMembers(cursor, problems) as ObjectOf<F> | undefined;
  };
}

/** About what an entry of a list takes beside its value. */
const ENTRY_BYTES = 8;

export function list<T>(row: Shape<T>): Shape<readonly Field<T>[]> {
  return {
    compile: (path, dialect) => {
      const readRow = row.compile(`${path}[]`, dialect);
      return (cursor, problems) => {
        if (!cursor.enters(Byte.openBracket)) return cursor.passesNull() ? undefined : wrong(cursor, path, problems);
        const read: Field<T>[] = [];
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

/** The last row of a list, `null` when it has none. The others are only checked. */
export function lastOf<T>(row: Shape<T>): Shape<T | null> {
  return {
    compile: (path, dialect) => {
      const readRow = row.compile(`${path}[]`, dialect);
      return (cursor, problems) => {
        if (!cursor.enters(Byte.openBracket)) return cursor.passesNull() ? undefined : wrong(cursor, path, problems);
        let last: Field<T | null> = null;
        for (let isFirst = true; cursor.hasEntry(Byte.closeBracket, isFirst); isFirst = false) {
          last = readRow(cursor, problems);
        }
        return last;
      };
    },
    paths: list(row).paths,
  };
}

export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** What stands here is of another kind: passed, and counted. */
function wrong(cursor: JsonCursor, path: string, { invalid }: FieldProblems): typeof INVALID {
  cursor.skip();
  count(invalid, path);
  return INVALID;
}
