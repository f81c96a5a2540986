import { groupBy } from '../../src/facts/grouping.js';
import { rules } from '../../src/problems/rules.js';
import { formatDuration, MINUTE_MS } from '../../src/units.js';
import { markdownTable, withTables } from './tables.js';

/** One row for each alert: when it fires, by severity and limit. What it means is in its notification. */
export function alertReference(): string {
  const rows = rules.map(({ name, severity, title, meaning, problems, forMinutes }) => {
    const own = problems ?? [
      {
        severity: typeof severity === 'string' ? severity : 'critical, warning',
        description: `${title} ${meaning}`,
        afterMinutes: forMinutes,
      },
    ];
    const conditions = Array.from(
      groupBy(own, ({ description }) => description),
      ([description, all]) => {
        const limits = all.map((each) => `${each.severity}${limitText(each.afterMinutes)}`);
        return `**${Array.from(new Set(limits)).join(', ')}:** ${description}`;
      },
    );
    return [`[${name}](runbook.md#${name.toLowerCase()})`, conditions.join(' ')];
  });
  return withTables('docs/alerts.md', [markdownTable(['alert', 'fires'], rows)]);
}

function limitText(minutes: number): string {
  return minutes === 0 ? '' : ` ${formatDuration(minutes * MINUTE_MS)}`;
}
