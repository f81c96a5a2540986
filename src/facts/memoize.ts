import { WITHDRAWN } from './required-fields.js';

type Result<T> = { readonly value: T } | typeof WITHDRAWN;

/** Derives a value once per key. WITHDRAWN is kept, too, so that each family that reads the value is withdrawn. */
export function memoize<Key extends object, T>(derive: (key: Key) => T): (key: Key) => T {
  return (key) => deriveOnce(Results.read<typeof derive, T>(key), derive, derive, key);
}

/** Derives a value once per row of an input. */
export function memoizePerRow<Input extends object, Row extends object, T>(
  derive: (input: Input, row: Row) => T,
): (input: Input, row: Row) => T {
  const readResults = memoize((input: Input) => ({
    results: new Map<Row, Result<T>>(),
    deriveRow: (row: Row) => derive(input, row),
  }));
  return (input, row) => {
    const { results, deriveRow } = readResults(input);
    return deriveOnce(results, row, deriveRow, row);
  };
}

/** The memoized result with this id; derives it first if there is none. */
function deriveOnce<Id, Key, T>(results: Map<Id, Result<T>>, id: Id, derive: (key: Key) => T, key: Key): T {
  let result = results.get(id);
  if (result === undefined) {
    result = tryDerive(derive, key);
    results.set(id, result);
  }
  if (result === WITHDRAWN) throw WITHDRAWN;
  return result.value;
}

function tryDerive<Key, T>(derive: (key: Key) => T, key: Key): Result<T> {
  try {
    return { value: derive(key) };
  } catch (error) {
    if (error === WITHDRAWN) return WITHDRAWN;
    throw error;
  }
}

/** Adds private fields to an existing object. Spreading, enumerating and comparing ignore them. */
// oxlint-disable-next-line typescript/no-extraneous-class -- only a constructor can return the object
class Existing {
  constructor(object: object) {
    return object;
  }
}

/**
 * The values derived from an object, by the function that derives them. They are stored in the object itself: a minor
 * garbage collection keeps what the values of a WeakMap refer to, here whole documents, until the next major one. With
 * a WeakMap, ten targets take a tenth more CPU time and 40 MiB more at the peak (`npm run bench -- pace`).
 */
class Results extends Existing {
  readonly #results = new Map<unknown, unknown>();

  static read<Key, T>(object: object): Map<Key, Result<T>> {
    const results = #results in object ? object.#results : new Results(object).#results;
    // A function is always read with the type of its own result.
    return results as Map<Key, Result<T>>;
  }
}
