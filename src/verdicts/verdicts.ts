import { groupBy } from '../metrics/grouping.js';
import { isFresh, type Instant } from '../poll/clock.js';
import {
  initialState,
  type EndpointKey,
  type EndpointLimits,
  type EndpointState,
  type ReloadedEndpoint,
} from '../poll/endpoint-store.js';
import type { Condition, Findings, LastingFinding, PollView } from './condition.js';
import { conditions } from './conditions.js';
import { isStale, staleness } from './endpoint-conditions.js';
import { continueRuns, isFiring, type KeyedFinding, type Runs } from './findings-memory.js';
import { isInhibited } from './inhibitions.js';
import {
  addPoll,
  heightUnchangedSince,
  isHeightUnchanged,
  MINUTE_MS,
  msBetween,
  NO_HISTORY,
  withdrawnBetween,
  type Interruption,
  type PollHistory,
} from './poll-history.js';
import { samplesOf } from './samples.js';
import { duration } from './sentences.js';
import { severities, type TargetVerdicts, type Verdict, type Verdicts } from './verdict.js';

/** Judges the endpoints after every poll. */
export interface VerdictMemory extends Verdicts {
  /** Remembers what the last poll of an endpoint found. */
  readonly record: (state: EndpointState) => void;
  /** Replaces the set of endpoints after a reload. Endpoints that are marked as kept retain their memory. */
  readonly retain: (endpoints: readonly ReloadedEndpoint[], limits: EndpointLimits, at: Instant) => void;
}

/** The memory of one endpoint. Each poll replaces it as a whole. */
interface EndpointMemory {
  readonly addedAt: Instant;
  readonly state: EndpointState;
  readonly history: PollHistory;
  /** Findings of the last successful poll. */
  readonly sampleRuns: Runs;
  /** Findings of the last poll. */
  readonly pollRuns: Runs;
}

export function createVerdicts(
  endpoints: readonly EndpointKey[],
  limits: EndpointLimits,
  startedAt: Instant,
): VerdictMemory {
  let memories = new Map<string, EndpointMemory>();
  let staleAfterMs = limits.staleAfterMs;

  function replaceEndpoints(
    reloaded: readonly ReloadedEndpoint[],
    { maxBodyBytes }: EndpointLimits,
    addedAt: Instant,
  ): void {
    const previous = memories;
    memories = new Map(
      reloaded.map(({ target, document, isKept }) => {
        const key = keyOf({ target, document });
        const kept = isKept ? previous.get(key) : undefined;
        const state = initialState({ target, document }, maxBodyBytes);
        return [key, kept ?? { addedAt, state, history: NO_HISTORY, sampleRuns: new Map(), pollRuns: new Map() }];
      }),
    );
  }

  replaceEndpoints(
    endpoints.map((key) => ({ ...key, isKept: false })),
    limits,
    startedAt,
  );

  return {
    record: (state) => {
      const memory = memories.get(keyOf(state));
      if (memory === undefined) throw new Error(`${keyOf(state)} is not an endpoint of the configuration`);
      memories.set(keyOf(state), memoryAfter(memory, state, staleAfterMs, startedAt));
    },
    retain: (reloaded, newLimits, at) => {
      staleAfterMs = newLimits.staleAfterMs;
      replaceEndpoints(reloaded, newLimits, at);
    },
    targets: (now) => {
      const endpointsOf = groupBy(Array.from(memories.values()), ({ state }) => state.target);
      return Array.from(endpointsOf, ([target, own]) => targetVerdicts(target, own, staleAfterMs, startedAt, now));
    },
  };
}

function keyOf({ target, document }: EndpointKey): string {
  return JSON.stringify([target, document]);
}

function viewOf(
  { addedAt, state, history }: Pick<EndpointMemory, 'addedAt' | 'state' | 'history'>,
  startedAt: Instant,
  now: Instant,
): PollView {
  const snapshot = state.success?.snapshot;
  return {
    state,
    history,
    samples: samplesOf(snapshot),
    items: snapshot?.items,
    // The rule takes the uptime of the process for an endpoint that has been polled, and nothing before.
    expectedSince: state.polls > 0 ? startedAt : addedAt,
    now,
  };
}

function memoryAfter(
  before: EndpointMemory,
  state: EndpointState,
  staleAfterMs: number,
  startedAt: Instant,
): EndpointMemory {
  const at = state.last?.at;
  if (at === undefined) return before;
  const history = addPoll(before.history, before.state.success, state, at, staleAfterMs);
  const view = viewOf({ ...before, state, history }, startedAt, at);
  return {
    ...before,
    state,
    history,
    pollRuns: continueRuns(before.pollRuns, findAll('polls', view), at, before.state.polls === 0),
    sampleRuns: sampleRunsAfter(before, view, staleAfterMs),
  };
}

