import { orElse } from '../facts/required-fields.js';
import type { Evidence, Problem } from './problem.js';

/*
 * The marks of problems, and how one odd document is kept out of a mark that is debounced. Such a mark is kept twice: after all documents, and without
 * the last one. With the next document both are continued. If they agree, the last document was not odd. If they differ, it is skipped.
 *
 * For example, the mark is the highest nonce, as text, and three documents have 5, 90 and 6. After the second one, the mark is 90, without it 5. The third one leaves
 * 90 as it is and makes 6 of 5: they differ, so the mark is 6. With 91 in the third one, both would be 91.
 */

/** What a mark has of a token, chain or validator. */
export function entryOf<Value>(mark: Readonly<Record<string, Value>> | undefined, key: string): Value | undefined {
  return mark !== undefined && Object.hasOwn(mark, key) ? mark[key] : undefined;
}

export interface Marks {
  readonly mark: unknown;
  /** The mark without the last document that has counted; `undefined` if the mark is not debounced. */
  readonly markWithoutLastDocument: unknown;
}

const NO_MARKS: Marks = { mark: undefined, markWithoutLastDocument: undefined };

/** A mark that cannot be read stays. */
export function marksAfter(definition: Problem['mark'], evidence: Evidence, before: Marks = NO_MARKS): Marks {
  const { mark, markWithoutLastDocument } = before;
  return orElse<Marks>(
    () => {
      const after = definition?.next(evidence, mark);
      if (definition?.isDebounced !== true) return { mark: after, markWithoutLastDocument: undefined };
      if (markWithoutLastDocument === undefined) return { mark: after, markWithoutLastDocument: mark };
      const afterWithoutLastDocument = definition.next(evidence, markWithoutLastDocument);
      const agreed = agreedMark(after, afterWithoutLastDocument);
      return agreed === undefined
        ? { mark: afterWithoutLastDocument, markWithoutLastDocument }
        : { mark: agreed, markWithoutLastDocument: mark };
    },
    () => ({ mark, markWithoutLastDocument }),
  );
}

/** The mark with the lower ones of two numbers, which are times or small counts; `undefined` for marks that differ in anything else. */
function agreedMark(a: unknown, b: unknown): unknown {
  if (typeof a === 'number' && typeof b === 'number') return Math.min(a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Object.is(a, b) ? a : undefined;
  const entries = Object.entries(a).map(([key, value]) => [key, agreedMark(value, Reflect.get(b, key))] as const);
  if (entries.length !== Object.keys(b).length || entries.some(([, value]) => value === undefined)) return undefined;
  return Array.isArray(a) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}
