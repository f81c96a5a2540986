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
export function once<T extends object, Derived>(derive: (input: T) => Derived): (input: T) => Derived {
  return (input: T & Input) => {
    const results = (input[RESULTS] ??= new Map());
    // Only what is put here is found under this function.
    let result = results.get(derive) as Result<Derived> | undefined;
    if (result === undefined) {
      result = resultOf(() => derive(input));
      results.set(derive, result);
    }
    if ('thrown' in result) throw result.thrown;
    return result.value;
  };
}

function resultOf<T>(derive: () => T): Result<T> {
  try {
    return { value: derive() };
  } catch (thrown) {
    return { thrown };
  }
}
