import { INVALID } from './field.js';
import { InvalidJson, JsonScanner, MemoryBudgetExceeded } from './scanner.js';
import { emptyProblems, type FieldProblems, type Reader } from './shapes.js';

export type DocumentResult<T> =
  /** `value` is `undefined` when the JSON is valid but is another document. */
  | { readonly ok: true; readonly value: T | undefined; readonly problems: FieldProblems }
  /** `message` does not contain the name of the document. */
  | { readonly ok: false; readonly reason: 'not_json' | 'too_large'; readonly message: string };

/** Reads a whole response body. `budgetBytes` limits the memory of the values that are built. */
export function readDocument<T>(read: Reader<T>, body: Buffer, budgetBytes: number): DocumentResult<T> {
  if (body.length === 0) return { ok: false, reason: 'not_json', message: 'empty body' };
  const problems = emptyProblems();
  try {
    const scanner = new JsonScanner(body, budgetBytes);
    const value = read(scanner, problems);
    scanner.expectEnd();
    return { ok: true, value: value === INVALID ? undefined : value, problems };
  } catch (error) {
    if (error instanceof InvalidJson) return { ok: false, reason: 'not_json', message: error.message };
    if (error instanceof MemoryBudgetExceeded) {
      const budget = `${Math.floor(budgetBytes / 2 ** 20)} MiB`;
      return { ok: false, reason: 'too_large', message: `reading the document needs more than ${budget} of memory` };
    }
    throw error;
  }
}
