import { groupBy } from '../../src/metrics/grouping.js';
import { isInhibited, type InhibitableAlert } from '../../src/verdicts/inhibitions.js';
import type { AlertLabels, TargetVerdicts, Verdict } from '../../src/verdicts/verdict.js';
import { alertRules } from '../support/alert-rules.js';
import type { Firing } from './promtool.js';
import type { RecordingOptions } from './recording.js';

/*
 * The same polls are judged by the exporter and by promtool, the rule engine of Prometheus. Both have to agree in every minute.
 */

/** The alerts that a running exporter cannot judge, because they are about its absence, and the watchdog. */
export const ALERTS_WITHOUT_VERDICT: readonly string[] = [
  'BridgeExporterAbsent',
  'BridgeExporterShardMissing',
  'BridgeEndpointNotPolled',
  'BridgeWatchdog',
];

/** Verdicts and alerts may differ by this at the start: Prometheus 3 excludes the first sample of a range. */
const TOLERANCE_MINUTES = 2;

interface AlertMinutes extends InhibitableAlert {
  readonly firing: Set<number>;
  readonly observing: Set<number>;
}

/** The verdicts of a recording by minute. */
export interface ObservedVerdicts {
  readonly observe: NonNullable<RecordingOptions['observe']>;
  readonly byKey: ReadonlyMap<string, AlertMinutes>;
  /** The minutes in which an exporter ran. */
  readonly minutes: ReadonlySet<number>;
}

/** Labels that are in only some alerts, or only for the text. */
const OTHER_LABELS: ReadonlySet<string> = new Set(['job', 'instance', 'name', 'watched']);

/** Identifies an alert, and the verdict that corresponds to it. */
function keyOf(alert: string, severity: string, labels: AlertLabels): string {
  const pairs = Object.entries(labels)
    .filter(([name]) => !OTHER_LABELS.has(name))
    .map(([name, value]) => `${name}=${value}`);
  return [`${alert}/${severity}`, ...pairs.toSorted()].join(' ');
}

export function observeVerdicts(): ObservedVerdicts {
  const byKey = new Map<string, AlertMinutes>();
  const minutes = new Set<number>();
  const add = ({ alert, severity, target, document, state, subjects }: Verdict, minute: number): void => {
    for (const subject of subjects) {
      const labels = { ...subject, target, document };
      const key = keyOf(alert, severity, labels);
      const known = byKey.get(key) ?? { alert, severity, labels, firing: new Set(), observing: new Set() };
      byKey.set(key, known);
      known[state].add(minute);
    }
  };
  const observe = (targets: readonly TargetVerdicts[], minute: number): void => {
    minutes.add(minute);
    for (const { verdicts } of targets) for (const verdict of verdicts) add(verdict, minute);
  };
  return { observe, byKey, minutes };
}

function minutesBetween(from: number, until: number): number[] {
  return Array.from({ length: Math.max(0, Math.floor(until - from) + 1) }, (_, index) => from + index);
}

function minutesNear(minute: number): number[] {
  return minutesBetween(minute - TOLERANCE_MINUTES, minute + TOLERANCE_MINUTES);
}

function keepMinutesOf({ alert, severity }: Firing): number {
  const rule = alertRules.find((own) => own.alert === alert && own.labels?.['severity'] === severity);
  return Number.parseInt(rule?.keep_firing_for ?? '0', 10);
}

/** Every minute in which verdicts and alerts contradict each other, as a sentence. */
export function contradictions({ byKey, minutes }: ObservedVerdicts, all: readonly Firing[]): string[] {
  const firings = all.filter(({ alert }) => !ALERTS_WITHOUT_VERDICT.includes(alert));
  const firingsByKey = groupBy(firings, ({ alert, severity, labels }) => keyOf(alert, severity, labels));

  const isAlertAt = (key: string, minute: number): boolean =>
    (firingsByKey.get(key) ?? []).some(({ from, until }) => from <= minute && minute <= until);
  const withoutAlert = Array.from(byKey).flatMap(([key, { firing }]) => {
    const wrong = Array.from(firing).filter((minute) => !minutesNear(minute).some((near) => isAlertAt(key, near)));
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
      const keptMinutes = keepMinutesOf(firing) + TOLERANCE_MINUTES;
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

/** Whether a verdict of this minute includes the alert, as an inhibition of Alertmanager does. */
function isIncluded(
  { alert, severity, labels }: Firing,
  byKey: ReadonlyMap<string, AlertMinutes>,
  minute: number,
): boolean {
  const verdicts = Array.from(byKey.values()).filter(({ firing }) => firing.has(minute));
  // Only alerts with one of these severities have a verdict.
  return isInhibited({ alert, severity: severity as Verdict['severity'], labels }, verdicts);
}
