import { count, duration } from '../text/format.js';
import type { Comparison } from './comparison.js';
import type { Firing } from './firings.js';

/* What a backtest prints. */

export interface Report {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  readonly rules: readonly string[];
  readonly firings: readonly Firing[];
  readonly comparison?: Comparison | undefined;
}

const WEEK_MS = 7 * 86_400_000;

interface AlertSummary {
  readonly alert: string;
  readonly severity: string;
  readonly times: number;
  readonly firingMs: number;
  readonly longestMs: number;
}

const iso = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

/** From the first evaluation in which it fired to the first in which it did not. */
const lengthOf = ({ fromMs, untilMs }: Firing, stepMs: number): number => untilMs - fromMs + stepMs;

/** The severity of alerts that always fire, to prove that alerting works. */
const WATCHDOG = 'none';

export function jsonReport(report: Report): string {
  const { fromMs, toMs, stepMs, rules, firings, comparison } = report;
  const firingOf = (firing: Firing) => ({
    alert: firing.alert,
    severity: firing.severity,
    labels: firing.labels,
    from: iso(firing.fromMs),
    // Still firing at the end of the recording.
    until: firing.untilMs >= toMs ? null : iso(firing.untilMs),
    seconds: lengthOf(firing, stepMs) / 1000,
  });
  const document = {
    from: iso(fromMs),
    to: iso(toMs),
    stepSeconds: stepMs / 1000,
    rules,
    alerts: summaries(firings, stepMs).map(({ alert, severity, times, firingMs, longestMs }) => ({
      alert,
      severity,
      times,
      timesPerWeek: perWeek(times, report),
      firingSeconds: firingMs / 1000,
      longestSeconds: longestMs / 1000,
    })),
    firings: firings.map(firingOf),
    ...(comparison && {
      comparison: {
        gone: comparison.gone.map(firingOf),
        added: comparison.added.map(firingOf),
        moved: comparison.moved.map(({ before, after }) => ({ before: firingOf(before), after: firingOf(after) })),
      },
    }),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

export function tableReport(report: Report): string {
  const { fromMs, toMs, stepMs, comparison } = report;
  const firings = report.firings.filter(({ severity }) => severity !== WATCHDOG);
  const found = firings.length === 0 ? 'no alert' : count(firings.length, 'alert');
  const heading = `${iso(fromMs)} to ${iso(toMs)}, ${duration((toMs - fromMs) / 1000)}: ${found} would have fired`;
  const alerts = summaries(firings, stepMs).map(({ alert, severity, times, firingMs, longestMs }) => [
    alert,
    severity,
    String(times),
    perWeek(times, report)?.toFixed(1) ?? '',
    duration(firingMs / 1000),
    duration(longestMs / 1000),
  ]);
  const parts = [
    heading,
    ...(firings.length === 0
      ? []
      : [
          table([['alert', 'severity', 'times', 'a week', 'firing', 'longest'], ...alerts]),
          table([['from', 'for', 'alert', 'severity', 'labels'], ...firings.map((firing) => rowOf(firing, report))]),
        ]),
    ...(comparison === undefined ? [] : comparisonParts(comparison, report)),
  ];
  return `${parts.join('\n\n')}\n`;
}

function comparisonParts(comparison: Comparison, report: Report): string[] {
  const isShown = ({ severity }: Firing): boolean => severity !== WATCHDOG;
  const section = (title: string, firings: readonly Firing[]): string =>
    firings.length === 0 ? `${title}: none` : `${title}:\n${table(firings.map((firing) => rowOf(firing, report)))}`;
  const moved = comparison.moved.filter(({ before }) => isShown(before));
  const rows = moved.map(({ before, after }) => [
    `${iso(before.fromMs)} → ${iso(after.fromMs)}`,
    `${lengthText(before, report)} → ${lengthText(after, report)}`,
    ...rowOf(after, report).slice(2),
  ]);
  return [
    section('Would disappear, compared with the shipped rules', comparison.gone.filter(isShown)),
    section('Would be new', comparison.added.filter(isShown)),
    moved.length === 0 ? 'Other times: none' : `Other times:\n${table(rows)}`,
  ];
}

function rowOf(firing: Firing, report: Report): string[] {
  const labels = Object.entries(firing.labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return [iso(firing.fromMs), lengthText(firing, report), firing.alert, firing.severity, labels.join(' ')];
}

function lengthText(firing: Firing, { toMs, stepMs }: Report): string {
  const length = duration(lengthOf(firing, stepMs) / 1000);
  return firing.untilMs >= toMs ? `${length}, to the end` : length;
}

/** `undefined` for less than a day, which says nothing about a week. */
function perWeek(times: number, { fromMs, toMs }: Report): number | undefined {
  const spanMs = toMs - fromMs;
  return spanMs < WEEK_MS / 7 ? undefined : Math.round((times * WEEK_MS * 100) / spanMs) / 100;
}

const SEVERITIES = ['info', 'warning', 'critical'];

/** The most severe first, then the most frequent. */
function summaries(firings: readonly Firing[], stepMs: number): AlertSummary[] {
  const byAlert = new Map<string, AlertSummary>();
  for (const firing of firings) {
    const { alert, severity } = firing;
    const key = JSON.stringify([alert, severity]);
    const { times = 0, firingMs = 0, longestMs = 0 } = byAlert.get(key) ?? {};
    const length = lengthOf(firing, stepMs);
    byAlert.set(key, {
      alert,
      severity,
      times: times + 1,
      firingMs: firingMs + length,
      longestMs: Math.max(longestMs, length),
    });
  }
  const rank = ({ severity }: AlertSummary): number => SEVERITIES.indexOf(severity);
  return Array.from(byAlert.values()).toSorted((a, b) => rank(b) - rank(a) || b.times - a.times);
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_cell, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
