/**
 * Derives a value once per key, for values that several families share. When a field is missing or invalid, that is cached
 * too, so that each of these families is withdrawn.
 */
export function memoize<Key extends object, T>(derive: (key: Key) => T): (key: Key) => T {
  const results = new WeakMap<Key, () => T>();
  return (key) => {
    let result = results.get(key);
    if (result === undefined) {
      result = resultOf(() => derive(key));
      results.set(key, result);
    }
    return result();
  };
}

/** Derives a value once per row of an input. */
export function memoizePerRow<Input extends object, Row extends object, T>(
  derive: (input: Input, row: Row) => T,
): (input: Input, row: Row) => T {
  const ofInput = memoize((input: Input) => memoize((row: Row) => derive(input, row)));
  return (input, row) => ofInput(input)(row);
}

/** Calls `derive` once and returns a function that returns or throws what it did. */
function resultOf<T>(derive: () => T): () => T {
  try {
    const value = derive();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
