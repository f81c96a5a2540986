import { groupBy } from '../../src/facts/grouping.js';
import type { JudgedAlert } from '../../src/alerts/alert.js';
import { alerts, judgedAlerts, type AlertName } from '../../src/alerts/alerts.js';
import { includes, inhibits, type Inhibitable, type Verdict } from '../../src/alerts/judge.js';
import type { AlertLabels } from '../../src/alerts/view.js';
import type { Firing } from './promtool.js';
import type { RecordingOptions } from './recording.js';

/*
 * The same polls are judged by the exporter and by promtool, the rule engine of Prometheus. Both have to agree in every minute, except
 * after an interruption of the data: then Prometheus begins to count again, so the exporter may be ahead of it, but never behind it.
 */

/** The alerts that a running exporter cannot judge, because they are about its absence or other exporters, and the watchdog. */
export const ALERTS_WITHOUT_VERDICT: readonly string[] = alerts
  .filter(({ condition }) => condition === undefined)
  .map(({ name, severity }) => `${name}/${severity}`);

/** The alerts that do not fire while another exporter of the target has better data, which this one does not know. */
const PREVENTED_ALERTS: ReadonlySet<string> = new Set(['BridgeSnapshotStale', 'BridgeStateRolledBack']);

/** The alerts that compare with values from before a restart, which only Prometheus remembers. */
const REMEMBERED_ALERTS: ReadonlySet<string> = new Set([
  'BridgeParamsChanged',
  'BridgeBlacklistChanged',
  'BridgeStateRolledBack',
  'BridgeObjectiveMissed',
]);

/** Verdicts and alerts may differ by this at the start: Prometheus 3 excludes the first sample of a range. */
const TOLERANCE_MINUTES = 2;

interface AlertMinutes extends Inhibitable {
  readonly firing: Set<number>;
  readonly observing: Set<number>;
}

/** The verdicts of a recording by minute. */
export interface ObservedVerdicts {
  readonly observe: NonNullable<RecordingOptions['observe']>;
  readonly byKey: ReadonlyMap<string, AlertMinutes>;
  /** The minutes in which an exporter ran. */
  readonly minutes: ReadonlySet<number>;
  /** The minutes in which a poll failed or the data was outdated. */
  readonly interrupted: ReadonlySet<number>;
}

/** Labels that are in only some alerts, or only for the text. */
const OTHER_LABELS: ReadonlySet<string> = new Set(['job', 'instance', 'name', 'watched']);

/** Identifies an alert, and the verdict that corresponds to it. For Prometheus, an empty label is absent. */
function keyOf(alert: string, severity: string, labels: AlertLabels): string {
  const pairs = Object.entries(labels)
    .filter(([name, value]) => !OTHER_LABELS.has(name) && value !== '')
    .map(([name, value]) => `${name}=${value}`);
  return [`${alert}/${severity}`, ...pairs.toSorted()].join(' ');
}

export function observeVerdicts(): ObservedVerdicts {
  const byKey = new Map<string, AlertMinutes>();
  const minutes = new Set<number>();
  const interrupted = new Set<number>();
  const add = ({ alert, severity, target, document, state, subjects, isOneAlert }: Verdict, minute: number): void => {
    if (state === 'pending') return;
    for (const subject of isOneAlert ? [{}] : subjects) {
      const labels = { ...subject, target, document };
      const key = keyOf(alert, severity, labels);
      const known = byKey.get(key) ?? {
        alert: declarationOf(alert, severity, labels),
        labels,
        document,
        firing: new Set(),
        observing: new Set(),
      };
      byKey.set(key, known);
      known[state].add(minute);
    }
  };
  const observe: ObservedVerdicts['observe'] = (targets, minute, endpoints) => {
    minutes.add(minute);
    const isFailing = endpoints.some(({ last }) => last?.ok === false);
    if (isFailing || targets.some(({ unknown }) => unknown.length > 0)) interrupted.add(minute);
    for (const { verdicts } of targets) for (const verdict of verdicts) add(verdict, minute);
  };
  return { observe, byKey, minutes, interrupted };
}

function minutesBetween(from: number, until: number): number[] {
  return Array.from({ length: Math.max(0, Math.floor(until - from) + 1) }, (_, index) => from + index);
}

function minutesNear(minute: number): number[] {
  return minutesBetween(minute - TOLERANCE_MINUTES, minute + TOLERANCE_MINUTES);
}

