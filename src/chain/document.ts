import type { InParts } from '../tasks.js';
import { MEBIBYTE } from '../units.js';
import { INVALID, validOrUndefined, UNKNOWN_VALUE, type FieldSchema } from './fields.js';

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
  { readonly ok: true; readonly value: T | undefined; readonly errors: FieldErrors } | UnreadableDocument;

/** The message does not name the document. Only answers of a contract have the reasons `schema` and `rate_limited`. */
interface UnreadableDocument {
  readonly ok: false;
  readonly reason: 'not_json' | 'too_large' | 'schema' | 'rate_limited';
  readonly message: string;
  /** Whether the body is the beginning of a document. */
  readonly isTruncated?: boolean;
}

export function unreadable(reason: UnreadableDocument['reason'], message: string): UnreadableDocument {
  return { ok: false, reason, message };
}

/** Reads a whole response body. `maxValues` is the number of JSON values that fit into the heap. */
export function* readDocument<T>(
  schema: FieldSchema<T>,
  body: Uint8Array,
  maxValues?: number,
): InParts<DocumentResult<T>> {
  const parsed = yield* parseJson(body, maxValues);
  if (!parsed.ok) return parsed;
  yield;
  const value = schema.parse(parsed.json);
  yield;
  return { ok: true, value: validOrUndefined(value), errors: findErrors(schema, value) };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Parses a body. Messages do not quote the body. */
function* parseJson(
  body: Uint8Array,
  maxValues = Infinity,
): InParts<{ readonly ok: true; readonly json: unknown } | UnreadableDocument> {
  if (body.length === 0) return unreadable('not_json', 'empty body');
  const limit = Math.floor(Math.min(body.length / BODY_BYTES_PER_VALUE, maxValues));
  if (body.length > UNCOUNTED_BYTES && countValues(body) > limit) {
    return unreadable('too_large', `more than ${limit} JSON values in ${body.length} bytes`);
  }
  yield;
  let text: string;
  try {
    text = decoder.decode(body);
  } catch {
    return unreadable('not_json', 'not valid UTF-8');
  }
  yield;
  try {
    return { ok: true, json: JSON.parse(text) };
  } catch (error) {
    const [, position] = /at position (\d+)/.exec(String(error)) ?? [];
    const end = text.trimEnd().length;
    const isAtEnd = /end of JSON|Unterminated/.test(String(error)) || Number(position) >= end;
    if (/^\s*[[{]/.test(text) && isAtEnd) {
      return { ...unreadable('not_json', `not valid JSON: it ends after ${end} characters`), isTruncated: true };
    }
    const where = position === undefined ? '' : ` at character ${position}`;
    return unreadable('not_json', `not valid JSON${where}`);
  }
}

/*
 * JSON.parse builds all values: a hostile body of 32 MiB can have 16 million, which take gigabytes and block the
 * process for seconds. Real documents have a value per 27 to 50 bytes. The values of a short body take at most 60 MiB
 * and a third of a second.
 */
const UNCOUNTED_BYTES = 2 * MEBIBYTE;
const BODY_BYTES_PER_VALUE = 24;

const [QUOTE, COMMA, ARRAY, BACKSLASH, OBJECT] = Buffer.from('",[\\{');

/** The number of JSON values of a body; one more for each empty object or array. */
export function countValues(body: Uint8Array): number {
  let count = 1;
  let isInString = false;
  for (let offset = 0; offset < body.length; offset += 1) {
    const byte = body[offset];
    if (byte === QUOTE) isInString = !isInString;
    else if (byte === BACKSLASH) offset += 1;
    else if (!isInString && (byte === COMMA || byte === ARRAY || byte === OBJECT)) count += 1;
  }
  return count;
}

/**
 * The errors in a value. Lists have tens of thousands of rows, so that only rows with an error are searched for its
 * path.
 */
function findErrors(schema: FieldSchema, value: unknown): FieldErrors {
  const invalid = new Map<string, number>();
  const unknown = new Map<string, number>();
  const missing = new Set<string>();
  const visit = (fieldSchema: FieldSchema, path: string, field: unknown, isInRow: boolean): void => {
    const { isEnumeration, fields, row } = fieldSchema;
    if (field === undefined) {
      if (!isInRow && path !== '') missing.add(path);
    } else if (field === INVALID) increment(invalid, path);
    else if (field === UNKNOWN_VALUE && isEnumeration === true) increment(unknown, path);
    else if (Array.isArray(field)) {
      if (row !== undefined) for (const entry of field.filter(hasError)) visit(row, `${path}[]`, entry, true);
    } else if (fields !== undefined && typeof field === 'object' && field !== null) {
      for (const [name, fieldErrors] of Object.entries(fields)) {
        visit(fieldErrors, joinPath(path, name), Reflect.get(field, name), isInRow);
      }
    }
  };
  visit(schema, '', value, false);
  return { invalid, unknown, missing };
}

/** Whether a value, or a value in it, is invalid or unknown. */
function hasError(value: unknown): boolean {
  if (value === INVALID || value === UNKNOWN_VALUE) return true;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasError);
  for (const key in value) if (hasError(Reflect.get(value, key))) return true;
  return false;
}

function increment(counts: Map<string, number>, path: string): void {
  counts.set(path, (counts.get(path) ?? 0) + 1);
}

function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
