import fc from 'fast-check';
import type { Json, Row } from './documents.js';

/** The keys and list positions from the top of a document to one of its values. */
export type Path = readonly (string | number)[];

export interface Corruption {
  readonly path: Path;
  readonly document: Row;
}

export function pathsOf(json: Json, above: Path = []): readonly Path[] {
  const children: readonly [string | number, Json][] = Array.isArray(json)
    ? [...json.entries()]
    : typeof json === 'object' && json !== null
      ? Object.entries(json)
      : [];
  return children.flatMap(([key, value]) => [[...above, key], ...pathsOf(value, [...above, key])]);
}

/** The document with another value at the path, or without one there. */
function replaced(json: Json, [key, ...below]: Path, value: Json | undefined): Json {
  if (key === undefined) return value ?? null;
  if (Array.isArray(json)) {
    return json.map((element: Json, at) => (at === key ? replaced(element, below, value) : element));
  }
  const entries = Object.entries(json as Row).flatMap(([name, old]): [string, Json][] => {
    if (name !== key) return [[name, old]];
    return below.length === 0 && value === undefined ? [] : [[name, replaced(old, below, value)]];
  });
  return Object.fromEntries(entries);
}

/** `undefined` drops the field; in a list it leaves null, as a row cannot be missing. */
const wrong = fc.constantFrom<Json | undefined>(
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

/** The same document with one field dropped, or replaced by a value most likely of a wrong kind. */
export function corrupted(document: Row): fc.Arbitrary<Corruption> {
  const paths = pathsOf(document);
  return fc.record({ path: fc.constantFrom(...paths), value: wrong }).map(({ path, value }) => ({
    path,
    document: replaced(document, path, value) as Row,
  }));
}

/** The same with up to three such fields. */
export function corruptedOften(document: Row): fc.Arbitrary<Row> {
  const again = (times: number, row: Row): fc.Arbitrary<Row> =>
    times === 0 ? fc.constant(row) : corrupted(row).chain((corruption) => again(times - 1, corruption.document));
  return fc.integer({ min: 1, max: 3 }).chain((times) => again(times, document));
}
