import { groupBy } from '../metrics/grouping.js';
import type { Instant } from '../poll/clock.js';
import { currentSuccess } from '../poll/endpoint-state.js';
import { isOutdated, withoutSuccess } from './endpoint-alerts.js';
import {
  findAll,
  judgedAlerts,
  presenceOf,
  viewOf,
  type AlertFinding,
  type JudgedEndpoint,
  type Presences,
} from './memory.js';
import { heightFamilies, heightUnchangedSince, isHeightUnchanged, MINUTE_MS, msBetween } from './poll-history.js';
import { isInhibited, type InhibitableAlert } from './inhibition.js';
import { duration } from './sentences.js';
import { severities, type TargetVerdicts, type Verdict } from './verdict.js';
import type { DatedFinding, DatedFindings, PollView } from './view.js';

/*
 * Judges the findings of a poll like the alert rules: by how long they last. A finding lasts since the first poll that found it, also
 * through an interruption of the data, while Prometheus begins to count again. After an interruption a page is therefore ahead of the
 * alert, never behind it.
 */

/** The verdicts of all targets, in the order of the endpoints. `startedAt` is the start of the process. */
export function verdictsOf(
  endpoints: readonly JudgedEndpoint[],
  startedAt: Instant,
  now: Instant,
): readonly TargetVerdicts[] {
  const byTarget = groupBy(endpoints, ({ state }) => state.target);
  return Array.from(byTarget, ([target, own]) => targetVerdicts(target, own, startedAt, now));
}

