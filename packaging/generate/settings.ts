import { z } from 'zod';
import { configSchema } from '../../src/config/config.js';
import { webSchema } from '../../src/server/web-config.js';

/* The keys of files, from the JSON schemas of their zod schemas. */

/** The JSON schema of the configuration file, with which editors complete and check it. */
export const configJsonSchema = {
  title: 'Configuration file of bridge-exporter',
  ...z.toJSONSchema(configSchema, { io: 'input' }),
};

export interface Setting {
  /** `targets[].bridge.url`: `[]` stands for every entry of a list, `<name>` for every name in a mapping. */
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly default?: string;
  readonly description?: string;
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

/** The schemas of entries or values, with what stands for them in a path. */
function inner({ items, additionalProperties, anyOf = [] }: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  const values = isSchema(additionalProperties) ? [[`.<name>`, additionalProperties] as const] : [];
  return [
    ...(isSchema(items) && !Array.isArray(items) ? [['[]', items] as const] : []),
    ...values,
    ...anyOf.map((one) => ['', one] as const),
  ];
}

function typeOf(schema: JsonSchema): string {
  const { title, enum: choices, const: only, type, anyOf, properties, items } = schema;
  if (title !== undefined) return title;
  if (anyOf) return anyOf.map((one) => typeOf(one)).join(' | ');
  if (choices) return choices.join(' | ');
  const [[, entry] = []] = inner(schema);
  if (entry) return `${items === undefined ? 'mapping to' : 'list of'} ${typeOf(entry)}`;
  return String(only ?? (properties ? 'mapping' : type));
}

function keysOf(schema: JsonSchema, parent: string): Setting[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]): Setting[] => {
    if (!isSchema(property)) return [];
    const path = parent === '' ? name : `${parent}.${name}`;
    const { default: preset, description } = property;
    const setting = {
      path,
      type: typeOf(property),
      required: schema.required?.includes(name) === true,
      ...(preset !== undefined && { default: typeof preset === 'string' ? preset : JSON.stringify(preset) }),
      ...(description !== undefined && { description }),
    };
    return [setting, ...keysOf(property, path)];
  });
  return [...own, ...inner(schema).flatMap(([segment, each]) => keysOf(each, parent + segment))];
}

export const configSettings = keysOf(configJsonSchema, '');
export const webSettings = keysOf(z.toJSONSchema(webSchema, { io: 'input' }), '');
