import type { Logger } from 'pino';
import type { TargetVerdicts, Verdict } from './verdicts.js';
import { remedyOf } from '../http/failure-reasons.js';
import { sentenceText } from '../problems/sentence.js';
import type { DepartedCctx } from '../flow/crosschain-flow.js';
import { endpointId, isNeverServed, isOf, isServing, knownDocument, type EndpointState } from './endpoint-state.js';

/* What is logged of the polls: what each of them has changed, not what it has found. */

export interface PollLog {
  /** Logs what a poll has changed: failure, change of the failure reason, recovery, change of the path, and new invalid or unknown values. */
  readonly poll: (before: EndpointState, after: EndpointState) => void;
  /**
   * Logs the verdicts of a target that begin, change their severity or end, and returns whether one has begun or ended. While the data cannot
   * be judged, no verdict ends.
   */
  readonly verdicts: (verdicts: Pick<TargetVerdicts, 'target' | 'verdicts' | 'unknown'>) => boolean;
  readonly forgetOthers: (states: readonly EndpointState[]) => void;
}

export function createPollLog(log: Logger): PollLog {
  /** When the present failure of an endpoint was last logged, on the monotonic clock. */
  const failureLoggedAtMs = new Map<string, number>();
  /** The verdicts that were logged, by target. */
  const loggedVerdicts = new Map<string, LoggedVerdicts>();
  return {
    poll: (before, after) => {
      if (isServing(after)) {
        failureLoggedAtMs.delete(endpointId(after));
        logSuccess(log, before, after);
        return;
      }
      const { target, document, last, failure } = after;
      if (last === undefined || failure === undefined) return;
      const { reason, message } = failure.error;
      const isNew = before.last?.ok !== false || before.failure?.error.reason !== reason;
      const loggedAtMs = failureLoggedAtMs.get(endpointId(after)) ?? -Infinity;
      const isDue = !isNeverServed(after) && last.at.monotonicMs - loggedAtMs >= REPEAT_AFTER_MS;
      if (!isNew && !isDue) return;
      log.warn({ target, document, reason, remedy: remedyOf(failure.error, document) }, `poll failed: ${message}`);
      failureLoggedAtMs.set(endpointId(after), last.at.monotonicMs);
    },
    verdicts: (verdicts) => {
      const before: LoggedVerdicts = loggedVerdicts.get(verdicts.target) ?? new Map();
      const after = logVerdicts(log, before, verdicts);
      loggedVerdicts.set(verdicts.target, after);
      return before.size !== after.size || Array.from(after.keys()).some((key) => !before.has(key));
    },
    forgetOthers: (states) => {
      const targets = new Set(states.map(({ target }) => target));
      const ids = new Set(states.map(endpointId));
      for (const target of loggedVerdicts.keys()) if (!targets.has(target)) loggedVerdicts.delete(target);
      for (const id of failureLoggedAtMs.keys()) if (!ids.has(id)) failureLoggedAtMs.delete(id);
    },
  };
}

/** A persistent failure is logged again at this interval. */
const REPEAT_AFTER_MS = 10 * 60_000;

function logSuccess(log: Logger, before: EndpointState, after: EndpointState): void {
  const { target, document } = after;
  const foundPath = after.success?.foundPath;
  if (before.last?.ok !== true) log.info({ target, document, ...foundPath }, 'poll succeeded');
  else if (foundPath?.path !== before.success?.foundPath?.path) {
    log.info({ target, document, ...foundPath }, 'the document has moved to another path');
  }
  logNewProblems(log, before, after);
  logUnlisted(log, before, after);
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

/** Logs the cross-chain transactions that are pending and not listed any more, after the second answer of the node. */
function logUnlisted(log: Logger, before: EndpointState, after: EndpointState): void {
  const { target, document } = after;
  const known = new Set(unlistedOf(before).map(({ index }) => index));
  for (const { index, chainId } of unlistedOf(after)) {
    if (known.has(index)) continue;
    log.warn({ target, document, index, chainId }, 'a cctx is no longer listed, pending according to the node');
  }
}

function unlistedOf(state: EndpointState): readonly DepartedCctx[] {
  const known = knownDocument(state);
  if (!isOf('rate_limiter_input', known)) return [];
  return known.flow.departed.filter(({ pendingAnswers }) => pendingAnswers === 2);
}

/** The verdicts of a target that were logged, by document, alert and subject. */
type LoggedVerdicts = ReadonlyMap<string, Verdict>;

/** Returns the verdicts that were logged. */
function logVerdicts(
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
    const before = logged.get(key);
    if (before?.severity === verdict.severity) continue;
    // An inhibited verdict is logged when nothing inhibits it any more. One that was logged before stays, so that its end is logged.
    if (verdict.inhibitedBy !== null) {
      if (before === undefined) firing.delete(key);
      else firing.set(key, before);
      continue;
    }
    log[LEVELS[verdict.severity]]({ ...fieldsOf(verdict), action: verdict.action }, textWithSeverity(verdict));
  }
  const others = Array.from(logged).filter(([key]) => !firing.has(key));
  if (unknown.length > 0) return new Map([...others, ...firing]);
  for (const [, verdict] of others) log.info(fieldsOf(verdict), `no longer ${textWithSeverity(verdict)}`);
  return firing;
}

/** A critical problem is an error for whoever reads the log. */
const LEVELS = { critical: 'error', warning: 'warn', info: 'info' } as const;

function textWithSeverity({ severity, sentence }: Verdict): string {
  return `${severity}: ${sentenceText(sentence)}`;
}

function keyOf({ document, alert, subject }: Verdict): string {
  return JSON.stringify([document, alert, subject]);
}

function fieldsOf({ target, document, alert, severity, subject }: Verdict): object {
  return { target, document, alert, severity, ...subject };
}
