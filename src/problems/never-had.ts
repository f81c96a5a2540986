import { isValid, type Field, type FieldSchema } from '../chain/fields.js';
import { orElse } from '../facts/required-fields.js';
import type { Evidence, Problem } from './problem.js';

/*
 * The fields that no document of an endpoint has had, such as those that older nodes or other dialects lack. A problem
 * that reads such a field only sometimes, as while there is a batch, does not become unjudged: nothing has changed.
 */

type Values = Readonly<Record<string, Field<unknown>>>;

const HEIGHT = 'height';

/** The fields that neither this document nor one before has had. */
export function neverHadAfter(before: readonly string[] | undefined, { input, content }: Evidence): readonly string[] {
  if (content === undefined) return [];
  const values = input as unknown as Values;
  const absent = absentFields(content.schema, valuesOf(values[content.key]));
  const all = isValid(values[HEIGHT]) ? absent : [...absent, HEIGHT];
  return before === undefined ? all : before.filter((name) => all.includes(name));
}

function valuesOf(value: Field<unknown>): Values {
  return isValid(value) && typeof value === 'object' ? (value as Values) : {};
}

function absentFields({ fields = {} }: FieldSchema, values: Values, path = ''): readonly string[] {
  return Object.entries(fields).flatMap(([name, schema]) => {
    const value = values[name];
    if (!isValid(value)) return [`${path}${name}`];
    return schema.fields === undefined ? [] : absentFields(schema, valuesOf(value), `${path}${name}.`);
  });
}

/** Whether a field that was never there withdraws the problem: the last field that `find` reads before it throws. */
export function isWithdrawnByNeverHad(
  problem: Problem,
  evidence: Evidence,
  mark: unknown,
  neverHad: readonly string[],
): boolean {
  const { content } = evidence;
  if (content === undefined || neverHad.length === 0) return false;
  let last = '';
  const observed = (values: Values, path: string): Values =>
    new Proxy(values, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof name !== 'string') return value;
        last = `${path}${name}`;
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        return isObject ? observed(value as Values, `${last}.`) : value;
      },
    });
  const input = evidence.input as unknown as Values;
  const copy = { ...input, [content.key]: observed(valuesOf(input[content.key]), '') };
  Object.defineProperty(copy, HEIGHT, {
    enumerable: true,
    get: () => {
      last = HEIGHT;
      return input[HEIGHT];
    },
  });
  return orElse(
    () => {
      problem.find({ ...evidence, input: copy as unknown as Evidence['input'] }, mark);
      return false;
    },
    () => neverHad.includes(last) || neverHad.some((name) => last.startsWith(`${name}.`)),
  );
}
