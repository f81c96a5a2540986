import type { Instant } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import { MINUTE_SECONDS } from '../units.js';
import { pollProblems } from './polls.js';
import { problemKey, subjectLabels, type Inhibition, type Problem, type Severity, type Subject } from './problem.js';
import { problems } from './problems.js';

/*
 * When the alert of a problem fires, and which cause hides it. Pages, log, `once`, `backtest` and the series of a
 * scrape all call `judgeAlerts`.
 *
 * - An alert fires at its start plus its limit, or when the problem becomes present, if that is later. It does not
 *   begin to fire while the last judgement has missed the problem; once it fires, it goes on until the problem is gone.
 * - A cause hides an alert that fires with it or later. An alert that fired before its cause stays, because
 *   Alertmanager would report it as resolved; only an alert that the cause replaces is hidden. The memory has the
 *   alerts that have fired for a minute, so that they stay when a limit or a start moves.
 * - A hidden alert stays hidden while the cause fires, and for minutes after its end: nobody is alerted in the middle
 *   of a recovery, or when a cause comes and goes. The hidden alerts are in the memory, written with each poll.
 * - A process without memory does not know which alert fired first. For 15 minutes, a present cause without a proven
 *   start, such as BridgeHeightStalled, counts as fired before all others. Alerts with proven starts keep their order.
 */

/**
 * `keep_firing_for` of the rules: the alert of a cause lasts until the alerts that it hid may fire, and alerts of a
 * lost exporter last until BridgeExporterAbsent or BridgeExporterDown fires.
 */
export const KEEP_FIRING_MINUTES = 15;
/** How long a problem of the polls hides others after its end: new documents show whether more is wrong. */
const HIDES_AFTER_POLLS_MINUTES = 5;

/** The memory of the alerts of an endpoint: plain data. */
export interface AlertMemory {
  /** When the memory began. */
  readonly since: Instant;
  /** By the id of the hidden problem. */
  readonly hidden: ReadonlyMap<string, Hidden>;
  /** The ids of the problems whose alerts have fired for a minute and still fire. */
  readonly fired: readonly string[];
}

interface Hidden {
  /** The id of the cause. */
  readonly cause: string;
  readonly alert: string;
  readonly until: Instant;
}

/** The maximum of hidden and of fired alerts; a target has far fewer. */
const MAX_REMEMBERED = 1_000;

/** An alert of a target. */
export interface HidingAlert {
  readonly alert: string;
  readonly severity: Severity;
  readonly document: DocumentName;
  readonly subject: Subject;
}

/** A problem that is there, in any document of a target. */
export interface DueProblem extends HidingAlert {
  readonly id: string;
  readonly startAt: Instant;
  readonly limitSeconds: number;
  /** `undefined` after a single poll (`once`). */
  readonly presentAt: Instant | undefined;
  /** The last judgement that found it, if a later one has missed it. */
  readonly missingSince?: Instant | undefined;
  /** Whether a document proves the start. */
  readonly isProven: boolean;
  /** Of its endpoint; `undefined` before the first document. */
  readonly memory: AlertMemory | undefined;
}

export interface Alert<Each extends DueProblem = DueProblem> {
  readonly firesAt: Instant;
  /** Whether a cause hides it now, or will before it fires. */
  readonly isHidden: boolean;
  /** The firing cause that has no cause itself; a critical problem before the warning of the same name. */
  readonly cause: Each | undefined;
  /** The memory entry that keeps the alert hidden: while its cause fires, and for some minutes after. */
  readonly kept: Hidden | undefined;
}

/**
 * The alerts of all problems of a target that fire or can begin to. A cause that is hidden itself replaces no alert.
 */
