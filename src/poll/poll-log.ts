import type { Logger } from 'pino';
import type { EndpointState } from './endpoint-store.js';

/** A persistent failure is logged again at this interval. */
const REPEAT_AFTER_MS = 10 * 60_000;

/**
 * Logs state changes of an endpoint: failure, change of the failure reason, recovery, change of the path, and new invalid or unknown
 * values.
 */
export function createPollLog(log: Logger): (before: EndpointState, after: EndpointState) => void {
  const loggedAtMs = new Map<string, number>();
  return (before, after) => {
    const { target, document, last, failure } = after;
    const key = JSON.stringify([target, document]);
    if (last === undefined) return;
    if (last.ok) {
      const foundAt = after.success?.foundAt;
      if (before.last === undefined || !before.last.ok) log.info({ target, document, ...foundAt }, 'poll succeeded');
      else if (foundAt?.path !== before.success?.foundAt?.path) {
        log.info({ target, document, ...foundAt }, 'the document has moved to another path');
      }
      logNewProblems(log, before, after);
      loggedAtMs.delete(key);
      return;
    }
    if (failure === undefined) return;
    const { reason, message } = failure.error;
    const hasChanged = before.last?.ok !== false || before.failure?.error.reason !== reason;
    const isDue = last.at.monotonicMs - (loggedAtMs.get(key) ?? 0) >= REPEAT_AFTER_MS;
    if (!hasChanged && !isDue) return;
    loggedAtMs.set(key, last.at.monotonicMs);
    log.warn({ target, document, reason }, `poll failed: ${message}`);
  };
}

function logNewProblems(log: Logger, before: EndpointState, after: EndpointState): void {
  const { target, document } = after;
  for (const field of after.invalidValues.keys()) {
    if (before.invalidValues.has(field)) continue;
    log.warn({ target, document, field }, 'invalid value: metrics that read this field are withdrawn');
  }
  for (const field of after.unknownValues.keys()) {
    if (before.unknownValues.has(field)) continue;
    log.warn({ target, document, field }, 'unknown enum value: exported as other');
  }
}
