import { z } from 'zod';
import { describeValue, type ValueType } from './value-types.js';

/* zod schemas for the scalars, mappings and lists of a YAML file, with messages that name the expected type. */

export function scalar<T>({ name, parse }: ValueType<T>) {
  return z
    .unknown()
    .transform((raw, context): T => {
      const result = parse(raw);
      if (result.ok) return result.value;
      context.addIssue(result.problem);
      return z.NEVER;
    })
    .meta({ type: name });
}

/** `describe` describes an input that is not a mapping; `describeType` does not quote it. */
export function mapping<Shape extends z.core.$ZodLooseShape>(shape: Shape, describe = describeValue, example = '') {
  return z.strictObject(shape, {
    error: ({ input }) => `${describe(input)} — expected a mapping with ${Object.keys(shape).join(', ')}${example}`,
  });
}

export function list<Entry extends z.ZodType>(entry: Entry, describe = describeValue) {
  return z.array(entry, { error: ({ input }) => `${describe(input)} — expected a list` });
}

/**
 * Option of a `superRefine` that runs even if other checks have failed, so that all problems are reported at once. Such a
 * check cannot rely on the type of its input.
 */
export const evenAfterOtherProblems = { when: () => true };

/** The keys that a mapping sets, with valid values or not; `undefined` if the input is not a mapping. */
export function presentKeys(input: unknown): ReadonlySet<string> | undefined {
  const { data } = z.looseObject({}).safeParse(input);
  return data && new Set(Object.keys(data).filter((key) => data[key] !== undefined));
}
