import type { Logger } from 'pino';
import { chooseRemedy } from '../http/failure-reasons.js';
import type { Clock } from '../clock.js';
import { isUnsupported } from '../queries/query.js';
import { lastPollSucceeded, sourceInUse, type EndpointState } from './endpoint-state.js';
import type { AnsweredRound, SteppedPoll } from './engine.js';
import { firingVerdicts, formatSentence, listVerdicts, type Verdict } from './verdicts.js';

/* The log of polls: changes, not results. */

export function createPollLog(log: Logger) {
  return {
    /** Logs a failure, a change of its reason, a recovery, a change of the path, and new invalid or unknown values. */
    polled: ({ before, after }: Pick<SteppedPoll, 'before' | 'after'>): void => {
      logSwitch(log, before, after);
      if (lastPollSucceeded(after)) {
        logSuccess(log, before, after);
        return;
      }
      const { target, document, lastFailure } = after;
      if (lastFailure === undefined) return;
      const { reason, message } = lastFailure.error;
      if (before.lastPoll?.ok === false && before.lastFailure?.error.reason === reason) return;
      const remedy = chooseRemedy(lastFailure.error);
      log.warn({ target, document, reason, remedy }, `poll failed: ${message}`);
    },
    /** Logs the first of equal failures of a query, and their end. */
    answered: ({ endpoint, before, after }: AnsweredRound): void => {
      const { failure } = after;
      const fields = { target: endpoint.target, document: endpoint.document, query: after.query.name };
      if (failure !== undefined && failure.reason !== before.failure?.reason) {
        log.warn({ ...fields, reason: failure.reason }, `query of the node failed: ${failure.message}`);
      }
      if (isUnsupported(after) && !isUnsupported(before)) {
        log.info(fields, 'the node does not serve this query; the exporter tries the query again every hour');
      }
      if (failure === undefined && before.failure !== undefined) {
        log.info(fields, 'query of the node succeeds again');
      }
    },
  };
}

/** Logs that another node is in use, and why. */
function logSwitch(log: Logger, before: EndpointState, after: EndpointState): void {
  const { target, document, nodes = [] } = after;
  const [from = nodes[0]?.source, to] = [sourceInUse(before), sourceInUse(after)];
  if (from === to) return;
  const last = nodes.find(({ source }) => source === from);
  const reason =
    last?.trouble?.message ?? (last ? `${to} is preferred and usable again` : `${from} is no longer configured`);
  log.warn({ target, document }, `switched from node ${from} to ${to}: ${reason}`);
}

function logSuccess(log: Logger, before: EndpointState, after: EndpointState): void {
  const { target, document } = after;
  const servedPath = after.lastSuccess?.servedPath;
  if (before.lastPoll?.ok !== true) log.info({ target, document, ...servedPath }, 'poll succeeded');
  else if (servedPath?.path !== before.lastSuccess?.servedPath?.path) {
    log.info({ target, document, ...servedPath }, 'the node serves the document at another path');
  }
  logNewProblems(log, before, after);
}

function logNewProblems(log: Logger, before: EndpointState, after: EndpointState): void {
  const { target, document } = after;
  for (const field of after.invalidValues.keys()) {
    if (before.invalidValues.has(field)) continue;
    log.warn({ target, document, field }, 'invalid value: metrics that read this field are withdrawn');
  }
  for (const field of after.unknownValues.keys()) {
    if (before.unknownValues.has(field)) continue;
    log.warn({ target, document, field }, 'unknown enum value: exported as “other”');
  }
}

/** The firing verdicts of a target that no cause hides, by document, alert and subject. */
export type ReportedVerdicts = ReadonlyMap<string, Verdict>;

/** Logs the verdicts that have begun or ended, and calls `changed` with their target. */
export function createVerdictLog(
  log: Logger,
  states: () => readonly EndpointState[],
  now: Clock,
  changed: (target: string) => void,
) {
  const reported = new Map<string, ReportedVerdicts>();
  return {
    polled: ({ after: { target } }: SteppedPoll): void => {
      const targetStates = states().filter((state) => state.target === target);
      const [judged] = listVerdicts(targetStates, now());
      if (judged === undefined) return;
      const before = reported.get(target) ?? new Map();
      const after = logVerdicts(log, before, judged.verdicts);
      reported.set(target, after);
      if (haveBegunOrEnded(before, after)) changed(target);
    },
    forgetOthers: (all: readonly EndpointState[]): void => {
      const targets = new Set(all.map(({ target }) => target));
      for (const target of reported.keys()) if (!targets.has(target)) reported.delete(target);
    },
  };
}

/**
 * Logs verdicts that have begun, ended or changed severity; of one that a cause hides, also the cause. Returns those
 * that are reported now.
 */
export function logVerdicts(log: Logger, before: ReportedVerdicts, verdicts: readonly Verdict[]): ReportedVerdicts {
  const after = new Map(firingVerdicts({ verdicts }).map((verdict) => [verdictKey(verdict), verdict]));
  for (const [key, verdict] of after) {
    const { severity, action } = verdict;
    const last = before.get(key)?.severity;
    if (last === severity) continue;
    const change = last === 'critical' ? `no longer critical, now ${severity}` : severity;
    log[LEVELS[severity]]({ ...listFields(verdict), action }, `${change}: ${formatSentence(verdict)}`);
  }
  for (const [key, verdict] of before) {
    if (after.has(key)) continue;
    const cause = verdicts.find((other) => verdictKey(other) === key)?.hiddenBy;
    const reason = cause ? `hidden by ${cause}` : 'ended';
    log.info(listFields(verdict), `no longer ${verdict.severity}, ${reason}: ${formatSentence(verdict)}`);
  }
  return after;
}

/** Whether a verdict has begun or ended. */
export function haveBegunOrEnded(before: ReportedVerdicts, after: ReportedVerdicts): boolean {
  return before.size !== after.size || Array.from(after.keys()).some((key) => !before.has(key));
}

function verdictKey({ document, alert, subject }: Verdict): string {
  return JSON.stringify([document, alert, subject]);
}

const LEVELS = { critical: 'error', warning: 'warn', info: 'info' } as const;

function listFields({ target, document, alert, severity, subject }: Verdict): object {
  return { target, document, alert, severity, ...subject };
}
