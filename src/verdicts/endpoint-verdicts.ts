import { isFresh, type Instant } from '../poll/clock.js';
import type { Condition, Findings, LastingFinding, PollView } from './condition.js';
import { conditions } from './conditions.js';
import { isStale, staleness } from './endpoint-conditions.js';
import { findAll, viewOf, type EndpointMemory, type PatternFinding } from './endpoint-memory.js';
import { firingSinceMs, type Runs } from './findings-memory.js';
import { isInhibited } from './inhibitions.js';
import {
  heightUnchangedSince,
  isHeightUnchanged,
  MINUTE_MS,
  msBetween,
  withdrawnBetween,
  type Interruption,
} from './poll-history.js';
import { duration } from './sentences.js';
import type { Verdict } from './verdict.js';

interface JudgedFinding extends LastingFinding {
  readonly condition: Condition;
  readonly state: Verdict['state'];
  readonly firesAt: Instant;
}

/** What the memory says about a finding that is present now; `undefined` when it has not lasted long enough. */
function judge(
  finding: PatternFinding,
  runs: Runs,
  interruptions: readonly Interruption[],
  now: Instant,
): JudgedFinding | undefined {
  const { key, condition, unchanged, rangeMinutes } = finding;
  const known = runs.get(key);
  // What the clock alone made true since the last poll begins now.
  const run =
    known !== undefined && known.unchanged === unchanged ? known : { since: now, unchanged, mayBeOlder: false };
  const durations = { ...condition, rangeMinutes };
  const since = finding.since ?? run.since;
  const mayBeOlder = finding.since === undefined ? run.mayBeOlder : finding.mayBeOlder === true;
  const nowMs = now.monotonicMs;
  const firesAtMs = firingSinceMs(durations, run.since.monotonicMs, nowMs, interruptions);
  const judged = { ...finding, since, mayBeOlder, firesAt: instantAt(firesAtMs, now) };
  if (firesAtMs <= nowMs) return { ...judged, state: 'firing' };
  // Before and after an interruption it was the same, in between it is unknown.
  const lastsWithInterruptions = firingSinceMs(durations, run.since.monotonicMs, nowMs, []) <= nowMs;
  const mayFire = run.mayBeOlder && firingSinceMs(durations, notBeforeMs(finding, now), nowMs, []) <= nowMs;
  return mayFire || lastsWithInterruptions ? { ...judged, state: 'observing' } : undefined;
}

function instantAt(monotonicMs: number, now: Instant): Instant {
  return { monotonicMs, epochSeconds: now.epochSeconds + (monotonicMs - now.monotonicMs) / 1000 };
}

function notBeforeMs({ notBeforeSeconds }: PatternFinding, now: Instant): number {
  return notBeforeSeconds === undefined ? -Infinity : now.monotonicMs - (now.epochSeconds - notBeforeSeconds) * 1000;
}

/** Why the samples of an endpoint cannot be judged; `undefined` when they can be. */
function reasonNotToJudge(view: PollView, staleAfterMs: number): string | undefined {
  const { state, history, samples, now } = view;
  if (state.success === undefined || isStale(view)) return staleness(view);
  if (!isHeightUnchanged(history, samples, state.document, now)) return undefined;
  // Without polls, no height changes.
  if (!isFresh(state.success.at, now, staleAfterMs)) return staleness(view);
  const { since = now, isObserved } = heightUnchangedSince(history, state.document);
  const lasting = duration(msBetween(since, now) / 1000);
  return isObserved
    ? `the height of ${state.document} has not changed for ${lasting}`
    : `${state.document} has been observed for ${lasting}, and its height has not changed yet`;
}

export interface EndpointVerdicts {
  readonly verdicts: readonly Verdict[];
  readonly unknown: readonly string[];
  readonly observedSince: Instant | undefined;
}

