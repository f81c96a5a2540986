type Result<T> = { readonly value: T } | { readonly error: unknown };

/**
 * Derives a value once per input, for values that several families share. A withdrawal is cached too, so that it reaches each of
 * these families.
 */
export function memoize<Input extends object, T>(derive: (input: Input) => T): (input: Input) => T {
  const results = new WeakMap<Input, Result<T>>();
  return (input) => cached(results, input, () => derive(input));
}

/** Derives a value once per row of an input. */
export function memoizePerRow<Input extends object, Row extends object, T>(
  derive: (input: Input, row: Row) => T,
): (input: Input, row: Row) => T {
  const resultsOf = memoize((_input: Input) => new WeakMap<Row, Result<T>>());
  return (input, row) => cached(resultsOf(input), row, () => derive(input, row));
}

function cached<Key extends object, T>(results: WeakMap<Key, Result<T>>, key: Key, derive: () => T): T {
  let result = results.get(key);
  if (result === undefined) {
    result = resultOf(derive);
    results.set(key, result);
  }
  if ('error' in result) throw result.error;
  return result.value;
}

function resultOf<T>(derive: () => T): Result<T> {
  try {
    return { value: derive() };
  } catch (error) {
    return { error };
  }
}