function sampleRunsAfter({ state, sampleRuns }: EndpointMemory, view: PollView, staleAfterMs: number): Runs {
  if (view.state.last?.ok !== true) return sampleRuns;
  const previous = state.success?.at;
  // What began while there was no data may have begun at any time of it.
  const isUnobserved = previous === undefined || withdrawnBetween(previous, view.now, staleAfterMs).length > 0;
  return continueRuns(sampleRuns, findAll('samples', view), view.now, isUnobserved);
}

interface PatternFinding extends KeyedFinding {
  readonly condition: Condition;
  readonly rangeMinutes: number;
}

function findAll(source: Condition['source'], view: PollView): readonly PatternFinding[] {
  return conditions.flatMap((condition, conditionIndex) => {
    if (condition.source !== source || !condition.documents.includes(view.state.document)) return [];
    return condition.patterns.flatMap(({ rangeMinutes, find }, patternIndex) =>
      find(view).map((finding) => ({
        ...finding,
        key: JSON.stringify([conditionIndex, patternIndex, finding.labels]),
        condition,
        rangeMinutes,
      })),
    );
  });
}

interface JudgedFinding extends LastingFinding {
  readonly condition: Condition;
  readonly state: Verdict['state'];
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
  const isOlder = finding.since === undefined && run.mayBeOlder;
  if (isFiring(durations, run.since.monotonicMs, now.monotonicMs, interruptions)) {
    return { ...finding, since, isOlder, state: 'firing' };
  }
  // Before and after an interruption it was the same, in between it is unknown.
  const lastsWithInterruptions = isFiring(durations, run.since.monotonicMs, now.monotonicMs, []);
  return run.mayBeOlder || lastsWithInterruptions ? { ...finding, since, isOlder, state: 'observing' } : undefined;
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

interface EndpointVerdicts {
  readonly verdicts: readonly Verdict[];
  readonly unknown: readonly string[];
  readonly observedSince: Instant | undefined;
}

function endpointVerdicts(
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
  const all = [oldest, ...others];
  const findings: Findings = { all, oldest, lasting: lastingOf(oldest, all.at(-1) ?? oldest, view.now) };
  const { target, document } = view.state;
  return {
    target,
    document,
    alert,
    severity,
    state: oldest.state,
    since: oldest.since,
    subjects: all.map(({ labels }) => labels),
    summary: summary(findings, view),
    action,
  };
}

/** Longer than polls of the same incident are apart. */
const SAME_START_MS = 2 * MINUTE_MS;

function lastingOf(oldest: JudgedFinding, newest: JudgedFinding, now: Instant): string {
  const lasting = duration(msBetween(oldest.since, now) / 1000);
  if (oldest.isOlder) return `at least ${lasting}`;
  return msBetween(oldest.since, newest.since) > SAME_START_MS ? `up to ${lasting}` : lasting;
}

function targetVerdicts(
  target: string,
  memories: readonly EndpointMemory[],
  staleAfterMs: number,
  startedAt: Instant,
  now: Instant,
): TargetVerdicts {
  const endpoints = memories.map((memory) => endpointVerdicts(memory, staleAfterMs, startedAt, now));
  const verdicts = worstFirst(endpoints.flatMap(({ verdicts: own }) => own));
  const unknown = endpoints.flatMap((endpoint) => endpoint.unknown);
  const [worst] = verdicts;
  const [observedSince] = endpoints
    .flatMap((endpoint) => endpoint.observedSince ?? [])
    .toSorted((a, b) => a.monotonicMs - b.monotonicMs);
  const status =
    worst?.state === 'firing' ? worst.severity : unknown.length > 0 || worst !== undefined ? 'unknown' : 'ok';
  return { target, status, unknown, verdicts, observedSince };
}

const order = new Map(conditions.map(({ alert, severity }, index) => [JSON.stringify([alert, severity]), index]));

function worstFirst(verdicts: readonly Verdict[]): readonly Verdict[] {
  const rank = ({ state, severity, alert }: Verdict): readonly number[] => [
    Number(state === 'observing'),
    severities.indexOf(severity),
    order.get(JSON.stringify([alert, severity])) ?? 0,
  ];
  return verdicts
    .map((verdict) => ({ verdict, ranks: rank(verdict) }))
    .toSorted((a, b) => compareRanks(a.ranks, b.ranks))
    .map(({ verdict }) => verdict);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((rank, position) => rank !== b[position]);
  return (a[index] ?? 0) - (b[index] ?? 0);
}