/** What is wrong with an endpoint now. */
export function endpointVerdicts(
  memory: EndpointMemory,
  staleAfterMs: number,
  startedAt: Instant,
  now: Instant,
): EndpointVerdicts {
  const { state, history, pollRuns, sampleRuns } = memory;
  const view = viewOf(memory, startedAt, now);
  const reason = reasonNotToJudge(view, staleAfterMs);
  const judged = findAll('polls', view).map((finding) => judge(finding, pollRuns, [], now));
  if (reason === undefined && state.success !== undefined) {
    const current = withdrawnBetween(state.success.at, now, staleAfterMs);
    const interruptions = [...history.interruptions, ...current];
    judged.push(...findAll('samples', view).map((finding) => judge(finding, sampleRuns, interruptions, now)));
  }
  return {
    verdicts: verdictsOf(
      judged.filter((finding) => finding !== undefined),
      view,
    ),
    unknown: reason === undefined ? [] : [reason],
    observedSince: history.firstPollAt,
  };
}

/** One verdict for all findings of a condition in the same state, without those that another condition includes. */
function verdictsOf(all: readonly JudgedFinding[], view: PollView): readonly Verdict[] {
  const alerts = all.map((finding) => ({ finding, alert: { ...finding.condition, labels: finding.labels } }));
  const firingAlerts = alerts.filter(({ finding }) => finding.state === 'firing').map(({ alert }) => alert);
  const judged = alerts.filter(({ alert }) => !isInhibited(alert, firingAlerts)).map(({ finding }) => finding);
  return conditions.flatMap((condition) => {
    const own = judged.filter((finding) => finding.condition === condition);
    const firing = bySubject(own.filter(({ state }) => state === 'firing'));
    const isJudged = new Set(firing.map(subjectOf));
    const observing = bySubject(own.filter(({ state }) => state === 'observing')).filter(
      (finding) => !isJudged.has(subjectOf(finding)),
    );
    return [firing, observing].flatMap(([oldest, ...others]): Verdict[] =>
      oldest === undefined ? [] : [verdictOf(condition, oldest, others, view)],
    );
  });
}

function subjectOf({ labels }: LastingFinding): string {
  return JSON.stringify(labels);
}

/** The oldest finding of each subject, oldest first. Alternatives of a condition find the same subject. */
function bySubject(findings: readonly JudgedFinding[]): readonly JudgedFinding[] {
  const oldestFirst = findings.toSorted((a, b) => a.since.monotonicMs - b.since.monotonicMs);
  const oldest = new Map<string, JudgedFinding>();
  for (const finding of oldestFirst) {
    if (!oldest.has(subjectOf(finding))) oldest.set(subjectOf(finding), finding);
  }
  return Array.from(oldest.values());
}

function verdictOf(
  { alert, severity, summary, action }: Condition,
  oldest: JudgedFinding,
  others: readonly JudgedFinding[],
  view: PollView,
): Verdict {
  const all: readonly JudgedFinding[] = [oldest, ...others];
  const findings: Findings = { all, oldest, lasting: lastingOf(oldest, all.at(-1) ?? oldest, view.now) };
  const { target, document } = view.state;
  return {
    target,
    document,
    alert,
    severity,
    state: oldest.state,
    since: oldest.since,
    firesAt: all.map(({ firesAt }) => firesAt).reduce((a, b) => (a.monotonicMs <= b.monotonicMs ? a : b)),
    subjects: all.map(({ labels }) => labels),
    summary: summary(findings, view),
    action: typeof action === 'string' ? action : action(findings, view),
  };
}

/** Longer than polls of the same incident are apart. */
const SAME_START_MS = 2 * MINUTE_MS;

function lastingOf(oldest: JudgedFinding, newest: JudgedFinding, now: Instant): string {
  const lasting = duration(msBetween(oldest.since, now) / 1000);
  if (oldest.mayBeOlder) return `at least ${lasting}`;
  return msBetween(oldest.since, newest.since) > SAME_START_MS ? `up to ${lasting}` : lasting;
}
