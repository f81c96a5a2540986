import { z } from 'zod';
import { describeType, isMapping, type ValueType } from './value-types.js';

/*
 * zod schemas of a YAML file, with messages that name the expected type, and the list of their keys for the reference. Scalars and
 * settings are codecs: `parse` reads a file, `z.encode` prints it.
 */

export function scalar<T>({ name, parse, format = (value) => value }: ValueType<T>): z.ZodType<T> {
  return z
    .codec(z.unknown(), z.custom<T>(), {
      decode: (raw, { issues }): T => {
        const result = referenceProblem(raw) ?? parse(raw);
        if (result.ok) return result.value;
        issues.push({ code: 'custom', message: result.problem, input: raw });
        return z.NEVER;
      },
      encode: format,
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

interface Documentation {
  readonly description: string;
  /** The environment variable that sets the key of a single target without a file. A list is separated by commas. */
  readonly variable?: string;
}

/** One key of a mapping: its name in the file and the schema of its value. */
export interface Key<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly schema: Schema;
}

/** A key that is required, or has a default in the format of the file. */
export function key<T>(
  name: string,
  value: ValueType<T> | z.ZodType<T>,
  { default: preset, ...documentation }: Documentation & { readonly default?: {} },
): Key<z.ZodType<T>> {
  const schema = schemaOf(value);
  return { name, schema: (preset === undefined ? schema : schema.prefault(preset)).meta({ ...documentation }) };
}

export function optionalKey<T>(
  name: string,
  value: ValueType<T> | z.ZodType<T>,
  documentation: Documentation,
): Key<z.ZodExactOptional<z.ZodType<T>>>;
export function optionalKey(name: string, value: ValueType<unknown> | z.ZodType, documentation: Documentation): Key {
  // Not `z.exactOptional`, which calls the encoder of the value even if the key is absent.
  return { name, schema: z.optional(schemaOf(value)).meta({ ...documentation }) };
}

const schemaOf = <T>(value: ValueType<T> | z.ZodType<T>): z.ZodType<T> =>
  value instanceof z.ZodType ? value : scalar(value);

export type Keys = Readonly<Record<string, Key>>;

type Output<K extends Keys> = z.output<z.ZodObject<{ [Property in keyof K]: K[Property]['schema'] }>>;
type ReadonlyList<T> = T extends readonly (infer Entry)[] ? readonly Entry[] : T;

/** The settings that a mapping is parsed to: the value of each key under the name of its property. */
export type Settings<K extends Keys> = {
  readonly [Property in keyof Output<K>]: ReadonlyList<Output<K>[Property]>;
};

/** A check of a whole mapping or list, which cannot rely on the type of its input. */
export type Check = (input: unknown, context: z.RefinementCtx) => void;

/** A schema with checks. They run even if a part is invalid, so that all problems are reported at once. */
export function withChecks<Schema extends z.ZodType>(schema: Schema, ...checks: readonly Check[]): Schema {
  return checks.reduce((checked, check) => checked.superRefine(check, { when: () => true }), schema);
}

interface MappingOptions {
  /** What a message expects; by default, the keys. */
  readonly expected?: string;
  readonly checks?: readonly Check[];
}

/**
 * A mapping with these keys, parsed to an object with their properties. A new key needs no other edit: its type, default, check,
 * reference, environment variable and printed form follow from its declaration.
 */
export function settings<K extends Keys>(keys: K, options?: MappingOptions): z.ZodType<Settings<K>>;
export function settings(keys: Keys, { checks = [], expected }: MappingOptions = {}) {
  const names = Object.entries(keys).map(([property, { name }]) => ({ property, name }));
  const shape = Object.fromEntries(Object.values(keys).map(({ name, schema }) => [name, schema]));
  const checked = withChecks(mapping(shape, expected), ...checks);
  const rename = (values: Readonly<Record<string, unknown>>, from: 'name' | 'property', to: 'name' | 'property') =>
    Object.fromEntries(names.map((both) => [both[to], values[both[from]]]).filter(([, value]) => value !== undefined));
  return z.codec(checked, z.custom<Readonly<Record<string, unknown>>>(), {
    decode: (file) => rename(file, 'name', 'property'),
    encode: (values) => rename(values, 'property', 'name'),
  });
}

export function mapping<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  expected = `a mapping with ${Object.keys(shape).join(', ')}`,
) {
  return z.strictObject(shape, { error: expectation(expected) });
}

/** A mapping that can be written as the value of one of its keys alone, and is printed so if it has no other. */
export function shorthand<T>(name: string, schema: z.ZodType<T>): z.ZodType<T> {
  const isCollection = (value: unknown): value is object => typeof value === 'object' && value !== null;
  return z.codec(z.unknown(), schema, {
    decode: (input) => (isCollection(input) ? input : { [name]: input }),
    encode: (file) => {
      const [[only, value] = [], ...others] = isCollection(file) ? Object.entries(file) : [];
      return only === name && others.length === 0 ? value : file;
    },
  });
}

export function list<T>(entry: ValueType<T> | z.ZodType<T>, expected = 'a list'): z.ZodArray<z.ZodType<T>> {
  return z.array(schemaOf(entry), { error: expectation(expected) });
}

/** The message for a mapping or a list that is something else. It is not quoted: it may be a URL with a password. */
export const expectation =
  (expected: string) =>
  ({ input }: { readonly input: unknown }): string =>
    `${describeType(input)} — expected ${expected}`;

/** The keys that a mapping sets, with valid values or not; `undefined` if the input is not a mapping. */
export function presentKeys(input: unknown): ReadonlySet<string> | undefined {
  return isMapping(input) ? new Set(Object.keys(input).filter((name) => input[name] !== undefined)) : undefined;
}

/** Rejects a mapping that sets none of the keys. The problem is at `path`. */
export const requireOneOf =
  (names: readonly string[], message: string, path: readonly string[] = []): Check =>
  (input, context) => {
    const present = presentKeys(input);
    if (!present || names.some((name) => present.has(name))) return;
    // A copy, because zod changes it.
    context.addIssue({ code: 'custom', path: [...path], message });
  };

/** Rejects a mapping that sets both keys. */
export const rejectBoth =
  (first: string, second: string): Check =>
  (input, context) => {
    const present = presentKeys(input);
    if (!present?.has(first) || !present.has(second)) return;
    const message = `cannot be combined with ${first} — expected only one of them`;
    context.addIssue({ code: 'custom', path: [second], message });
  };

/** One key of a file, for the reference, for messages and for the environment. */
export interface SettingDescription {
  /** `targets[].bridge.url`: `[]` stands for every entry of a list, `<name>` for every name in a mapping. */
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  /** In the format of the file. */
  readonly default?: string;
  readonly description?: string;
  readonly variable?: string;
}

/** Stands in a path for names that the user chooses. */
export const NAME_PLACEHOLDER = '<name>';

/** Every key of a schema, in the order of the schema. */
export function listSettings(schema: z.ZodType): SettingDescription[] {
  const [, ...keys] = describeSchema(schema, { path: '', required: true });
  return keys;
}

type Attributes = Omit<SettingDescription, 'type'>;

function describeSchema(schema: unknown, outer: Attributes): SettingDescription[] {
  const { type, description, variable } = (schema instanceof z.ZodType && schema.meta()) || {};
  // The documentation of a wrapper, such as that of an optional key, overrides that of the wrapped schema.
  const attributes: Attributes = {
    ...(description !== undefined && { description }),
    ...(typeof variable === 'string' && { variable }),
    ...outer,
  };
  if (schema instanceof z.ZodPrefault) {
    const preset = schema.def.defaultValue;
    const text = typeof preset === 'string' ? preset : JSON.stringify(preset);
    return describeSchema(schema.unwrap(), { ...attributes, required: false, default: text });
  }
  if (schema instanceof z.ZodOptional) return describeSchema(schema.unwrap(), { ...attributes, required: false });
  if (schema instanceof z.ZodPipe && type === undefined) {
    // A shorthand is a codec from unknown, other codecs are from what the file contains.
    return describeSchema(schema.in instanceof z.ZodUnknown ? schema.out : schema.in, attributes);
  }
  if (schema instanceof z.ZodObject) return [{ ...attributes, type: 'mapping' }, ...describeKeys(schema, outer.path)];
  if (schema instanceof z.ZodArray) return describeItems('list of', schema.element, '[]', attributes);
  if (schema instanceof z.ZodRecord) {
    return describeItems('mapping to', schema.valueType, `.${NAME_PLACEHOLDER}`, attributes);
  }
  return [{ ...attributes, type: typeof type === 'string' ? type : 'value' }];
}

function describeKeys(schema: z.ZodObject, parent: string): SettingDescription[] {
  return Object.entries(schema.shape).flatMap(([name, value]) =>
    describeSchema(value, { path: parent === '' ? name : `${parent}.${name}`, required: true }),
  );
}

/** `segment` stands for every item in the paths of its keys. */
function describeItems(prefix: string, schema: unknown, segment: string, attributes: Attributes): SettingDescription[] {
  const [item, ...keys] = describeSchema(schema, { path: attributes.path + segment, required: true });
  return [{ ...attributes, type: `${prefix} ${item?.type ?? 'values'}` }, ...keys];
}
