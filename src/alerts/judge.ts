import { documents, type DocumentName } from '../documents.js';
import { firstBy, groupBy } from '../facts/grouping.js';
import { type Instant, msBetween } from '../clock.js';
import { MINUTE_MS } from '../config/units.js';
import { exportedSuccess } from '../poll/endpoint-state.js';
import { duration } from '../text/format.js';
import { severities, type Condition, type Severity } from './alert.js';
import { findAll, judgedAlerts, type AlertFinding, type AlertName } from './alerts.js';
import { isOutdated, withoutSuccess } from './endpoint-alerts.js';
import type { Sentence } from './sentences.js';
import { presenceOf, viewOf, type KnownEndpoint, type Presences } from './endpoint-memory.js';
import {
  steadyHeight,
  type AlertLabels,
  type DatedFinding,
  type DatedFindings,
  type PollView,
  type Start,
} from './view.js';

/*
 * Judges the findings of a poll like the alert rules: by how long they last. A finding lasts since the first poll that found it, also
 * through an interruption of the data, while Prometheus begins to count again. After an interruption a page is therefore ahead of the
 * alert, never behind it.
 */

/** One condition that holds for a target. It corresponds to an alert, or to the alerts of all its validators, chains or fields. */
export interface Verdict {
  readonly target: string;
  readonly document: DocumentName;
  /** The alert with the same condition, thresholds and severity. */
  readonly alert: AlertName;
  readonly severity: Severity;
  /**
   * `firing`: it has held as long as the alert requires. `observing`: it has held since the exporter began to observe the endpoint,
   * which is not yet as long as the alert requires, so it cannot be judged. `pending`: it began later, and has held for a part of that
   * time.
   */
  readonly state: 'firing' | 'observing' | 'pending';
  /** Since when it is known to hold. */
  readonly since: Instant;
  /** Whether it may have begun before. */
  readonly mayBeOlder: boolean;
  /** From when on it fires; in the future unless it is `firing`, provided that it persists. */
  readonly firesAt: Instant;
  /** What each finding is about: the labels of its alert besides `target` and `document`, one per validator, chain or field. */
  readonly subjects: readonly AlertLabels[];
  /** Whether the findings have one alert together, which has none of these labels. */
  readonly isOneAlert: boolean;
  /** The firing alert of the target that inhibits this one, and is not inhibited itself. */
  readonly inhibitedBy: AlertName | null;
  /** What is wrong, since when, how much and who: "no event observed for 18 min, 57 waiting; …". */
  readonly sentence: Sentence;
  /** What to do first; about what inhibits it, if anything does. */
  readonly action: string;
}

/** All verdicts of a target, worst first, and inhibited ones last. */
export interface TargetVerdicts {
  readonly target: string;
  /**
   * The severity of the worst firing verdict. Unless that is `critical` or `warning`: `unknown` when some endpoint cannot be judged, because it was never polled,
   * its data is outdated, or a verdict is `observing`; `pending` when a condition is on its way to an alert; `info`; `ok` otherwise.
   */
  readonly status: Severity | 'unknown' | 'pending' | 'ok';
  /** Why the target cannot be judged; empty unless something cannot be. */
  readonly unknown: readonly string[];
  readonly verdicts: readonly Verdict[];
  /** When the exporter began to observe the target. */
  readonly observedSince: Instant | undefined;
}

/** The verdicts of all targets, in the order of the endpoints. */
export function verdictsOf(endpoints: readonly KnownEndpoint[], now: Instant): readonly TargetVerdicts[] {
  const byTarget = groupBy(endpoints, ({ state }) => state.target);
  return Array.from(byTarget, ([target, own]) => targetVerdicts(target, own, now));
}

