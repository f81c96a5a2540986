import { z } from 'zod';

/** One key of the file: a row of the reference, and what an unknown key is compared with. */
export interface Setting {
  /** As in `targets[].bridge.url`; `[]` stands for every entry of a list, `<name>` for every name in a mapping. */
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  /** As one would write it. */
  readonly default?: string;
  readonly description?: string;
  /** What people call it where that is not its path: the name of a flag. */
  readonly title?: string;
}

/** Stands in a path for every name somebody chooses. */
export const ANY_NAME = '<name>';

type About = Omit<Setting, 'type'>;

/** Every key of a schema, in its order. */
export function listSettings(schema: z.ZodType): Setting[] {
  return describe(schema, { path: '', required: true }).slice(1);
}

function describe(schema: unknown, given: About): Setting[] {
  const about = { ...(schema instanceof z.ZodType && named(schema)), ...given };
  if (schema instanceof z.ZodPrefault) {
    return describe(schema.unwrap(), { ...about, required: false, default: written(schema.def.defaultValue) });
  }
  if (schema instanceof z.ZodExactOptional) return describe(schema.unwrap(), { ...about, required: false });
  if (schema instanceof z.ZodPipe && !(schema.in instanceof z.ZodUnknown)) return describe(schema.in, about);
  if (schema instanceof z.ZodObject) return [{ ...about, type: 'mapping' }, ...describeKeys(schema, about.path)];
  if (schema instanceof z.ZodArray) return describeEntries(schema.element, about);
  if (schema instanceof z.ZodRecord) return describeValues(schema.valueType, about);
  return [{ ...about, type: typeName(schema) }];
}

/** Texts as they are, empty lists and mappings as [] and {}. */
const written = (preset: unknown): string => (typeof preset === 'string' ? preset : JSON.stringify(preset));

/** What the schema says of itself; what is said around it, as of an optional key, comes first. */
function named(schema: z.ZodType): Pick<Setting, 'description' | 'title'> {
  const { description, title } = schema.meta() ?? {};
  return { ...(description !== undefined && { description }), ...(title !== undefined && { title }) };
}

function describeKeys(schema: z.ZodObject, parent: string): Setting[] {
  return Object.entries(schema.shape).flatMap(([key, value]) =>
    describe(value, { path: parent === '' ? key : `${parent}.${key}`, required: true }),
  );
}

function describeEntries(element: unknown, about: About): Setting[] {
  const [entry, ...keys] = describe(element, { path: `${about.path}[]`, required: true });
  return [{ ...about, type: `list of ${entry?.type ?? 'values'}` }, ...keys];
}

/** The keys of such a mapping are names its writer chooses. */
function describeValues(valueType: unknown, about: About): Setting[] {
  const [value, ...keys] = describe(valueType, { path: `${about.path}.${ANY_NAME}`, required: true });
  return [{ ...about, type: `mapping to ${value?.type ?? 'values'}` }, ...keys];
}

function typeName(schema: unknown): string {
  return schema instanceof z.ZodType ? String(schema.meta()?.['type']) : 'value';
}
