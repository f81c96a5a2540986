import { z } from 'zod';

/** One key of a configuration file, for the reference and for suggestions. */
export interface SettingDescription {
  /** `targets[].bridge.url`: `[]` stands for every entry of a list, `<name>` for every name in a mapping. */
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  /** In the format of the file. */
  readonly default?: string;
  readonly description?: string;
}

/** Stands in a path for names that the user chooses. */
export const NAME_PLACEHOLDER = '<name>';

type Attributes = Omit<SettingDescription, 'type'>;

/** Every key of a schema, in the order of the schema. */
export function listSettings(schema: z.ZodType): SettingDescription[] {
  const [, ...keys] = describeSchema(schema, { path: '', required: true });
  return keys;
}

function describeSchema(schema: unknown, outer: Attributes): SettingDescription[] {
  const description = schema instanceof z.ZodType ? schema.description : undefined;
  // The description of a wrapper, such as that of an optional key, overrides that of the wrapped schema.
  const attributes: Attributes = { ...(description !== undefined && { description }), ...outer };
  if (schema instanceof z.ZodPrefault) {
    const defaultText = formatDefault(schema.def.defaultValue);
    return describeSchema(schema.unwrap(), { ...attributes, required: false, default: defaultText });
  }
  if (schema instanceof z.ZodExactOptional) return describeSchema(schema.unwrap(), { ...attributes, required: false });
  // A preprocessed schema is a pipe from a transformation.
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodTransform) return describeSchema(schema.out, attributes);
  // A scalar is a pipe from unknown, without an inner schema to describe.
  if (schema instanceof z.ZodPipe && !(schema.in instanceof z.ZodUnknown)) return describeSchema(schema.in, attributes);
  if (schema instanceof z.ZodObject) return [{ ...attributes, type: 'mapping' }, ...describeKeys(schema, outer.path)];
  if (schema instanceof z.ZodArray) return describeEntries(schema.element, attributes);
  if (schema instanceof z.ZodRecord) return describeNames(schema.valueType, attributes);
  return [{ ...attributes, type: schema instanceof z.ZodType ? String(schema.meta()?.['type']) : 'value' }];
}

const formatDefault = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function describeKeys(schema: z.ZodObject, parent: string): SettingDescription[] {
  return Object.entries(schema.shape).flatMap(([key, value]) =>
    describeSchema(value, { path: parent === '' ? key : `${parent}.${key}`, required: true }),
  );
}

function describeEntries(element: unknown, attributes: Attributes): SettingDescription[] {
  const [entry, ...keys] = describeSchema(element, { path: `${attributes.path}[]`, required: true });
  return [{ ...attributes, type: `list of ${entry?.type ?? 'values'}` }, ...keys];
}

function describeNames(valueType: unknown, attributes: Attributes): SettingDescription[] {
  const path = `${attributes.path}.${NAME_PLACEHOLDER}`;
  const [value, ...keys] = describeSchema(valueType, { path, required: true });
  return [{ ...attributes, type: `mapping to ${value?.type ?? 'values'}` }, ...keys];
}
