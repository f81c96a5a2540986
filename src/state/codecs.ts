import { z } from 'zod';
import { decimalString, type Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';

/* How values are written as JSON that it does not have. */

/** The codecs of points in time, which are written in Unix seconds. */
export interface TimeCodecs {
  readonly instant: z.ZodType<Instant, number>;
  readonly seconds: z.ZodType<number, number>;
}

/** A time in the future is now: the clock was set back. */
export function createTimeCodecs(now: Instant): TimeCodecs {
  const instant = z.codec(z.number(), z.custom<Instant>(), {
    decode: (written) => {
      const epochSeconds = Math.min(written, now.epochSeconds);
      return { epochSeconds, monotonicMs: now.monotonicMs - (now.epochSeconds - epochSeconds) * 1000 };
    },
    encode: ({ epochSeconds }) => Math.round(epochSeconds * 1000) / 1000,
  });
  const seconds = z.codec(z.number(), z.number(), {
    decode: (written) => Math.min(written, now.epochSeconds),
    encode: (time) => time,
  });
  return { instant, seconds };
}

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

export function set<Value extends z.ZodType>(value: Value) {
  return z.codec(z.array(value), z.custom<ReadonlySet<z.output<Value>>>(), {
    decode: (values) => new Set(values),
    encode: (values) => Array.from(values),
  });
}
