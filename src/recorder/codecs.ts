import { z } from 'zod';
import { decimalString, type Numeral } from '../chain/numeral.js';

/* How the header of a recording has values that JSON does not have. */

export const numeral = z.union([z.number().int(), decimalString]) satisfies z.ZodType<Numeral>;

/** `undefined` is written as null. */
export function maybe<Value extends z.ZodType>(value: Value) {
  return z.codec(z.nullable(value), z.custom<z.output<Value> | undefined>(), {
    decode: (found) => found ?? undefined,
    encode: (found) => (found ?? null) as z.output<Value> | null,
  });
}

export function list<Value extends z.ZodType>(value: Value) {
  return z.array(value).readonly();
}

/** A list of pairs. */
export function map<Key extends z.ZodType, Value extends z.ZodType>(key: Key, value: Value) {
  type Pair = [z.output<Key>, z.output<Value>];
  // The type of a tuple says nothing for types that are not known yet.
  const pairs = z.array(z.tuple([key, value])) as z.ZodType as z.ZodType<Pair[], [z.input<Key>, z.input<Value>][]>;
  return z.codec(pairs, z.custom<ReadonlyMap<z.output<Key>, z.output<Value>>>(), {
    decode: (entries) => new Map(entries),
    encode: (entries): Pair[] => Array.from(entries),
  });
}
