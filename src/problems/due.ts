import type { Instant } from '../clock.js';
import { MINUTE_SECONDS } from '../units.js';
import { hides, isCriticalForm, isOfPolls, replaces, type HidingAlert } from './hiding.js';

/*
 * When the alert of a problem fires, and which cause hides it. Pages, log, `once`, `backtest` and the series of a
 * scrape all call `judgeAlerts`.
 *
 * - An alert fires at the later of start plus limit and of when the problem became present. What the last judgement has
 *   missed does not begin to fire, and what has fired goes on until it is gone.
 * - A cause hides what fires at the same time as itself or later. What fired before its cause stays, because
 *   Alertmanager would say "resolved" of what is not; only what the cause replaces does not. The memory has what has
 *   fired for a minute: it stays, too, when a limit or a start moves.
 * - What a cause hid stays hidden while the cause fires, and for minutes after its end: nobody is alerted in the middle
 *   of a recovery, or when a cause comes and goes. The memory of the endpoint has that, written with each poll.
 * - A process without memory does not know what fired before it. In its first minutes, a present cause hides as if it
 *   had fired, unless the documents prove that it has not; what they prove keeps its order.
 */

/**
 * `keep_firing_for` of the rules: the alert of a cause is there until those of its consequences may fire, and that of an
 * exporter that is lost until BridgeExporterAbsent or BridgeExporterDown fires.
 */
export const KEEP_FIRING_MINUTES = 15;
/** How long a problem of the polls hides after its end: what follows shows whether something else is wrong. */
const HIDES_AFTER_POLLS_MINUTES = 5;

/** What the alerts of an endpoint remember: plain data. */
export interface AlertMemory {
  /** When the memory began. */
  readonly since: Instant;
  /** By the id of the hidden problem. */
  readonly hidden: ReadonlyMap<string, Hidden>;
  /** The ids of what has fired for a minute and still does. */
  readonly fired: readonly string[];
}

interface Hidden {
  /** The id of the cause. */
  readonly cause: string;
  readonly alert: string;
  readonly until: Instant;
}

/** Far more than the endpoints of a target have. */
const MAX_REMEMBERED = 1_000;

/** A problem that is there, in any document of a target. */
export interface DueProblem extends HidingAlert {
  readonly id: string;
  readonly startAt: Instant;
  readonly limitSeconds: number;
  /** `undefined` if one poll is all there is. */
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
  /** What a cause hid, while it fires and after its end. */
  readonly kept: Hidden | undefined;
}

/**
 * The alerts of all problems of a target that fire or can begin to. What a problem replaces stays while the problem
 * itself is hidden.
 */
export function judgeAlerts<Each extends DueProblem>(
  present: readonly Each[],
  now: Instant,
): ReadonlyMap<Each, Alert<Each>> {
  const problems = present.filter((problem) => firesAt(problem) <= (problem.missingSince ?? Infinity));
  const possible = new Map(
    problems.map((effect) => [effect, problems.filter((cause) => cause !== effect && hides(cause, effect))]),
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
    problems.map((effect) => {
      const own = causes.get(effect) ?? [];
      const firing = own.filter((cause) => effectiveFiringTime(cause, now) <= now);
      const cause =
        firing.find((each) => isCriticalForm(each, effect)) ??
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

/** The memory of an endpoint after a poll, with the alerts of its target, of which some are its own. */
export function rememberAlerts<Each extends DueProblem>(
  before: AlertMemory,
  alerts: ReadonlyMap<Each, Alert<Each>>,
  now: Instant,
  isOwn: (problem: Each) => boolean = () => true,
): AlertMemory {
  const own = Array.from(alerts).filter(([problem]) => isOwn(problem));
  const causes = new Map(Array.from(alerts.keys(), (problem) => [problem.id, problem]));
  const hiddenNow = own.flatMap(([{ id }, { cause }]) =>
    cause === undefined ? [] : [[id, { cause: cause.id, alert: cause.alert, until: now }] as const],
  );
  // What a cause hid can be withdrawn while the cause fires. A cause that only may have fired before this process hides no longer.
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

/** What is found so long after the beginning of a process has not fired before it. */
const FIRST_SECONDS = 2 * MINUTE_SECONDS;

/** When an alert fires, or would have in a process that had seen its beginning. */
function effectiveFiringTime(problem: DueProblem, now: Instant): Instant {
  const { startAt, limitSeconds, presentAt, isProven, memory } = problem;
  const since = memory?.since ?? -Infinity;
  const learnedAt = since + KEEP_FIRING_MINUTES * MINUTE_SECONDS;
  if (presentAt === undefined || presentAt > learnedAt) return firesAt(problem);
  if (isProven) return startAt + limitSeconds;
  return now < learnedAt && startAt <= since + FIRST_SECONDS ? -Infinity : firesAt(problem);
}
