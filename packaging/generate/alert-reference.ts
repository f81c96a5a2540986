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

function minutesText(minutes: number): string {
  return minutes > 0 && minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}
