import { WITHDRAWN } from './required-fields.js';

/** Derives a value once per key. WITHDRAWN is cached, too, so that each family that reads the value is withdrawn. */
export function memoize<Key extends object, T>(derive: (key: Key) => T): (key: Key) => T {
  const results = new WeakMap<Key, { readonly value: T } | typeof WITHDRAWN>();
  return (key) => {
    let result = results.get(key);
    if (result === undefined) {
      result = tryDerive(derive, key);
      results.set(key, result);
    }
    if (result === WITHDRAWN) throw WITHDRAWN;
    return result.value;
  };
}

/** Derives a value once per row of an input. */
export function memoizePerRow<Input extends object, Row extends object, T>(
  derive: (input: Input, row: Row) => T,
): (input: Input, row: Row) => T {
  const rowDerivation = memoize((input: Input) => memoize((row: Row) => derive(input, row)));
  return (input, row) => rowDerivation(input)(row);
}

function tryDerive<Key, T>(derive: (key: Key) => T, key: Key): { readonly value: T } | typeof WITHDRAWN {
  try {
    return { value: derive(key) };
  } catch (error) {
    if (error === WITHDRAWN) return WITHDRAWN;
    throw error;
  }
}
