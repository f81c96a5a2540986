import { dataPart, lowerCase } from './address.js';
import { eventNonceInClaim } from './claim.js';
import type { Numeral } from './decimal.js';
import type { Dialect } from './dialect.js';
import type { JsonCursor, TextPlace } from './json-cursor.js';
import { Byte, NumberLiteral } from './json-tokens.js';
import type { NumberPlace } from './kept-numbers.js';
import { memberReader } from './members.js';
import { WRONG, type Read } from './reading.js';
import { SharedTexts } from './shared-texts.js';
import { readChainId, readFlag, readNone, readNumber, readText, type ScalarReader } from './scalars.js';

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

export const number: Shape<Numeral> = scalar(readNumber, (cursor) => cursor.wholeNumber() as Numeral | undefined);
export const text: Shape<string> = scalar(readText);
/** A text that is seldom looked at: only where it stands, to be had from the document as long as that is there. */
export const textPlace: Shape<TextPlace> = scalar(readNone, (cursor) => cursor.textPlace());
/** A number of which there are many: kept beside the document, which has only its place. */
export const numberPlace: Shape<NumberPlace> = {
  compile: (path, dialect) => {
    const readOther = number.compile(path, dialect);
    return (cursor, problems) => {
      const plain = cursor.keptNumber();
      if (plain !== undefined) return plain;
      const other = readOther(cursor, problems);
      return other === undefined || other === WRONG ? other : cursor.numbers.keepOther(other);
    };
  },
  paths: (path) => [path],
};
/** The event nonce in the packed bytes of a claim; `null` when no nonce can be read of the text. */
export const packedNonce: Shape<Numeral | null> = scalar<Numeral | null>(readNone, (cursor) => {
  const bytes = cursor.base64();
  return bytes === undefined ? undefined : ((bytes && eventNonceInClaim(bytes)) ?? null);
});
/** An address in lower case, as it is joined and shown. */
export const address: Shape<string> = shared(readText, lowerCase);
/** What a bech32 address is joined by. */
export const addressKey: Shape<string> = shared(readText, dataPart);
export const flag: Shape<boolean> = scalar(readFlag);
export const chainId: Shape<string> = shared(readChainId, (id) => id);

/** `readPlain` reads what nearly always stands there, and leaves the rest to `read`. */
function scalar<T>(read: ScalarReader<T>, readPlain?: (cursor: JsonCursor) => T | undefined): Shape<T> {
  return {
    compile: (path) => (cursor, problems) => {
      const plain = readPlain?.(cursor);
      if (plain !== undefined) return plain;
      const json = cursor.scalar();
      if (json === null) return undefined;
      const value = read(json);
      if (value === WRONG) count(problems.invalid, path);
      return value;
    },
    paths: (path) => [path],
  };
}

/** A text of which few are different: what is made of each is made once. What is no text is left to `read`. */
function shared(read: ScalarReader<string>, make: (text: string) => string): Shape<string> {
  const texts = new SharedTexts(make);
  return scalar(read, (cursor) => cursor.shared(texts));
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
    compile: (path, { values }) => {
      const names = new SharedTexts((name) => {
        const value = valueName(values, name);
        return known.has(value) ? value : OTHER;
      });
      return (cursor, problems) => {
        const name = cursor.shared(names);
        if (name === OTHER) count(problems.unknown, path);
        if (name !== undefined) return name;
        const json = cursor.scalar();
        if (json === null) return undefined;
        if (!(json instanceof NumberLiteral)) {
          count(problems.invalid, path);
          return WRONG;
        }
        const value = numbers.get(Number(json.text));
        if (value === undefined) count(problems.unknown, path);
        return value ?? OTHER;
      };
    },
    paths: (path) => [path],
  };
}

function valueName(values: Dialect['values'], name: string): string {
  return (Object.hasOwn(values, name) ? values[name] : undefined) ?? name;
}

type Fields = Readonly<Record<string, Shape<unknown>>>;
type ObjectOf<F extends Fields> = { readonly [K in keyof F]: Read<ReadAs<F[K]>> };

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
    needsKey,
  );
  return (cursor, problems) => {
    if (!cursor.enters(Byte.openBrace)) return cursor.passesNull() ? undefined : wrong(cursor, path, problems);
    // The members are the fields of the shape, each read as its own shape says.
    return readMembers(cursor, problems) as ObjectOf<F> | undefined;
  };
}

/** About what an entry of a list takes beside its value. */
const ENTRY_BYTES = 8;

export function list<T>(row: Shape<T>): Shape<readonly Read<T>[]> {
  return {
    compile: (path, dialect) => {
      const readRow = row.compile(`${path}[]`, dialect);
      return (cursor, problems) => {
        if (!cursor.enters(Byte.openBracket)) return cursor.passesNull() ? undefined : wrong(cursor, path, problems);
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

/** The last row of a list, `null` when it has none. The others are only checked. */
export function lastOf<T>(row: Shape<T>): Shape<T | null> {
  return {
    compile: (path, dialect) => {
      const readRow = row.compile(`${path}[]`, dialect);
      return (cursor, problems) => {
        if (!cursor.enters(Byte.openBracket)) return cursor.passesNull() ? undefined : wrong(cursor, path, problems);
        let last: Read<T | null> = null;
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