function targetVerdicts(
  target: string,
  judged: readonly JudgedEndpoint[],
  startedAt: Instant,
  now: Instant,
): TargetVerdicts {
  const endpoints = judged.map((endpoint) => endpointVerdicts(endpoint, startedAt, now));
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

function worstFirst(verdicts: readonly Verdict[]): readonly Verdict[] {
  const positionOf = ({ alert, severity }: Verdict): number =>
    judgedAlerts.findIndex((own) => own.name === alert && own.severity === severity);
  return verdicts.toSorted(
    (a, b) =>
      Number(a.state === 'observing') - Number(b.state === 'observing') ||
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      positionOf(a) - positionOf(b),
  );
}

interface JudgedFinding extends AlertFinding, DatedFinding {
  readonly since: Instant;
  readonly mayBeOlder: boolean;
  readonly state: Verdict['state'];
  readonly firesAt: Instant;
}

/** `undefined` for a finding that has not lasted long enough. */
function judge(finding: AlertFinding, presences: Presences, now: Instant): JudgedFinding | undefined {
  // A finding such as an age above a limit can begin between two polls: it is present from now on.
  const present = presenceOf(finding, presences) ?? { since: now, mayBeOlder: false };
  const since = finding.since ?? present.since;
  const mayBeOlder = finding.since === undefined ? present.mayBeOlder : finding.mayBeOlder === true;
  const requiredMs = (finding.rangeMinutes + finding.alert.forMinutes) * MINUTE_MS;
  const firesAt = later(present.since, requiredMs);
  const judged = { ...finding, since, mayBeOlder, firesAt };
  if (msBetween(firesAt, now) >= 0) return { ...judged, state: 'firing' };
  return present.mayBeOlder && possibleAgeMs(finding, now) >= requiredMs
    ? { ...judged, state: 'observing' }
    : undefined;
}

function later({ epochSeconds, monotonicMs }: Instant, ms: number): Instant {
  return { epochSeconds: epochSeconds + ms / 1000, monotonicMs: monotonicMs + ms };
}

/** How old a finding can be at most that began before the exporter observed it. */
function possibleAgeMs({ notBeforeSeconds }: AlertFinding, now: Instant): number {
  return notBeforeSeconds === undefined ? Infinity : (now.epochSeconds - notBeforeSeconds) * 1000;
}

/** Why the data of an endpoint cannot be judged; `undefined` when it can be. */
function reasonNotToJudge(view: PollView): string | undefined {
  const { state, history, samples, now } = view;
  if (state.success === undefined || isOutdated(view)) return withoutSuccess(view);
  if (!isHeightUnchanged(history, samples.value(heightFamilies[state.document]), state.document, now)) return undefined;
  // Without polls, no height changes.
  if (currentSuccess(state, now) === undefined) return withoutSuccess(view);
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

/** What is wrong with an endpoint now. */
function endpointVerdicts(endpoint: JudgedEndpoint, startedAt: Instant, now: Instant): EndpointVerdicts {
  const { state, memory } = endpoint;
  const view = viewOf(endpoint, startedAt, now);
  const reason = reasonNotToJudge(view);
  const judged = findAll('endpoint', view).map((finding) => judge(finding, memory.ofEndpoint, now));
  if (reason === undefined && state.success !== undefined) {
    judged.push(...findAll('data', view).map((finding) => judge(finding, memory.ofData, now)));
  }
  return {
    verdicts: verdictsOfFindings(
      judged.filter((finding) => finding !== undefined),
      view,
    ),
    unknown: reason === undefined ? [] : [reason],
    observedSince: memory.history.firstPollAt,
  };
}

/** One verdict for all findings of an alert in the same state, without those that another alert inhibits. */
function verdictsOfFindings(all: readonly JudgedFinding[], view: PollView): readonly Verdict[] {
  const inhibitable = all.map((finding) => ({ finding, ...inhibitableOf(finding) }));
  const firingAlerts = inhibitable.filter(({ finding }) => finding.state === 'firing');
  const judged = inhibitable.filter((own) => !isInhibited(own, firingAlerts)).map(({ finding }) => finding);
  return judgedAlerts.flatMap((alert) => {
    const own = judged.filter((finding) => finding.alert === alert);
    const firing = bySubject(own.filter(({ state }) => state === 'firing'));
    const isJudged = new Set(firing.map(subjectOf));
    const observing = bySubject(own.filter(({ state }) => state === 'observing')).filter(
      (finding) => !isJudged.has(subjectOf(finding)),
    );
    return [firing, observing].flatMap(([oldest, ...others]): Verdict[] =>
      oldest === undefined ? [] : [verdictOf(oldest, others, view)],
    );
  });
}

function inhibitableOf({ alert: { name, severity }, labels }: JudgedFinding): InhibitableAlert {
  return { alert: name, severity, labels };
}

function subjectOf({ labels }: DatedFinding): string {
  return JSON.stringify(labels);
}

/** The oldest finding of each subject, oldest first. Alternatives of an alert find the same subject. */
function bySubject(findings: readonly JudgedFinding[]): readonly JudgedFinding[] {
  const oldestFirst = findings.toSorted((a, b) => a.since.monotonicMs - b.since.monotonicMs);
  const oldest = new Map<string, JudgedFinding>();
  for (const finding of oldestFirst) {
    if (!oldest.has(subjectOf(finding))) oldest.set(subjectOf(finding), finding);
  }
  return Array.from(oldest.values());
}

function verdictOf(oldest: JudgedFinding, others: readonly JudgedFinding[], view: PollView): Verdict {
  const { name, severity, action, condition } = oldest.alert;
  if (severity === 'none') throw new Error(`${name} has no severity`);
  const all: readonly JudgedFinding[] = [oldest, ...others];
  const findings: DatedFindings = { all, oldest, duration: durationOf(oldest, all.at(-1) ?? oldest, view.now) };
  const { target, document } = view.state;
  return {
    target,
    document,
    alert: name,
    severity,
    state: oldest.state,
    since: oldest.since,
    firesAt: all.map(({ firesAt }) => firesAt).reduce((a, b) => (a.monotonicMs <= b.monotonicMs ? a : b)),
    subjects: all.map(({ labels }) => labels),
    summary: condition.sentence(findings, view),
    action: condition.actionFor?.(findings, view) ?? action,
  };
}

/** Longer than polls of the same incident are apart. */
const SAME_START_MS = 2 * MINUTE_MS;

function durationOf(oldest: JudgedFinding, newest: JudgedFinding, now: Instant): string {
  const lasting = duration(msBetween(oldest.since, now) / 1000);
  if (oldest.mayBeOlder) return `at least ${lasting}`;
  return msBetween(oldest.since, newest.since) > SAME_START_MS ? `up to ${lasting}` : lasting;
}
