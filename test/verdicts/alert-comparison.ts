import { expect, it } from 'vitest';
import { groupBy } from '../../src/metrics/grouping.js';
import { isInhibited, type InhibitableAlert } from '../../src/verdicts/inhibitions.js';
import type { TargetVerdicts, Verdict } from '../../src/verdicts/verdict.js';
import type { Incident } from '../alerts/incidents.js';
import { metricsInRules, NEWEST_PROMTOOL, runAlerts, type Firing, type Setup } from '../alerts/promtool.js';
import { record } from '../alerts/recording.js';
import { alertRules } from '../support/alert-rules.js';
import { hasTool } from '../support/tools.js';

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

/** The minutes by which an alert and its verdict may differ at the start: samples are a minute apart, and ranges exclude one end. */
const TOLERANCE_MINUTES = 2;

interface VerdictMinutes extends InhibitableAlert {
  readonly firing: Set<number>;
  readonly observing: Set<number>;
}

const SUBJECT_LABELS = ['orchestrator', 'external_address', 'confirms', 'chain_id', 'chain', 'list', 'family', 'field', 'reason'];

function keyOf(alert: string, severity: string, labels: Readonly<Record<string, string>>): string {
  const subject = SUBJECT_LABELS.flatMap((name) => (labels[name] === undefined ? [] : [`${name}=${labels[name]}`]));
  return [`${alert}/${severity}`, labels['target'], labels['document'], ...subject].join(' ');
}

/** The minutes of each verdict, by the key of its alert. */
function collectMinutes(): {
  readonly byKey: Map<string, VerdictMinutes>;
  readonly judgedMinutes: Set<number>;
  readonly observe: (targets: readonly TargetVerdicts[], at: { readonly minute: number }) => void;
} {
  const byKey = new Map<string, VerdictMinutes>();
  const judgedMinutes = new Set<number>();
  const add = ({ alert, severity, target, document, state, subjects }: Verdict, minute: number): void => {
    for (const subject of subjects) {
      const labels = { ...subject, target, document };
      const key = keyOf(alert, severity, labels);
      const known = byKey.get(key) ?? { alert, severity, labels, firing: new Set(), observing: new Set() };
      byKey.set(key, known);
      known[state].add(minute);
    }
  };
  return {
    byKey,
    judgedMinutes,
    observe: (targets, { minute }) => {
      judgedMinutes.add(minute);
      for (const { verdicts } of targets) for (const verdict of verdicts) add(verdict, minute);
    },
  };
}

function minutesFrom(from: number, until: number): number[] {
  return Array.from({ length: Math.max(0, Math.floor(until - from) + 1) }, (_, index) => from + index);
}

const near = (minute: number): number[] => minutesFrom(minute - TOLERANCE_MINUTES, minute + TOLERANCE_MINUTES);

function keepMinutesOf({ alert, severity }: Firing): number {
  const rule = alertRules.find((own) => own.alert === alert && own.labels?.['severity'] === severity);
  return Number(/^(\d+)m$/.exec(rule?.keep_firing_for ?? '0m')?.[1] ?? 0);
}

interface Comparison {
  /** Sentences. */
  readonly contradictions: readonly string[];
  /** The alerts that fired, and the verdicts, each with its severity. */
  readonly alerts: readonly string[];
  readonly verdicts: readonly string[];
}

function compare(incident: Pick<Incident, 'phases' | 'options'>, setup: Setup): Comparison {
  const { byKey, judgedMinutes, observe } = collectMinutes();
  const recording = record(incident.phases, { ...incident.options, keep: metricsInRules, observe });
  const firings = runAlerts(recording, {}, setup).filter(({ alert }) => !ALERTS_WITHOUT_VERDICT.includes(alert));
  const alertsByKey = groupBy(firings, ({ alert, severity, labels }) => keyOf(alert, severity, labels));

  const isFiringAt = (key: string, minute: number): boolean =>
    (alertsByKey.get(key) ?? []).some(({ from, until }) => from <= minute && minute <= until);
  const withoutAlert = Array.from(byKey).flatMap(([key, { firing }]) => {
    const wrong = Array.from(firing).filter((minute) => !near(minute).some((other) => isFiringAt(key, other)));
    return wrong.length === 0 ? [] : [`${key}: a verdict without an alert in minutes ${wrong.join(', ')}`];
  });

  const hasVerdict = (key: string, minute: number): boolean => byKey.get(key)?.firing.has(minute) === true;
  const isIncluded = (firing: Firing, minute: number): boolean => {
    const { alert, severity, labels } = firing;
    const others = Array.from(byKey.values()).filter((verdict) => verdict.firing.has(minute));
    const target = { alert, severity: severity as Verdict['severity'], labels };
    return isInhibited(target, others);
  };
  const withoutVerdict = Array.from(alertsByKey).flatMap(([key, own]) =>
    own.flatMap((firing) => {
      const { from, until } = firing;
      const isCovered = (minute: number): boolean => hasVerdict(key, minute) || isIncluded(firing, minute);
      const problems: string[] = [];
      if (!near(from).some(isCovered)) problems.push(`${key}: no verdict when the alert starts in minute ${from}`);
      // Of an alert that starts repeatedly, only the first start and the last end are known.
      if (firing.count > 1) return problems;
      // Within keep_firing_for, an alert can last although its condition is gone; afterwards it needs a verdict again.
      const keepMinutes = keepMinutesOf(firing) + TOLERANCE_MINUTES;
      const alone = minutesFrom(from, until).filter(
        (minute) =>
          judgedMinutes.has(minute) &&
          !minutesFrom(minute - keepMinutes, minute).some(isCovered) &&
          !near(minute).some(isCovered) &&
          byKey.get(key)?.observing.has(minute) !== true,
      );
      if (alone.length > 0) problems.push(`${key}: an alert without a verdict in minutes ${alone.join(', ')}`);
      return problems;
    }),
  );
  const names = (alerts: Iterable<{ readonly alert: string; readonly severity: string }>): string[] =>
    Array.from(new Set(Array.from(alerts, ({ alert, severity }) => `${alert}/${severity}`))).toSorted();
  return {
    contradictions: [...withoutAlert, ...withoutVerdict],
    alerts: names(firings),
    verdicts: names(Array.from(byKey.values()).filter(({ firing }) => firing.size > 0)),
  };
}

/** The newest Prometheus that is there, as in the tests of the alerts. */
const setup = (): Setup => ({
  targetLabels: [{}],
  promtool: hasTool(NEWEST_PROMTOOL) ? NEWEST_PROMTOOL : 'promtool',
});

export function testComparison(incidents: readonly Incident[]): void {
  it.skipIf(!hasTool('promtool')).each(incidents)('verdicts and alerts agree when $title', (incident) => {
    const { contradictions, alerts, verdicts } = compare(incident, setup());
    expect(contradictions).toEqual([]);
    const expected = Object.keys(incident.expectedAlerts).filter((key) => !ALERTS_WITHOUT_VERDICT.some((alert) => key.startsWith(`${alert}/`)));
    for (const key of expected) expect(alerts).toContain(key);
    for (const alert of alerts) expect(verdicts).toContain(alert);
  });
}
