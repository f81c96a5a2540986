import { z } from 'zod';
import { describeValue, type ValueType } from './value-types.js';

/* zod schemas for the scalars, mappings and lists of a YAML file, with messages that name the expected type. */

export function scalar<T>({ name, parse }: ValueType<T>) {
  return z
    .unknown()
    .transform((raw, context): T => {
      const result = referenceProblem(raw) ?? parse(raw);
      if (result.ok) return result.value;
      context.addIssue(result.problem);
      return z.NEVER;
    })
    .meta({ type: name });
}

/**
 * As in Prometheus, environment variables are not expanded. Without this check, the reference would be sent to nodes. Its name is
 * not quoted: it may be a part of a secret.
 */
function referenceProblem(raw: unknown): { readonly ok: false; readonly problem: string } | undefined {
  if (typeof raw !== 'string' || !/\$\{[A-Za-z_]\w*\}/.test(raw)) return undefined;
  const expected = 'expected the value itself; a secret can be read from a file, for example with password_file';
  return { ok: false, problem: `contains \${…}: environment variables are not expanded — ${expected}` };
}

/** A mapping that can be written as the value of one of its keys alone. */
export function shorthand<Shape extends z.core.$ZodLooseShape>(key: string, schema: z.ZodObject<Shape>) {
  return z.preprocess((input) => (typeof input === 'object' && input !== null ? input : { [key]: input }), schema);
}

/** `describe` describes an input that is not a mapping; `describeType` does not quote it. `expected` is the keys by default. */
export function mapping<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  describe = describeValue,
  expected: (input: unknown) => string = () => `a mapping with ${Object.keys(shape).join(', ')}`,
) {
  return z.strictObject(shape, { error: ({ input }) => `${describe(input)} — expected ${expected(input)}` });
}

export function list<Entry extends z.ZodType>(entry: Entry, describe = describeValue, example = '') {
  return z.array(entry, {
    error: ({ input }) => {
      // The only entry of a list is often written without brackets.
      const isEntry = describe === describeValue && typeof input === 'string' && /^[\w./:*-]{1,60}$/.test(input);
      const advice = isEntry ? `did you mean [${input}]?` : `expected a list${example && ` such as ${example}`}`;
      return `${describe(input)} — ${advice}`;
    },
  });
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
