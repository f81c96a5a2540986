import { WITHDRAWN } from './required-fields.js';

/**
 * Derives a value once per key, for values that several families share. When a field is missing or invalid, that is cached
 * too, so that each of these families is withdrawn.
 */
export function memoize<Key extends object, T>(derive: (key: Key) => T): (key: Key) => T {
  const results = new WeakMap<Key, { readonly value: T } | typeof WITHDRAWN>();
  return (key) => {
    let known = results.get(key);
    if (known === undefined) {
      known = resultOf(derive, key);
      results.set(key, known);
    }
    if (known === WITHDRAWN) throw WITHDRAWN;
    return known.value;
  };
}

/** Derives a value once per row of an input. */
export function memoizePerRow<Input extends object, Row extends object, T>(
  derive: (input: Input, row: Row) => T,
): (input: Input, row: Row) => T {
  const ofInput = memoize((input: Input) => memoize((row: Row) => derive(input, row)));
  return (input, row) => ofInput(input)(row);
}

function resultOf<Key, T>(derive: (key: Key) => T, key: Key): { readonly value: T } | typeof WITHDRAWN {
  try {
    return { value: derive(key) };
  } catch (error) {
    if (error === WITHDRAWN) return WITHDRAWN;
    throw error;
  }
}