function targetVerdicts(target: string, judged: readonly KnownEndpoint[], now: Instant): TargetVerdicts {
  const isContractPaused = contractPaused(judged, now);
  const endpoints = judged.map((endpoint) => judgeEndpoint(endpoint, now, isContractPaused));
  const firing = firingIn(endpoints.flatMap(({ findings }) => findings));
  const verdicts = worstFirst(endpoints.flatMap(({ findings, view }) => verdictsOfFindings(findings, firing, view)));
  const unknown = endpoints.flatMap((endpoint) => endpoint.unknown);
  const [worst] = verdicts;
  const [observedSince] = judged
    .flatMap(({ memory }) => memory.history.firstPollAt ?? [])
    .toSorted((a, b) => a.monotonicMs - b.monotonicMs);
  const isUnknown = unknown.length > 0 || verdicts.some(({ state }) => state === 'observing');
  const status =
    worst?.state === 'firing' && worst.severity !== 'info'
      ? worst.severity
      : isUnknown
        ? 'unknown'
        : worst === undefined
          ? 'ok'
          : worst.state === 'pending'
            ? 'pending'
            : worst.severity;
  return { target, status, unknown, verdicts, observedSince };
}

/** In the order of the pages. */
const STATES: readonly Verdict['state'][] = ['firing', 'observing', 'pending'];

/** For the record only, so after everything that may become a problem. */
const isNote = ({ severity, state }: Verdict): boolean => severity === 'info' && state === 'firing';

function worstFirst(verdicts: readonly Verdict[]): readonly Verdict[] {
  const positionOf = ({ alert, severity }: Verdict): number =>
    judgedAlerts.findIndex((own) => own.name === alert && own.severity === severity);
  return verdicts.toSorted(
    (a, b) =>
      Number(a.inhibitedBy !== null) - Number(b.inhibitedBy !== null) ||
      Number(isNote(a)) - Number(isNote(b)) ||
      STATES.indexOf(a.state) - STATES.indexOf(b.state) ||
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      positionOf(a) - positionOf(b),
  );
}

type JudgedFinding = AlertFinding & DatedFinding & Pick<Verdict, 'document' | 'state' | 'firesAt'>;

/** From this share of the required time on, a condition is shown as pending. Most end earlier on any healthy bridge. */
const PENDING_SHARE = 1 / 3;
const PENDING_MINUTES = 2;

/**
 * `undefined` for a finding that has not lasted long enough to be shown, or of which something does not hold now. It fires when it has lasted
 * for the range and `for` of the alert, or for the time of its `Start`. What may have begun before that is `observing` until then, unless it
 * is proven to be too young.
 */
function judge(finding: AlertFinding, { state, now }: PollView, presences: Presences): JudgedFinding | undefined {
  const { start, alert, rangeMinutes } = finding;
  if (!finding.holdsNow) return undefined;
  const present = presentSince(finding, presences, now);
  const { since, mayBeOlder } = start === undefined || start.kind === 'proven' ? present : start;
  const counted = start?.kind === 'counted' ? start : present;
  const requiredMs = start?.kind === 'counted' ? start.requiredMs : (rangeMinutes + alert.forMinutes) * MINUTE_MS;
  const firesAt = shifted(counted.since, requiredMs);
  const judged = { ...finding, document: state.document, since, mayBeOlder, firesAt };
  if (msBetween(firesAt, now) >= 0) return { ...judged, state: 'firing' };
  // What is only for the record and may end soon is not worth a word.
  if (alert.severity === 'info') return undefined;
  if (counted.mayBeOlder && possibleAgeMs(start, now) >= requiredMs) return { ...judged, state: 'observing' };
  const shownAfterMs = Math.max(requiredMs * PENDING_SHARE, PENDING_MINUTES * MINUTE_MS);
  const isShown = requiredMs - msBetween(now, firesAt) >= shownAfterMs;
  return isShown ? { ...judged, state: 'pending' } : undefined;
}

/** Since when a finding is in every poll; for the time before the exporter observed it, by the data if that proves it. */
function presentSince(
  finding: AlertFinding,
  presences: Presences,
  now: Instant,
): Pick<DatedFinding, 'since' | 'mayBeOlder'> {
  const { start } = finding;
  // A finding such as an age above a limit can begin between two polls: it is present from now on.
  const present = presenceOf(finding, presences) ?? { since: now, mayBeOlder: false };
  if (!present.mayBeOlder || start?.kind !== 'proven') return present;
  const provenSeconds = start.sinceSeconds();
  if (provenSeconds === undefined) return present;
  const since = shifted(present.since, Math.min(0, provenSeconds - present.since.epochSeconds) * 1000);
  return { since, mayBeOlder: start.mayBeOlder };
}

