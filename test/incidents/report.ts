import type { DayResult } from './days.js';

/* What was heard on all days, by alert and severity, and which gauges were wrong. */

const DAYS_A_WEEK = 7;
const SEVERITIES = ['critical', 'warning'];

/** The table is by alert, and of all alerts of a severity. The findings are what was missed, false or wrong, with its day. */
export function summarize(days: readonly DayResult[]) {
  const heard = days.flatMap((day) => day.heard.map((own) => ({ ...own, day })));
  const falseAlerts = days.flatMap((day) =>
    day.falseAlerts.map((own) => ({ ...own, key: `${own.alert}/${own.severity}`, day })),
  );
  const keys = new Set([...heard.map(({ alert }) => alert), ...falseAlerts.map(({ key }) => key)]);
  const rowOf = (name: string, isOf: (key: string) => boolean): readonly string[] => {
    const due = heard.filter(({ alert }) => isOf(alert));
    const delays = due.flatMap(({ delayMinutes }) => delayMinutes ?? []).toSorted((a, b) => a - b);
    const unfounded = falseAlerts.filter(({ key }) => isOf(key)).length;
    return [
      name,
      String(due.length),
      due.length === 0 ? '-' : `${((100 * delays.length) / due.length).toFixed(1)} %`,
      minutesOf(delays[Math.floor(delays.length / 2)]),
      minutesOf(delays.at(-1)),
      ((unfounded * DAYS_A_WEEK) / days.length).toFixed(2),
    ];
  };
  const rows = [
    ...Array.from(keys)
      .toSorted(bySeverityAndName)
      .map((key) => rowOf(key, (own) => own === key)),
    ...SEVERITIES.map((severity) => rowOf(`all ${severity}`, (key) => key.endsWith(`/${severity}`))),
  ];
  const isCritical = (alert: string): boolean => alert.endsWith('/critical');
  const misses = heard.filter(({ delayMinutes }) => delayMinutes === undefined);
  const whereOf = ({ seed, faults }: DayResult): string => `day ${seed}: ${faults.join('; ') || 'no fault'}`;
  const clockOf = (minute: number): string => minute.toFixed(0);
  const wrong = days.flatMap((day) => day.wrongGauges.map((text) => `wrong ${text}; ${whereOf(day)}`));
  const findings = [
    ...misses.map(
      ({ alert, about, fromMinute, dueMinute, day }) =>
        `missed ${alert} ${about}, true from ${clockOf(fromMinute)}, due at ${clockOf(dueMinute)}; ${whereOf(day)}`,
    ),
    ...falseAlerts.map(
      ({ key, about, fromMinute, untilMinute, day }) =>
        `false ${key} ${about}, ${clockOf(fromMinute)}-${clockOf(untilMinute)}; ${whereOf(day)}`,
    ),
    ...wrong,
  ];
  return {
    table: table(['alert', 'due', 'recall', 'median', 'worst', 'false a week'], rows).join('\n'),
    findings,
    criticalMisses: misses.filter(({ alert }) => isCritical(alert)).length,
    criticalFalseAlerts: falseAlerts.filter(({ key }) => isCritical(key)).length,
    warningMisses: misses.filter(({ alert }) => alert.endsWith('/warning')).length,
    warningFalseAlerts: falseAlerts.filter(({ key }) => key.endsWith('/warning')).length,
    wrongGauges: wrong.length,
  };
}

const minutesOf = (minutes: number | undefined): string => (minutes === undefined ? '-' : `${Math.round(minutes)} min`);

function bySeverityAndName(a: string, b: string): number {
  const rank = (key: string): number => [...SEVERITIES, 'info'].indexOf(key.split('/')[1] ?? '');
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const all = [header, ...rows];
  const widths = header.map((_name, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}
