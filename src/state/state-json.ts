import { z } from 'zod';
import type { Instant } from '../clock.js';
import { rememberedSchema, type Remembered } from '../poll/remembered.js';

/*
 * The content of the state file: a line for each endpoint. A `Map` is written as `{"$map": [[key, value]]}`. Times are those of the clocks of the
 * process that has written them. The names of their keys end in `monotonicMs`, `AtMs` and `seconds`; the numbers of marks are Unix seconds or small
 * counts.
 */

/** A change of what is written is another version. */
export const FORMAT_VERSION = 1;

const fileSchema = z.object({
  version: z.literal(FORMAT_VERSION),
  writtenAt: z.object({ epochSeconds: z.number(), monotonicMs: z.number() }),
  endpoints: z.unknown(),
});

export const SEPARATOR = ',\n';
export const END = '\n]}\n';

/** The beginning of the file. */
export function formatBegin(writtenAt: Instant): string {
  return `${JSON.stringify({ version: FORMAT_VERSION, writtenAt }).slice(0, -1)},"endpoints":[\n`;
}

/** What is remembered of an endpoint; `undefined` if it is invalid. */
export function formatEndpoint(remembered: Remembered): string | undefined {
  const { data } = rememberedSchema.safeParse(remembered);
  return data && JSON.stringify(data, (_key, value: unknown) => (value instanceof Map ? { $map: [...value] } : value));
}

/** Reads a file; `undefined` if it is not one of this version. */
export function parseFile(text: string, now: Instant): readonly Remembered[] | undefined {
  const { data: file } = fileSchema.safeParse(parseJson(text));
  if (file === undefined) return undefined;
  // While nothing runs, the wall clock goes on, unless it was set back.
  const pauseMs = Math.max(0, now.epochSeconds - file.writtenAt.epochSeconds) * 1000;
  const shiftMs = now.monotonicMs - file.writtenAt.monotonicMs - pauseMs;
  return z.array(rememberedSchema).safeParse(restored(file.endpoints, '', shiftMs, now)).data;
}

/** `undefined` for a text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A value with the times of this process. A time in the future is now: the clock was set back. */
function restored(value: unknown, key: string, shiftMs: number, now: Instant): unknown {
  const isOfMark = key.startsWith('mark');
  if (typeof value === 'number') {
    if (/^monotonicMs$|AtMs$/.test(key)) return value + shiftMs;
    return isOfMark || /seconds$/i.test(key) ? Math.min(value, now.epochSeconds) : value;
  }
  if (Array.isArray(value)) return value.map((each) => restored(each, key, shiftMs, now));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(
    ([name, each]) => [name, restored(each, isOfMark ? key : name, shiftMs, now)] as const,
  );
  const [[name, first] = []] = entries;
  return name === '$map' && Array.isArray(first) ? new Map(first as [string, unknown][]) : Object.fromEntries(entries);
}
