import type { Logger } from 'pino';
import { chooseRemedy } from '../http/failure-reasons.js';
import type { Clock } from '../clock.js';
import { isUnsupported } from '../queries/query.js';
import { lastPollSucceeded, sourceInUse, type EndpointState } from './endpoint-state.js';
import type { AnsweredRound, SteppedPoll } from './engine.js';
import { firingProblems, formatSentence, judgeTargets, type TargetProblem } from './target-problems.js';

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

/** The firing problems of a target that no cause hides, by document, alert and subject. */
export type ReportedProblems = ReadonlyMap<string, TargetProblem>;

/** Logs the problems that have begun or ended, and calls `changed` with their target. */
export function createProblemLog(
  log: Logger,
  states: () => readonly EndpointState[],
  now: Clock,
  changed: (target: string) => void,
) {
  const reported = new Map<string, ReportedProblems>();
  return {
    polled: ({ after: { target } }: SteppedPoll): void => {
      const targetStates = states().filter((state) => state.target === target);
      const [judged] = judgeTargets(targetStates, now());
      if (judged === undefined) return;
      const before = reported.get(target) ?? new Map();
      const after = logProblems(log, before, judged.problems);
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
 * Logs problems that have begun, ended or changed severity; of one that a cause hides, also the cause. Returns those
 * that are reported now.
 */
export function logProblems(
  log: Logger,
  before: ReportedProblems,
  problems: readonly TargetProblem[],
): ReportedProblems {
  const after = new Map(firingProblems({ problems }).map((problem) => [reportKey(problem), problem]));
  for (const [key, problem] of after) {
    const { severity, action } = problem;
    const last = before.get(key)?.severity;
    if (last === severity) continue;
    const change = last === 'critical' ? `no longer critical, now ${severity}` : severity;
    log[LEVELS[severity]]({ ...listFields(problem), action }, `${change}: ${formatSentence(problem)}`);
  }
  for (const [key, problem] of before) {
    if (after.has(key)) continue;
    const cause = problems.find((other) => reportKey(other) === key)?.hiddenBy;
    const reason = cause ? `hidden by ${cause}` : 'ended';
    log.info(listFields(problem), `no longer ${problem.severity}, ${reason}: ${formatSentence(problem)}`);
  }
  return after;
}

/** Whether a problem has begun or ended. */
export function haveBegunOrEnded(before: ReportedProblems, after: ReportedProblems): boolean {
  return before.size !== after.size || Array.from(after.keys()).some((key) => !before.has(key));
}

function reportKey({ document, alert, subject }: TargetProblem): string {
  return JSON.stringify([document, alert, subject]);
}

const LEVELS = { critical: 'error', warning: 'warn', info: 'info' } as const;

function listFields({ target, document, alert, severity, subject }: TargetProblem): object {
  return { target, document, alert, severity, ...subject };
}
