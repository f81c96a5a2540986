import { urgencies, urgencyOf, type Urgency } from '../../src/problems/problem.js';
import { rules } from '../../src/problems/rules.js';
import { markdownTable, withTables } from './tables.js';

/** One row for each rule. */
export function alertReference(): string {
  const rows = rules.map(({ name, severity, description, problem, forMinutes }) => [
    `[${name}](runbook.md#${name.toLowerCase()})`,
    severity,
    description,
    minutesText(problem === undefined ? forMinutes : problem.afterMinutes),
  ]);
  return withTables('docs/alerts.md', [markdownTable(['alert', 'severity', 'condition', 'after'], rows)]);
}

const urgencyTexts: Readonly<Record<Urgency, string>> = {
  now: 'at once, at any hour',
  'in working hours': 'in working hours',
  'for the record': 'for the record',
};

/** The index of the sections by the highest urgency of their alert, in the order of the pages. */
export function runbook(): string {
  const linkOf = (name: string): string => `[${name}](#${name.toLowerCase()})`;
  const listed = new Set<string>();
  const rows = urgencies.map((urgency) => {
    const names = rules
      .filter(({ name, severity, problem }) => {
        const isOfUrgency = severity !== 'none' && urgencyOf({ severity, ...problem }) === urgency;
        return isOfUrgency && !listed.has(name);
      })
      .map(({ name }) => name);
    for (const name of names) listed.add(name);
    return [urgencyTexts[urgency], [...new Set(names)].map(linkOf).join(', ')];
  });
  return withTables('docs/runbook.md', [markdownTable(['urgency', 'alerts'], rows)]);
}

function minutesText(minutes: number): string {
  return minutes > 0 && minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}
