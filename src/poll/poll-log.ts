import type { Logger } from 'pino';
import type { EndpointState } from './endpoint-state.js';

/** A failure that lasts is logged again this often: proof that it lasts, without filling disks. */
const REMIND_AFTER_MS = 10 * 60_000;

/** Logs what changed at an endpoint: that it fails, for which reason, that it answers again, that values cannot be read. */
export function createPollLog(log: Logger): (before: EndpointState, after: EndpointState) => void {
  const remindedAt = new Map<string, number>();
  return (before, after) => {
    const { target, endpoint, last, failure } = after;
    const key = JSON.stringify([target, endpoint]);
    if (last === undefined) return;
    if (last.ok) {
      if (before.last === undefined || !before.last.ok) log.info({ target, endpoint }, 'the endpoint answers');
      logNewProblems(log, before, after);
      remindedAt.delete(key);
      return;
    }
    if (failure === undefined) return;
    const { reason, message } = failure.error;
    const changed = before.last?.ok !== false || before.failure?.error.reason !== reason;
    const due = last.at.monotonicMs - (remindedAt.get(key) ?? 0) >= REMIND_AFTER_MS;
    if (!changed && !due) return;
    remindedAt.set(key, last.at.monotonicMs);
    log.warn({ target, endpoint, reason }, `the poll failed: ${message}`);
  };
}

function logNewProblems(log: Logger, before: EndpointState, after: EndpointState): void {
  const { target, endpoint } = after;
  for (const field of after.invalidValues.keys()) {
    if (before.invalidValues.has(field)) continue;
    log.warn({ target, endpoint, field }, 'a value of the wrong kind: what reads this field is absent');
  }
  for (const field of after.unknownValues.keys()) {
    if (before.unknownValues.has(field)) continue;
    log.warn({ target, endpoint, field }, 'an enum value the exporter does not know: it shows as other');
  }
}