function shifted({ epochSeconds, monotonicMs }: Instant, ms: number): Instant {
  return { epochSeconds: epochSeconds + ms / 1000, monotonicMs: monotonicMs + ms };
}

/** How old a finding can be at most that may have begun before it was observed. */
function possibleAgeMs(start: Start | undefined, now: Instant): number {
  const seconds = start === undefined || start.kind === 'shown' ? undefined : start.notBeforeSeconds?.();
  return seconds === undefined ? Infinity : (now.epochSeconds - seconds) * 1000;
}

/** Why the data of an endpoint cannot be judged; `undefined` when it can be. */
function reasonNotToJudge(view: PollView): string | undefined {
  const { state, now } = view;
  if (state.success === undefined || isOutdated(view)) return withoutSuccess(view);
  const steady = steadyHeight(view);
  if (steady === undefined) return undefined;
  // Without polls, no height changes.
  if (exportedSuccess(state, now) === undefined) return withoutSuccess(view);
  const lasting = duration(msBetween(steady.since, now) / 1000);
  return steady.mayBeOlder
    ? `${state.document} has been observed for ${lasting}, and its height has not changed yet`
    : `the height of ${state.document} has not changed for ${lasting}`;
}

/**
 * What the documents of one poll show, worst first. It is `observing` unless the data prove how long it has lasted; whether the height
 * changes is not known.
 */
export function verdictsOfOnePoll(endpoints: readonly KnownEndpoint[], now: Instant): readonly Verdict[] {
  return worstFirst(
    endpoints.flatMap((endpoint) => {
      const view = viewOf(endpoint, now);
      const findings = findAll('data', view).flatMap(
        (finding) => judge(finding, view, endpoint.memory.presences.data) ?? [],
      );
      return verdictsOfFindings(findings, firingIn(findings), view);
    }),
  );
}

/** Without an optional document, the target can be judged. */
function asPending(finding: JudgedFinding): JudgedFinding {
  return finding.state === 'observing' ? { ...finding, state: 'pending' } : finding;
}

/** `undefined` without recent data of the contract. */
function contractPaused(judged: readonly KnownEndpoint[], now: Instant): boolean | undefined {
  const contract = judged.find(({ state }) => state.document === 'external_contract');
  if (contract === undefined || exportedSuccess(contract.state, now) === undefined) return undefined;
  const value = viewOf(contract, now).samples.value('bridge_contract_paused');
  return value === undefined ? undefined : value > 0;
}

/** What is wrong with an endpoint now, and why it cannot be judged. */
function judgeEndpoint(
  endpoint: KnownEndpoint,
  now: Instant,
  isContractPaused: boolean | undefined,
): { readonly view: PollView; readonly findings: readonly JudgedFinding[]; readonly unknown: readonly string[] } {
  const view = viewOf(endpoint, now, isContractPaused);
  const { isOptional } = documents[view.state.document];
  const judgedFindings = (source: Condition['source']): readonly JudgedFinding[] =>
    findAll(source, view).flatMap((finding) => judge(finding, view, endpoint.memory.presences[source]) ?? []);
  const ofEndpoint = judgedFindings('endpoint').map((finding) => (isOptional ? asPending(finding) : finding));
  const reason = reasonNotToJudge(view);
  return reason === undefined
    ? { view, findings: [...ofEndpoint, ...judgedFindings('data')], unknown: [] }
    : { view, findings: ofEndpoint, unknown: isOptional ? [] : [reason] };
}

type InhibitedFinding = JudgedFinding & Pick<Verdict, 'inhibitedBy'>;

function firingIn(findings: readonly JudgedFinding[]): readonly JudgedFinding[] {
  return findings.filter(({ state }) => state === 'firing');
}

/**
 * One verdict for all findings of an alert in the same state and with the same inhibition, without those that a critical alert includes.
 * `firing` is all of the target.
 */
