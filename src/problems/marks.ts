import { orElse } from '../facts/required-fields.js';
import type { Evidence, Problem } from './problem.js';

/*
 * The marks of problems. A debounced mark has a candidate beside it, the mark after the last document, and moves there
 * when the next document agrees: when it continues both in the same way. If not, the last document was odd, and the
 * mark continues without it. The first document is a candidate, too: if the second one contradicts it, the mark begins
 * anew with that one. Otherwise an odd answer would be found after it is gone: as a change for hours, or as a
 * rollback for a day; and a silence of hours would begin anew.
 *
 * For example, the mark is the highest nonce, and three documents have 5, 90 and 6. The mark is 5, and after the second
 * document its candidate is 90. The third one leaves 90 and makes 6 of 5: they differ, so the mark stays 5, with the
 * candidate 6. With 91 in the third document, both would be 91, so that the mark would be 90.
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
 * The mark that two agree on, but for numbers, which are times or small counts: then the lower one, so that an odd
 * document does not make a time anew. `undefined` if they differ in anything else.
 */
function agreedMark(a: unknown, b: unknown): unknown {
  if (typeof a === 'number' && typeof b === 'number') return Math.min(a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return Object.is(a, b) ? a : undefined;
  const entries = Object.entries(a).map(([key, value]) => [key, agreedMark(value, Reflect.get(b, key))] as const);
  if (entries.length !== Object.keys(b).length || entries.some(([, value]) => value === undefined)) return undefined;
  return Array.isArray(a) ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}
