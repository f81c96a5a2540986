import type { Dialect } from './dialect.js';
import type { Digits } from './decimal.js';
import { WRONG, type Read } from './reading.js';
import { readChainId, readFlag, readNumber, readText } from './scalars.js';

/** What reading a document counts: values of a wrong kind and unknown enum values, by the path of their field. */
export interface Problems {
  readonly invalid: Map<string, number>;
  readonly unknown: Map<string, number>;
}

export function noProblems(): Problems {
  return { invalid: new Map(), unknown: new Map() };
}

/** Reads one value where something stands; `undefined` and `null` never get here. */
type Reader<T> = (json: unknown, problems: Problems) => Read<T>;

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

function scalar<T>(read: (json: unknown) => Read<T>): Shape<T> {
  return {
    compile: (path) => (json, problems) => counted(read(json), path, problems),
    paths: (path) => [path],
  };
}

export interface ObjectShape<F extends Fields> extends Shape<ObjectOf<F>> {
  readonly names: readonly string[];
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
      (json, problems) => {
        if (typeof json !== 'string' && typeof json !== 'number') return counted(WRONG, path, problems);
        const name = typeof json === 'number' ? numbers.get(json) : (valueName(values, json) ?? json);
        if (name !== undefined && known.has(name)) return name;
        problems.unknown.set(path, (problems.unknown.get(path) ?? 0) + 1);
        return OTHER;
      },
    paths: (path) => [path],
  };
}

function valueName(values: Dialect['values'], name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** An object; of its keys only the named ones are read, so a newer node may add others. */
export function object<F extends Fields>(fields: F): ObjectShape<F> {
  const names = Object.keys(fields);
  return {
    names,
    compile: (path, dialect) => {
      const readers = names.map((name) => ({
        name,
        wireName: dialect.fields[name] ?? name,
        read: shapeOf(fields, name).compile(join(path, name), dialect),
      }));
      return (json, problems) => {
        if (!isObject(json)) return counted(WRONG, path, problems);
        const found: Record<string, unknown> = {};
        for (const { name, wireName, read } of readers) {
          const value = json[wireName];
          found[name] = value === undefined || value === null ? undefined : read(value, problems);
        }
        return found as ObjectOf<F>;
      };
    },
    paths: (path) => names.flatMap((name) => shapeOf(fields, name).paths(join(path, name))),
  };
}

export function list<T>(row: Shape<T>): Shape<readonly Read<T>[]> {
  return {
    compile: (path, dialect) => {
      const readRow = row.compile(`${path}[]`, dialect);
      return (json, problems) => {
        if (!Array.isArray(json)) return counted(WRONG, path, problems);
        return json.map((value: unknown) =>
          value === undefined || value === null ? undefined : readRow(value, problems),
        );
      };
    },
    paths: (path) => [path, ...row.paths(`${path}[]`).filter((field) => field !== `${path}[]`)],
  };
}

/** Whether at least one field of the document stands there; otherwise it is another one, such as an error body. */
export function isDocument(
  { names }: { readonly names: readonly string[] },
  json: object,
  { fields }: Dialect,
): boolean {
  return names.some((name) => Object.hasOwn(json, fields[name] ?? name));
}

export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function counted<T>(read: Read<T>, path: string, problems: Problems): Read<T> {
  if (read === WRONG) problems.invalid.set(path, (problems.invalid.get(path) ?? 0) + 1);
  return read;
}

function shapeOf(fields: Fields, name: string): Shape<unknown> {
  const shape = fields[name];
  if (shape === undefined) throw new Error(`no shape for ${name}`);
  return shape;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
