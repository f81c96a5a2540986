import { WITHDRAWN } from './required-fields.js';

/** Derives a value once per key. WITHDRAWN is cached, too, so that each family that reads the value is withdrawn. */
export function memoize<Key extends object, T>(derive: (key: Key) => T): (key: Key) => T {
  const results = new WeakMap<Key, Result<T>>();
  return (key) => derivedOnce(results, key, derive);
}

/** Derives a value once per row of an input. The results go with those of the input: the collection of weak keys takes its time for each row. */
export function memoizePerRow<Input extends object, Row extends object, T>(
  derive: (input: Input, row: Row) => T,
): (input: Input, row: Row) => T {
  const resultsOf = memoize((_input: Input) => new Map<Row, Result<T>>());
  return (input, row) => derivedOnce(resultsOf(input), row, (each) => derive(input, each));
}

type Result<T> = { readonly value: T } | typeof WITHDRAWN;

interface Results<Key, T> {
  get(key: Key): Result<T> | undefined;
  set(key: Key, result: Result<T>): unknown;
}

function derivedOnce<Key, T>(results: Results<Key, T>, key: Key, derive: (key: Key) => T): T {
  let result = results.get(key);
  if (result === undefined) {
    result = resultOf(derive, key);
    results.set(key, result);
  }
  if (result === WITHDRAWN) throw WITHDRAWN;
  return result.value;
}

function resultOf<Key, T>(derive: (key: Key) => T, key: Key): Result<T> {
  try {
    return { value: derive(key) };
  } catch (error) {
    if (error === WITHDRAWN) return WITHDRAWN;
    throw error;
  }
}
