import { orElse } from '../facts/required-fields.js';
import type { Evidence, Problem } from './problem.js';

/*
 * The marks of problems, and how a debounced mark skips an odd document (why: problem-memory.ts). Such a mark is kept
 * twice: after all documents, and without the last one. The next document continues both. If they agree, the last
 * document was not odd. If they differ, it is skipped.
 *
 * For example, the mark is the highest nonce, and three documents have 5, 90 and 6. After the second document, the mark
 * is 90, and 5 without it. The third one leaves 90 and makes 6 of 5: they differ, so the mark is 6. With 91 in the
 * third document, both would be 91.
 */

/** The entry of a token, chain or validator. */
export function findEntry<Value>(mark: Readonly<Record<string, Value>> | undefined, key: string): Value | undefined {
  return mark !== undefined && Object.hasOwn(mark, key) ? mark[key] : undefined;
}

export interface Marks {
  readonly mark: unknown;
  /** `undefined` for a mark that is not debounced. */
  readonly markWithoutLastDocument: unknown;
}

const NO_MARKS: Marks = { mark: undefined, markWithoutLastDocument: undefined };

/** The marks after a document. A document without a required field changes nothing. */
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

/**
 * The mark with the minimum of each pair of numbers, which are times or small counts; `undefined` if the marks differ
 * in anything else.
 */
function agreedMark(a: unknown, b: unknown): unknown {
  if (typeof a === 'number' && typeof b === 'number') return Math.min(a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Object.is(a, b) ? a : undefined;
  const entries = Object.entries(a).map(([key, value]) => [key, agreedMark(value, Reflect.get(b, key))] as const);
  if (entries.length !== Object.keys(b).length || entries.some(([, value]) => value === undefined)) return undefined;
  return Array.isArray(a) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}
