import { INVALID, validOrUndefined } from './field.js';
import { readField, structureOf, UNKNOWN_VALUE, type FieldSchema } from './fields.js';

/* Reads a response body by the schema of its document. */

export interface FieldErrors {
  /** Number of invalid values by the path of their field. */
  readonly invalid: ReadonlyMap<string, number>;
  /** Number of unknown enum values by the path of their field. */
  readonly unknown: ReadonlyMap<string, number>;
  /** Paths of missing fields outside of rows. */
  readonly missing: ReadonlySet<string>;
}

export const NO_FIELD_ERRORS: FieldErrors = { invalid: new Map(), unknown: new Map(), missing: new Set() };

export type DocumentResult<T> =
  /** `value` is `undefined` when the JSON is valid but is another document. */
  | { readonly ok: true; readonly value: T | undefined; readonly errors: FieldErrors; readonly isDense?: boolean }
  | UnreadableDocument;

/** The message does not name the document. Only answers of a contract have the reasons `schema` and `rate_limited`. */
export interface UnreadableDocument {
  readonly ok: false;
  readonly reason: 'not_json' | 'too_large' | 'schema' | 'rate_limited';
  readonly message: string;
  readonly isDense?: boolean;
}

export function unreadable(reason: UnreadableDocument['reason'], message: string): UnreadableDocument {
  return { ok: false, reason, message };
}

/** Reads a whole response body with at most `maxValues` JSON values. */
export function readDocument<T>(schema: FieldSchema<T>, body: Uint8Array, maxValues: number): DocumentResult<T> {
  const parsed = parseJson(body, maxValues);
  if (!parsed.ok) return parsed;
  const { json, isDense } = parsed;
  const { value, hasWrongValues } = readField(schema, json);
  const errors = errorsOf(schema, value, hasWrongValues);
  return { ok: true, value: validOrUndefined(value), errors, isDense };
}

/** `isDense`: the body has so many values for its size that it is no real document; JSON.parse takes seconds for some dense bodies. */
type ParsedJson = { readonly ok: true; readonly json: unknown; readonly isDense: boolean } | UnreadableDocument;

const DENSE_BYTES_PER_VALUE = 16;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Parses a body with at most `maxValues` values. Messages do not quote the body. */
export function parseJson(body: Uint8Array, maxValues: number): ParsedJson {
  if (body.length === 0) return unreadable('not_json', 'empty body');
  // A value takes at least one byte: `[`.
  const values = body.length > maxValues ? countValues(body) : 0;
  const isDense = values > body.length / DENSE_BYTES_PER_VALUE;
  if (values > maxValues) {
    const message = `${values} JSON values are more than ${maxValues} (poll.max_body_size / 24, and the heap)`;
    return { ok: false, reason: 'too_large', message, isDense };
  }
  let text: string;
  try {
    text = decoder.decode(body);
  } catch {
    return { ok: false, reason: 'not_json', message: 'not valid UTF-8', isDense };
  }
  try {
    return { ok: true, json: JSON.parse(text), isDense };
  } catch (error) {
    const [, position] = /at position (\d+)/.exec(String(error)) ?? [];
    const where = position === undefined ? '' : ` at character ${position}`;
    return { ok: false, reason: 'not_json', message: `not valid JSON${where}`, isDense };
  }
}

/** 1 for each byte that begins a value: `,`, `[` and `{`. */
const BEGINS_VALUE = new Uint8Array(256);
for (const character of ',[{') BEGINS_VALUE[character.charCodeAt(0)] = 1;

/**
 * An upper bound of the number of JSON values of a body, because characters in strings count, too. JSON.parse builds all values: a hostile body
 * of 32 MiB can have 16 million, which take gigabytes. Real documents have a value per 31 to 41 bytes.
 */
export function countValues(body: Uint8Array): number {
  let count = 1;
  // oxlint-disable-next-line typescript/prefer-for-of -- an iterator takes ten times as long
  for (let offset = 0; offset < body.length; offset += 1) count += BEGINS_VALUE[body[offset] ?? 0] ?? 0;
  return count;
}

/** The errors in a value. Lists have tens of thousands of rows, and are searched only if the read had wrong values. */
function errorsOf(schema: FieldSchema, value: unknown, hasWrongValues: boolean): FieldErrors {
  const invalid = new Map<string, number>();
  const unknown = new Map<string, number>();
  const missing = new Set<string>();
  const visit = (fieldSchema: FieldSchema, path: string, field: unknown, isInRow: boolean): void => {
    const { isEnumeration, fields, row } = structureOf(fieldSchema);
    if (field === undefined) {
      if (!isInRow && path !== '') missing.add(path);
    } else if (field === INVALID) increment(invalid, path);
    else if (field === UNKNOWN_VALUE && isEnumeration === true) increment(unknown, path);
    else if (Array.isArray(field)) {
      if (row !== undefined && hasWrongValues) for (const entry of field) visit(row, `${path}[]`, entry, true);
    } else if (fields !== undefined && typeof field === 'object' && field !== null) {
      for (const [name, ofField] of Object.entries(fields)) {
        visit(ofField, joinPath(path, name), Reflect.get(field, name), isInRow);
      }
    }
  };
  visit(schema, '', value, false);
  return { invalid, unknown, missing };
}

export const MAX_UNRECOGNIZED_FIELDS = 20;
const MAX_UNRECOGNIZED_KEY_CHARACTERS = 64;

/** Paths of keys that a schema does not have, at most `MAX_UNRECOGNIZED_FIELDS`. */
export function unrecognizedFields(schema: FieldSchema, json: unknown): ReadonlySet<string> {
  const paths = new Set<string>();
  const visit = (fieldSchema: FieldSchema, path: string, value: unknown): void => {
    const { fields, aliases = {}, ignored = [], row } = structureOf(fieldSchema);
    if (paths.size >= MAX_UNRECOGNIZED_FIELDS || typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      if (row !== undefined) for (const entry of value) visit(row, `${path}[]`, entry);
    } else if (fields !== undefined) {
      for (const [key, entry] of Object.entries(value)) {
        const name = (Object.hasOwn(aliases, key) && aliases[key]) || key;
        const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (field !== undefined) visit(field, joinPath(path, name), entry);
        else if (!ignored.includes(name) && paths.size < MAX_UNRECOGNIZED_FIELDS) {
          paths.add(joinPath(path, key.slice(0, MAX_UNRECOGNIZED_KEY_CHARACTERS)));
        }
      }
    }
  };
  visit(schema, '', json);
  return paths;
}

function increment(counts: Map<string, number>, path: string): void {
  counts.set(path, (counts.get(path) ?? 0) + 1);
}

function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
