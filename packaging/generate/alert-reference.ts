import { severities } from '../../src/problems/problem.js';
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

const urgencies = { critical: 'at once, at any hour', warning: 'in working hours', info: 'for the record' };

/** The index of the sections by the highest severity of their alert, in the order of the pages. */
export function runbook(): string {
  const linkOf = (name: string): string => `[${name}](#${name.toLowerCase()})`;
  const listed = new Set<string>();
  const rows = severities.map((severity) => {
    const names = rules.filter((rule) => rule.severity === severity && !listed.has(rule.name)).map(({ name }) => name);
    for (const name of names) listed.add(name);
    return [`${severity}: ${urgencies[severity]}`, [...new Set(names)].map(linkOf).join(', ')];
  });
  return withTables('docs/runbook.md', [markdownTable(['urgency', 'alerts'], rows)]);
}

function minutesText(minutes: number): string {
  return minutes > 0 && minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}
