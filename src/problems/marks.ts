import { orElse } from '../facts/required-fields.js';
import type { Evidence, Problem } from './problem.js';

/*
 * The marks of problems: state that is carried from document to document, such as a highest value with its time. A
 * debounced mark changes only when the next document agrees. Otherwise one odd answer would be a changed parameter for
 * hours or a rollback for a day, or would restart a silence of hours.
 *
 * The candidate is the mark with the last document applied. The next document is applied to the mark and to the
 * candidate. If the results are equal, the candidate becomes the mark. If not, the last document was odd, and the mark
 * continues without it. The first document is only a candidate, too.
 *
 * For example, the mark is the highest nonce, and three documents have 5, 90 and 6. After the second one, the mark is 5
 * and the candidate 90. With the third, 90 stays 90 and 5 becomes 6: they differ, so the mark is 5 and the candidate 6.
 * If the third document had 91, both would become 91, so that the mark would be 90.
 */

/** The entry of a token, chain or validator. */
export function findEntry<Value>(mark: Readonly<Record<string, Value>> | undefined, key: string): Value | undefined {
  return mark !== undefined && Object.hasOwn(mark, key) ? mark[key] : undefined;
}

export interface Marks {
  /** `undefined` before the first document, and of a debounced mark until two documents agree. */
  readonly mark: unknown;
  /** A debounced mark after the last document. */
  readonly candidate?: unknown;
}

/** The mark after the last document. */
export function latestMark({ mark, candidate = mark }: Marks): unknown {
  return candidate;
}

/** The marks after a document. A document without a required field changes nothing. */
export function marksAfter(
  definition: Problem['mark'],
  evidence: Evidence,
  before: Marks = { mark: undefined },
): Marks {
  const { mark, candidate } = before;
  return orElse<Marks>(
    () => {
      const after = definition?.next(evidence, mark);
      if (definition?.isDebounced !== true) return { mark: after };
      const agreed = candidate === undefined ? undefined : agreedMark(definition.next(evidence, candidate), after);
      return agreed === undefined ? { mark, candidate: after } : { mark: candidate, candidate: agreed };
    },
    () => ({ mark, candidate }),
  );
}

/**
 * The common value of two marks. Numbers, which are times or small counts, may differ: then it is the lower one, so
 * that an odd document does not restart a time. `undefined` if the marks differ in anything else.
 */
function agreedMark(a: unknown, b: unknown): unknown {
  if (typeof a === 'number' && typeof b === 'number') return Math.min(a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Object.is(a, b) ? a : undefined;
  const entries = Object.entries(a).map(([key, value]) => [key, agreedMark(value, Reflect.get(b, key))] as const);
  if (entries.length !== Object.keys(b).length || entries.some(([, value]) => value === undefined)) return undefined;
  return Array.isArray(a) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}