export function judgeAlerts<Each extends DueProblem>(
  present: readonly Each[],
  now: Instant,
): ReadonlyMap<Each, Alert<Each>> {
  const candidates = present.filter((problem) => firesAt(problem) <= (problem.missingSince ?? Infinity));
  const possible = new Map(
    candidates.map((effect) => [effect, candidates.filter((cause) => cause !== effect && hides(cause, effect))]),
  );
  const earlier = new Map(
    Array.from(possible, ([effect, all]) => [effect, all.filter((cause) => isInTime(cause, effect, now))]),
  );
  const isShown = (cause: Each): boolean => firesAt(cause) <= now && earlier.get(cause)?.length === 0;
  const causes = new Map(
    Array.from(possible, ([effect, all]) => [
      effect,
      all.filter(
        (cause) => earlier.get(effect)?.includes(cause) === true || (replaces(cause, effect) && isShown(cause)),
      ),
    ]),
  );
  return new Map(
    candidates.map((effect) => {
      const own = causes.get(effect) ?? [];
      const firing = own.filter((cause) => effectiveFiringTime(cause, now) <= now);
      const cause =
        firing.find((each) => isSameButCritical(each, effect)) ??
        firing.find((each) => causes.get(each)?.length === 0) ??
        firing[0];
      const kept = effect.memory?.hidden.get(effect.id);
      const isKept = kept !== undefined && now < kept.until;
      return [
        effect,
        {
          firesAt: firesAt(effect),
          isHidden: own.length > 0 || isKept,
          cause,
          kept: isKept ? kept : undefined,
        },
      ];
    }),
  );
}

/** The memory of an endpoint after a poll. `alerts`: of its whole target; `isOwn`: of this endpoint. */
export function rememberAlerts<Each extends DueProblem>(
  before: AlertMemory,
  alerts: ReadonlyMap<Each, Alert<Each>>,
  now: Instant,
  isOwn: (problem: Each) => boolean,
): AlertMemory {
  const own = Array.from(alerts).filter(([problem]) => isOwn(problem));
  const causes = new Map(Array.from(alerts.keys(), (problem) => [problem.id, problem]));
  const hiddenNow = own.flatMap(([{ id }, { cause }]) =>
    cause === undefined ? [] : [[id, { cause: cause.id, alert: cause.alert, until: now }] as const],
  );
  // An entry stays while its cause fires, even if the hidden problem is withdrawn. A cause that has not fired, but may
  // have before this process, adds none.
  const hidden = [...before.hidden, ...hiddenNow].flatMap(([id, each]) => {
    const cause = causes.get(each.cause);
    const minutes = cause !== undefined && isOfPolls(cause) ? HIDES_AFTER_POLLS_MINUTES : KEEP_FIRING_MINUTES;
    const isFiring = cause !== undefined && firesAt(cause) <= now;
    const until = isFiring ? now + minutes * MINUTE_SECONDS : each.until;
    return now < until ? [[id, { ...each, until }] as const] : [];
  });
  const fired = own.flatMap(([effect, { firesAt: at, isHidden }]) =>
    !isHidden && now - at >= (hasFired(effect) ? 0 : MINUTE_SECONDS) ? [effect.id] : [],
  );
  return {
    ...before,
    hidden: new Map(hidden.slice(-MAX_REMEMBERED)),
    fired: fired.slice(-MAX_REMEMBERED),
  };
}

/** When the alert of a problem fires, unless a cause hides it. */
export function firesAt({ startAt, limitSeconds, presentAt = -Infinity }: DueProblem): Instant {
  return Math.max(startAt + limitSeconds, presentAt);
}

function isInTime(cause: DueProblem, effect: DueProblem, now: Instant): boolean {
  const hasHidden = effect.memory?.hidden.get(effect.id)?.cause === cause.id;
  if (hasHidden && firesAt(cause) <= now) return true;
  return effectiveFiringTime(cause, now) <= effectiveFiringTime(effect, Infinity) && !hasFired(effect);
}

function hasFired({ id, memory }: DueProblem): boolean {
  return memory?.fired.includes(id) === true;
}

/** A problem that begins later than this after the start of the process did not fire before the start. */
const FIRST_SECONDS = 2 * MINUTE_SECONDS;

/** When an alert fires, or would have fired if this process had run since the problem began. */
function effectiveFiringTime(problem: DueProblem, now: Instant): Instant {
  const { startAt, limitSeconds, presentAt, isProven, memory } = problem;
  const since = memory?.since ?? -Infinity;
  const learnedAt = since + KEEP_FIRING_MINUTES * MINUTE_SECONDS;
  if (presentAt === undefined || presentAt > learnedAt) return firesAt(problem);
  if (isProven) return startAt + limitSeconds;
  return now < learnedAt && startAt <= since + FIRST_SECONDS ? -Infinity : firesAt(problem);
}

