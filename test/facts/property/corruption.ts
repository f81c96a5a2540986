import fc from 'fast-check';
import type { Json, JsonObject } from '../../support/json.js';

/** Keys and list indexes from the root of a document to a value. */
export type Path = readonly (string | number)[];

export function pathsOf(json: Json, parent: Path = []): readonly Path[] {
  const children: readonly [string | number, Json][] = Array.isArray(json)
    ? [...json.entries()]
    : typeof json === 'object' && json !== null
      ? Object.entries(json)
      : [];
  return children.flatMap(([key, value]) => [[...parent, key], ...pathsOf(value, [...parent, key])]);
}

/** The document with another value at the path. `undefined` removes a field and replaces a list entry with null. */
export function replace(json: Json, [key, ...below]: Path, value: Json | undefined): Json {
  if (key === undefined) return value ?? null;
  if (Array.isArray(json)) {
    return json.map((element: Json, index) => (index === key ? replace(element, below, value) : element));
  }
  const entries = Object.entries(json as JsonObject).flatMap(([name, old]): [string, Json][] => {
    if (name !== key) return [[name, old]];
    return below.length === 0 && value === undefined ? [] : [[name, replace(old, below, value)]];
  });
  return Object.fromEntries(entries);
}

/** Replacements for a value. `undefined` removes a field and replaces a list entry with null. */
const corruptValue = fc.constantFrom<Json | undefined>(
  undefined,
  undefined,
  null,
  '',
  'wrong',
  true,
  7,
  [],
  {},
  [null],
  '9'.repeat(101),
);

/** Removes one field of the document or replaces it with a value that mostly has the wrong type. */
function corruptionOf(document: JsonObject): fc.Arbitrary<JsonObject> {
  const path = fc.constantFrom(...pathsOf(document));
  return fc.tuple(path, corruptValue).map(([at, value]) => replace(document, at, value) as JsonObject);
}

/** A document with one to three missing or invalid fields. */
export function corruptedDocument(document: JsonObject): fc.Arbitrary<JsonObject> {
  const corrupt = (times: number, current: JsonObject): fc.Arbitrary<JsonObject> =>
    times === 0 ? fc.constant(current) : corruptionOf(current).chain((next) => corrupt(times - 1, next));
  return fc.integer({ min: 1, max: 3 }).chain((times) => corrupt(times, document));
}
