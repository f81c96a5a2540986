/** A computation in parts. It yields where scrapes can be answered in between. */
export type InParts<T> = Generator<undefined, T, undefined>;

/** Runs all parts at once. */
export function runToEnd<T>(parts: InParts<T>): T {
  let part = parts.next();
  while (part.done !== true) part = parts.next();
  return part.value;
}
