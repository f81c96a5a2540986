/**
 * A value as JSON. What is remembered of a document is sent between threads with every poll, and a string takes a tenth of the time; a
 * part that the next document leaves as it is has an equal string, and need not be parsed.
 */
export type Packed<T> = string & { readonly __packed: T };

export function pack<T>(value: T): Packed<T> {
  return JSON.stringify(value) as Packed<T>;
}

export function unpack<T>(packed: Packed<T>): T {
  return JSON.parse(packed);
}
