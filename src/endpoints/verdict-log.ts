import type { Logger } from 'pino';
import type { TargetVerdicts, Verdict } from '../alerts/judge.js';

/** The verdicts of a target that were logged, by document and alert. */
export type LoggedVerdicts = ReadonlyMap<string, Verdict>;

/**
 * Logs the verdicts of a target that begin, change their severity or end. Returns those that were logged. While the data cannot be
 * judged, no verdict ends.
 */
export function logVerdicts(
  log: Logger,
  logged: LoggedVerdicts,
  { verdicts, unknown }: Pick<TargetVerdicts, 'verdicts' | 'unknown'>,
): LoggedVerdicts {
  const firing = new Map<string, Verdict>();
  // The worst verdicts come first.
  for (const verdict of verdicts) {
    if (verdict.state === 'firing' && !firing.has(keyOf(verdict))) firing.set(keyOf(verdict), verdict);
  }
  for (const [key, verdict] of firing) {
    if (logged.get(key)?.severity === verdict.severity) continue;
    // The line about the cause is enough, but one that has a line lasts until it ends.
    if (verdict.causedBy !== null) {
      if (!logged.has(key)) firing.delete(key);
      continue;
    }
    log.info(fieldsOf(verdict), `${verdict.severity}: ${verdict.summary}`);
  }
  const others = Array.from(logged).filter(([key]) => !firing.has(key));
  if (unknown.length > 0) return new Map([...others, ...firing]);
  for (const [, verdict] of others) log.info(fieldsOf(verdict), `no longer ${verdict.severity}: ${verdict.summary}`);
  return firing;
}

function keyOf({ document, alert }: Verdict): string {
  return `${document} ${alert}`;
}

function fieldsOf({ target, document, alert, severity }: Verdict): object {
  return { target, document, alert, severity };
}
