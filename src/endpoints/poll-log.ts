import type { Logger } from 'pino';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { NamesState } from '../poll/validator-names.js';

/** Logs that the names of validators cannot be read any more, and that they can be again. */
export function logNames(log: Logger, target: string, before: NamesState, { failure }: NamesState): void {
  if (failure !== undefined && before.failure === undefined) {
    const { reason, message } = failure;
    log.warn({ target, reason }, `validator names cannot be read, the last ones stay: ${message}`);
  }
  if (failure === undefined && before.failure !== undefined) log.info({ target }, 'validator names are read again');
}

/** A persistent failure is logged again at this interval. */
const REPEAT_AFTER_MS = 10 * 60_000;

/**
 * Logs what a poll has changed: failure, change of the failure reason, recovery, change of the path, and new invalid or unknown
 * values. Takes and returns when the present failure was last logged, on the monotonic clock.
 */
export function logPoll(
  log: Logger,
  before: EndpointState,
  after: EndpointState,
  failureLoggedAtMs: number | undefined,
): number | undefined {
  const { target, document, last, failure } = after;
  if (last?.ok === true) {
    const foundAt = after.success?.foundAt;
    if (before.last?.ok !== true) log.info({ target, document, ...foundAt }, 'poll succeeded');
    else if (foundAt?.path !== before.success?.foundAt?.path) {
      log.info({ target, document, ...foundAt }, 'the document has moved to another path');
    }
    logNewProblems(log, before, after);
    return undefined;
  }
  if (last === undefined || failure === undefined) return undefined;
  const { reason, message } = failure.error;
  const isNew = before.last?.ok !== false || before.failure?.error.reason !== reason;
  const isDue = last.at.monotonicMs - (failureLoggedAtMs ?? -Infinity) >= REPEAT_AFTER_MS;
  if (!isNew && !isDue) return failureLoggedAtMs;
  log.warn({ target, document, reason }, `poll failed: ${message}`);
  return last.at.monotonicMs;
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
