/**
 * Derives once for each input what several families share. A withdrawal is remembered as well, so that it reaches every one
 * of them.
 */
export function once<Input extends object, T>(derive: (input: Input) => T): (input: Input) => T {
  const known = new WeakMap<Input, { readonly value: T } | { readonly thrown: unknown }>();
  return (input) => {
    let result = known.get(input);
    if (result === undefined) {
      try {
        result = { value: derive(input) };
      } catch (thrown) {
        result = { thrown };
      }
      known.set(input, result);
    }
    if ('thrown' in result) throw result.thrown;
    return result.value;
  };
}
