import type { Dialect } from '../chain/dialects.js';
import type { JsonCursor } from './json-cursor.js';
import type { Field } from './field.js';

/** What reading a document counts: values of a wrong kind and unknown enum values, by the path of their field. */
export interface FieldProblems {
  readonly invalid: Map<string, number>;
  readonly unknown: Map<string, number>;
}

export function emptyProblems(): FieldProblems {
  return { invalid: new Map(), unknown: new Map() };
}

/** Reads the value that the cursor stands before. */
export type Reader<T> = (cursor: JsonCursor, problems: FieldProblems) => Field<T>;

/**
 * The form of a part of a document. `compile` gives its reader for a dialect, with the path of the field worked out once and
 * not per row; `paths` lists the fields read below it, in the spec's names.
 */
export interface Shape<T> {
  readonly compile: (path: string, dialect: Dialect) => Reader<T>;
  readonly paths: (path: string) => readonly string[];
}

export type ValueOf<S> = S extends Shape<infer T> ? T : never;

/** Counts one more at the path of a field. */
export function count(counts: Map<string, number>, path: string): void {
  counts.set(path, (counts.get(path) ?? 0) + 1);
}

/** The path of a field of what is at `path`. */
export function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
