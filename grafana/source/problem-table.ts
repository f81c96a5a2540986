import { pendingItemsLink, problemLink, runbookLink } from './filters.js';
import { type Column, type Panel, table, type ValueTexts } from './grafana.js';
import { exporterAlertStarts, problemStarts, worst } from './problems.js';
import { CLUSTER, orZero } from './queries.js';

/** See `worst`. Only what has an alert that fires is red or orange. */
export const worstTexts: ValueTexts = {
  '0': ['none', 'transparent'],
  '1': ['soon', 'yellow'],
  '2': ['warning', 'orange'],
  '3': ['critical', 'red'],
};

export const severityTexts: ValueTexts = {
  critical: ['critical', 'red'],
  warning: ['warning', 'orange'],
  info: ['info', 'blue'],
  works: ['works', 'transparent'],
  'critical soon': ['critical soon', 'yellow'],
  'warning soon': ['warning soon', 'yellow'],
};

/** The worst problem of each row of `known`. */
export function problemColumn(labels: readonly string[], known: string, ...matchers: readonly string[]): Column {
  return {
    title: 'Problem',
    expr: orZero(worst(labels, ...matchers), labels, known),
    unit: 'none',
    texts: worstTexts,
  };
}

/** What waits, as a share of `backlog_limit`, in the color of the alert on more than that. */
export function backlogShareColumn(waiting: string, limit: string): Column {
  return {
    title: 'Of limit',
    expr: `${waiting} / ${limit}`,
    unit: 'percentunit',
    decimals: 0,
    thresholds: [
      ['transparent', null],
      ['orange', 1],
    ],
  };
}

/** A row for each problem. `matchers` select some of them; without any, alerts on the exporter are rows, too. */
export function problemTable(
  panel: Pick<Panel, 'title' | 'description' | 'noValue'> & { readonly height?: number },
  ...matchers: readonly string[]
): Panel {
  const start = `${problemStarts(...matchers)}${matchers.length === 0 ? ` or ${exporterAlertStarts}` : ''}`;
  return table({
    ...panel,
    labels: {
      severity: 'Severity',
      target: 'Target',
      summary: 'What is wrong',
      action: 'First action',
      problem: 'Problem',
      id: 'Id',
    },
    labelTexts: { Severity: severityTexts },
    lastLabels: { [CLUSTER]: 'Cluster' },
    columns: [{ title: 'Since', expr: `1000 * (${start})`, unit: 'dateTimeAsIsoNoDateIfToday' }],
    isCounted: true,
    wrapped: ['What is wrong', 'First action'],
    hidden: 'Id',
    widths: { Severity: 120, Target: 130, 'What is wrong': 420, 'First action': 460 },
    sortBy: ['Severity', 'Since'].map((column) => ({ column, isDescending: false })),
    links: { Target: [pendingItemsLink], 'What is wrong': [problemLink], Problem: [runbookLink] },
  });
}