function verdictsOfFindings(
  all: readonly JudgedFinding[],
  firing: readonly JudgedFinding[],
  view: PollView,
): readonly Verdict[] {
  const firingFirst = all
    .filter((finding) => !firing.some((other) => includes(other, finding)))
    .map((finding): InhibitedFinding => ({ ...finding, inhibitedBy: inhibitorOf(finding, firing) }))
    // What would fire later says nothing beside what fires now.
    .filter(({ state, inhibitedBy }) => state === 'firing' || inhibitedBy === null)
    .toSorted((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state) || a.since.monotonicMs - b.since.monotonicMs);
  // Several patterns of an alert can find the same subject.
  const indexOf = ({ alert }: JudgedFinding): number => judgedAlerts.findIndex((own) => own === alert);
  const distinct = firstBy(firingFirst, (finding) => JSON.stringify([indexOf(finding), finding.labels]));
  const byAlert = groupBy(
    Array.from(distinct.values()),
    (finding) => `${indexOf(finding)} ${finding.state} ${finding.inhibitedBy}`,
  );
  return Array.from(byAlert.values()).flatMap(([oldest, ...others]) =>
    oldest === undefined || !reachesMinimum(oldest, others) ? [] : [verdictOf(oldest, others, view)],
  );
}

function reachesMinimum(first: JudgedFinding, others: readonly JudgedFinding[]): boolean {
  const { minimumSum } = first.alert.condition;
  return minimumSum === undefined || others.reduce((sum, { value }) => sum + value, first.value) >= minimumSum;
}

function verdictOf(oldest: InhibitedFinding, others: readonly JudgedFinding[], view: PollView): Verdict {
  const { inhibitedBy } = oldest;
  const { name, severity, action, condition } = oldest.alert;
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
    mayBeOlder: oldest.mayBeOlder,
    firesAt: all.map(({ firesAt }) => firesAt).reduce((a, b) => (a.monotonicMs <= b.monotonicMs ? a : b)),
    subjects: all.map(({ labels }) => labels),
    isOneAlert: condition.minimumSum !== undefined,
    inhibitedBy,
    sentence: condition.sentence(findings, view),
    // The action of its own can do harm, such as asking others to vote for a false claim.
    action: inhibitedBy === null ? (condition.actionFor?.(findings, view) ?? action) : `Begin with ${inhibitedBy}.`,
  };
}

/** Longer than polls of the same incident are apart. */
const SAME_START_MS = 2 * MINUTE_MS;

function durationOf(oldest: JudgedFinding, newest: JudgedFinding, now: Instant): string {
  const lasting = duration(msBetween(oldest.since, now) / 1000);
  if (oldest.mayBeOlder) return `at least ${lasting}`;
  return msBetween(oldest.since, newest.since) > SAME_START_MS ? `up to ${lasting}` : lasting;
}

/** An alert about a subject, which its labels identify. */
export type Inhibitable = Pick<JudgedFinding, 'alert' | 'labels' | 'document'>;

/** The labels that the critical and the warning form of an alert have in common when they are about the same subject. */
export const SUBJECT_LABELS = ['orchestrator', 'address', 'chain_id', 'list', 'token_contract'] as const;

/** A critical alert includes the warning for the same subject. */
export function includes(source: Inhibitable, target: Inhibitable): boolean {
  const isWarning = source.alert.severity === 'critical' && target.alert.severity === 'warning';
  return (
    isWarning && source.alert.name === target.alert.name && haveEqual(['document', ...SUBJECT_LABELS], source, target)
  );
}

/**
 * Which of the firing alerts of a target inhibits one, and is not inhibited itself. `inhibitsData` is of no importance here: what was wrong
 * with the last data of an endpoint that is down is still the best knowledge, and while the data is outdated nothing is found in it.
 */
function inhibitorOf(target: Inhibitable, firing: readonly Inhibitable[]): AlertName | null {
  const source = firing.find((other) => inhibits(other, target));
  return source === undefined ? null : (inhibitorOf(source, firing) ?? source.alert.name);
}

/** An inhibition hides what is not firing yet. */
export function inhibits(source: Inhibitable, target: Inhibitable): boolean {
  return source.alert.inhibits.some(
    ({ alert, severity = target.alert.severity, labels = {}, equal = [] }) =>
      alert === target.alert.name &&
      severity === target.alert.severity &&
      Object.entries(labels).every(([name, value]) => target.alert.labels[name] === value) &&
      haveEqual(equal, source, target),
  );
}

function haveEqual(labels: readonly string[], a: Inhibitable, b: Inhibitable): boolean {
  return labels.every((label) =>
    label === 'document' ? a.document === b.document : a.labels[label] === b.labels[label],
  );
}