function declarationOf(alert: string, severity: string, labels: AlertLabels): JudgedAlert<AlertName> {
  const all: readonly JudgedAlert<AlertName>[] = judgedAlerts;
  const same = all.filter(
    ({ name, severity: own, condition: { document = labels['document'] } }) =>
      name === alert && own === severity && document === labels['document'],
  );
  // One about each validator, and one about all others together.
  const isSum = labels['orchestrator'] === undefined;
  const found = same.find((own) => same.length === 1 || (own.condition.minimumSum !== undefined) === isSum);
  if (found === undefined) throw new Error(`${alert} with severity ${severity} is not declared`);
  return found;
}

/** How long Prometheus may need to find again what an interruption has hidden: the range and `for`. */
function recountMinutes({ forMinutes, condition }: JudgedAlert): number {
  return Math.max(...condition.patterns.map(({ rangeMinutes }) => rangeMinutes)) + forMinutes;
}

/** Every minute in which verdicts and alerts of an exporter contradict each other, as a sentence. `isAlone`: no other has its target. */
export function contradictions(
  { byKey, minutes, interrupted }: ObservedVerdicts,
  all: readonly Firing[],
  isAlone = true,
): string[] {
  const hasRunUntil = (minute: number): boolean => minutesBetween(0, minute).every((past) => minutes.has(past));
  const firings = all.filter(
    ({ alert, severity, from }) =>
      !ALERTS_WITHOUT_VERDICT.includes(`${alert}/${severity}`) && (hasRunUntil(from) || !REMEMBERED_ALERTS.has(alert)),
  );
  const firingsByKey = groupBy(firings, ({ alert, severity, labels }) => keyOf(alert, severity, labels));

  const isAlertAt = (key: string, minute: number): boolean =>
    (firingsByKey.get(key) ?? []).some(({ from, until }) => from <= minute && minute <= until);
  const start = Math.min(...minutes);
  const withoutAlert = Array.from(byKey).flatMap(([key, { alert, firing }]) => {
    if (!isAlone && PREVENTED_ALERTS.has(alert.name)) return [];
    const mayBeAhead = (minute: number): boolean =>
      minutesBetween(minute - recountMinutes(alert) - TOLERANCE_MINUTES, minute).some(
        // The data proves what has held since before the first poll.
        (past) => interrupted.has(past) || past < start,
      );
    const wrong = Array.from(firing).filter(
      (minute) => !mayBeAhead(minute) && !minutesNear(minute).some((near) => isAlertAt(key, near)),
    );
    return wrong.length === 0 ? [] : [`${key}: a verdict without an alert in minutes ${wrong.join(', ')}`];
  });

  const withoutVerdict = Array.from(firingsByKey).flatMap(([key, own]) =>
    own.flatMap((firing) => {
      const { from, until, count } = firing;
      const hasVerdict = (minute: number): boolean =>
        byKey.get(key)?.firing.has(minute) === true || isIncluded(firing, byKey, minute);
      if (!minutesNear(from).some(hasVerdict)) return [`${key}: no verdict when the alert starts in minute ${from}`];
      // Of an alert that starts repeatedly, only the first start and the last end are known.
      if (count > 1) return [];
      // Within keep_firing_for, an alert lasts although its condition is gone; afterwards it needs a verdict again.
      const keptMinutes =
        declarationOf(firing.alert, firing.severity, firing.labels).keepFiringMinutes + TOLERANCE_MINUTES;
      const alone = minutesBetween(from, until).filter(
        (minute) =>
          minutes.has(minute) &&
          byKey.get(key)?.observing.has(minute) !== true &&
          !minutesBetween(minute - keptMinutes, minute + TOLERANCE_MINUTES).some(hasVerdict),
      );
      return alone.length === 0 ? [] : [`${key}: an alert without a verdict in minutes ${alone.join(', ')}`];
    }),
  );
  return [...withoutAlert, ...withoutVerdict];
}

/** Whether a verdict of this minute includes or inhibits the alert. After an interruption, what is inhibited may not be firing again yet. */
function isIncluded(
  { alert, severity, labels }: Firing,
  byKey: ReadonlyMap<string, AlertMinutes>,
  minute: number,
): boolean {
  const declared = declarationOf(alert, severity, labels);
  const verdicts = Array.from(byKey.values()).filter(({ firing }) => firing.has(minute));
  return verdicts.some((verdict) => {
    const subject = { alert: declared, labels, document: verdict.document };
    return includes(verdict, subject) || inhibits(verdict, subject);
  });
}