/*
 * Which problem hides which one of its target, by their declarations. These are transitively closed, so that nobody has
 * to follow a chain of causes (a test names missing ones).
 */

type Declaring = Pick<Problem, 'name' | 'severity' | 'inhibits' | 'inhibitsDocument' | 'isUrgent'>;

/** Problems of the polls have one declaration for all documents. */
const declarations: ReadonlyMap<string, Declaring> = new Map([
  ...pollProblems.map((each): [string, Declaring] => [`${each.name} ${each.severity}`, each]),
  ...problems.map((each): [string, Declaring] => [problemKey(each), each]),
]);
const pollAlerts: ReadonlySet<string> = new Set(pollProblems.map(({ name }) => name));

function findDeclaration({ alert, severity, document }: HidingAlert): Declaring | undefined {
  return declarations.get(`${alert} ${severity} ${document}`) ?? declarations.get(`${alert} ${severity}`);
}

/** Whether an alert is the cause of another one of its target. */
export function hides(cause: HidingAlert, effect: HidingAlert): boolean {
  const { inhibits = [], inhibitsDocument } = findDeclaration(cause) ?? {};
  return (
    isSameButCritical(cause, effect) ||
    (inhibitsDocument === true && hidesOfDocument(cause, effect)) ||
    inhibits.some((inhibition) => isInhibited(inhibition, cause, effect))
  );
}

export function isOfPolls({ alert }: Pick<HidingAlert, 'alert'>): boolean {
  return pollAlerts.has(alert);
}

/**
 * Whether a cause also hides an alert that fired before it, because it reports the same. BridgeSnapshotStale does not
 * replace alerts of failing polls: where another exporter polls the document, its rule does not fire.
 */
function replaces(cause: HidingAlert, effect: HidingAlert): boolean {
  const isStale = cause.alert === 'BridgeSnapshotStale' && isOfPolls(effect) && !failedPollAlerts.has(effect.alert);
  return isStale || isSameButCritical(cause, effect);
}

const failedPollAlerts: ReadonlySet<string> = new Set(['BridgeEndpointDown', 'BridgeEndpointMisconfigured']);

/**
 * Whether the cause is the critical problem of the same name and subject as a warning. BridgeProblemUnjudged names other
 * problems in each severity.
 */
export function isSameButCritical(cause: HidingAlert, effect: HidingAlert): boolean {
  return (
    cause.severity === 'critical' &&
    effect.severity === 'warning' &&
    cause.alert === effect.alert &&
    cause.alert !== 'BridgeProblemUnjudged' &&
    cause.document === effect.document &&
    subjectLabels.every((label) => cause.subject[label] === effect.subject[label])
  );
}

/**
 * Whether the cause says that the document is not current: not polled, standing still or behind. A warning hides
 * neither critical alerts nor CrosschainOutboundDisabled, which itself hides the critical alerts that only repeat it.
 */
function hidesOfDocument(cause: HidingAlert, effect: HidingAlert): boolean {
  const { inhibitsDocument, isUrgent } = findDeclaration(effect) ?? {};
  const isOther = isOfPolls(cause) || inhibitsDocument !== true || cause.severity !== effect.severity;
  const isLess = cause.severity === 'critical' || (effect.severity !== 'critical' && isUrgent !== true);
  return cause.document === effect.document && !isOfPolls(effect) && isOther && isLess;
}

function isInhibited(
  { problem, severity, equal = [], exceptWatched = false }: Inhibition,
  cause: HidingAlert,
  effect: HidingAlert,
): boolean {
  const isEqual = (label: keyof Subject | 'document'): boolean =>
    label === 'document' ? cause.document === effect.document : cause.subject[label] === effect.subject[label];
  return (
    problem === effect.alert &&
    (severity === undefined || severity === effect.severity) &&
    !(exceptWatched && effect.subject.watched === 'true') &&
    equal.every(isEqual)
  );
}
