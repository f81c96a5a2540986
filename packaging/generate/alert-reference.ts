import { rules } from '../../src/problems/rules.js';
import { markdownTable, withTables } from './tables.js';

/** One row for each severity of an alert, and each limit of it. */
export function alertReference(): string {
  const rows = rules.flatMap(({ name, severity, title, meaning, problems, forMinutes }) => {
    const own = problems ?? [
      {
        severity: typeof severity === 'string' ? severity : 'critical, warning',
        description: `${title} ${meaning}`,
        afterMinutes: forMinutes,
      },
    ];
    const cells = own.map((each) => [each.severity, each.description, minutesText(each.afterMinutes)]);
    const distinct = new Map(cells.map((row) => [row.join(), row]));
    return Array.from(distinct.values(), (row) => [`[${name}](runbook.md#${name.toLowerCase()})`, ...row]);
  });
  return withTables('docs/alerts.md', [markdownTable(['alert', 'severity', 'condition', 'after'], rows)]);
}

function minutesText(minutes: number): string {
  return minutes > 0 && minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}
