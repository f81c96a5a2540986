import { getHeapStatistics } from 'node:v8';
import { formatSize } from '../config/kit/units.js';
import type { PollError } from '../http/errors.js';
import { JsonCursor, type TextPlace } from './json-cursor.js';
import type { NumberColumn } from './number-column.js';
import { NotJson, OverBudget, RepeatedKey } from './json-tokens.js';
import { emptyProblems, type FieldProblems, type Reader } from './shape.js';
import { INVALID } from './field.js';

/** What was read: the document with what was odd in it, or why it could not be read, after the name of what was read. */
export type DocumentResult<T> =
  | {
      readonly ok: true;
      readonly document: T | undefined;
      readonly problems: FieldProblems;
      readonly places: Places;
    }
  | { readonly ok: false; readonly error: PollError };

/** What a document has only the places of. */
export interface Places {
  /** As long as the body is there. */
  readonly textAt: (place: TextPlace) => string;
  readonly numbers: NumberColumn;
}

/** Of the memory of the thread; the rest is for what is derived from the document, and for what still has to be collected. */
const SHARE_FOR_DOCUMENT = 1 / 3;

const MEMORY_FOR_DOCUMENT = Math.floor(getHeapStatistics().heap_size_limit * SHARE_FOR_DOCUMENT);

/** Reads a whole body; the document is `undefined` when the JSON is another one. */
export function readDocument<T>(
  read: Reader<T>,
  body: Buffer,
  memory: number = MEMORY_FOR_DOCUMENT,
): DocumentResult<T> {
  if (body.length === 0) return failed('not_json', 'has an empty body');
  try {
    return readOnce(read, body, memory, false);
  } catch (thrown) {
    if (thrown instanceof NotJson) return failed('not_json', thrown.message);
    if (thrown instanceof OverBudget)
      return failed('too_large', `takes more than ${formatSize(memory)} of memory to read`);
    throw thrown;
  }
}

function readOnce<T>(read: Reader<T>, body: Buffer, memory: number, expectsRepeatedKeys: boolean): DocumentResult<T> {
  const problems = emptyProblems();
  try {
    const cursor = new JsonCursor(body, memory, expectsRepeatedKeys);
    const document = read(cursor, problems);
    cursor.end();
    const places = { textAt: (place: TextPlace) => cursor.textAt(place), numbers: cursor.numbers };
    return { ok: true, document: document === INVALID ? undefined : document, problems, places };
  } catch (thrown) {
    if (thrown instanceof RepeatedKey) return readOnce(read, body, memory, true);
    throw thrown;
  }
}

function failed(reason: PollError['reason'], message: string): DocumentResult<never> {
  return { ok: false, error: { reason, message } };
}
