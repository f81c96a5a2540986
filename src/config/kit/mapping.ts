import { z } from 'zod';
import * as value from './values.js';

/* The building blocks of the schema: mappings, lists, and the checks that look at several keys. */

type Subject = (raw: unknown) => string;

export function mapping<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  subject: Subject = value.describeValue,
  example = '',
) {
  return z.strictObject(shape, {
    error: ({ input }) => `${subject(input)} — expected a mapping with ${Object.keys(shape).join(', ')}${example}`,
  });
}

export function list<Entry extends z.ZodType>(entry: Entry, subject: Subject = value.describeValue) {
  return z.array(entry, { error: ({ input }) => `${subject(input)} — expected a list` });
}

/** For checks that run even when something beside them is wrong, so that all problems come at once; they trust no type. */
export const always = { when: () => true };

/** Matches a key that was not written; one that was, and is wrong, has its own problem. */
export const absent = z.undefined().optional();

/** The keys of a mapping that were written, well or badly; `undefined` for what is no mapping and has its own problem. */
export function presentKeys(keys: unknown): ReadonlySet<string> | undefined {
  const { data } = z.looseObject({}).safeParse(keys);
  return data && new Set(Object.keys(data).filter((key) => data[key] !== undefined));
}

export const rejectBoth = (first: string, second: string) => (keys: unknown, context: z.RefinementCtx) => {
  const written = presentKeys(keys);
  if (!written?.has(first) || !written.has(second)) return;
  const message = `is given beside ${first} — expected one or the other`;
  context.addIssue({ code: 'custom', path: [second], message });
};

/** A text is given as it is, or in a file of its own. */
export const requireOne = (key: string) => (keys: unknown, context: z.RefinementCtx) => {
  const written = presentKeys(keys);
  if (!written || written.has(key) || written.has(`${key}_file`)) return;
  context.addIssue({ code: 'custom', path: [key], message: `is missing — expected ${key} or ${key}_file` });
};
