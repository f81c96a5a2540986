type Result<T> = { readonly value: T } | { readonly thrown: unknown };

const RESULTS: unique symbol = Symbol('what was derived from this');

interface Input {
  [RESULTS]?: Map<unknown, Result<unknown>>;
}

/**
 * Derives once for each input what several families share. A withdrawal is remembered as well, so that it reaches every one
 * of them. The results are kept with the input itself: in a WeakMap, which is older than its entries, they would outlive the
 * document in every collection of young memory, and with them all the rows they refer to.
 */
export function memoize<T extends object, Derived>(derive: (input: T) => Derived): (input: T) => Derived {
  return (input: T & Input) => {
    const results = (input[RESULTS] ??= new Map());
    // Only what is put here is found under this function.
    let result = results.get(derive) as Result<Derived> | undefined;
    if (result === undefined) {
      result = resultOf(() => derive(input));
      results.set(derive, result);
    }
    return told(result);
  };
}

/** As `once`, for each row of an input. */
export function memoizePerRow<T extends object, Row, Derived>(
  derive: (input: T, row: Row) => Derived,
): (input: T, row: Row) => Derived {
  const resultsOf = memoize((_input: T) => new Map<Row, Result<Derived>>());
  return (input, row) => {
    const results = resultsOf(input);
    let result = results.get(row);
    if (result === undefined) {
      result = resultOf(() => derive(input, row));
      results.set(row, result);
    }
    return told(result);
  };
}

function told<T>(result: Result<T>): T {
  if ('thrown' in result) throw result.thrown;
  return result.value;
}

function resultOf<T>(derive: () => T): Result<T> {
  try {
    return { value: derive() };
  } catch (thrown) {
    return { thrown };
  }
}
