import { exactSeconds, toDouble } from '../chain/decimal.js';
import type { DocumentName } from '../document-types.js';
import type { FamilyHeader } from '../metrics/family.js';
import type { FamilyLines } from '../metrics/render-families.js';
import { formatSeries } from '../metrics/text-format.js';
import type { Judgement } from './memory.js';
import { severities, subjectLabels } from './problem.js';

/* The problems of an endpoint as series, which the rules of prometheus/alerts.yml compare with their limits. */

export const problemStart: FamilyHeader = {
  name: 'bridge_problem_start_timestamp_seconds',
  type: 'gauge',
  help: 'Time since which a problem is there: as far as the documents prove it, else when a poll found it first; where a chain has a limit of its own, since that was exceeded.',
  labels: ['document', 'problem', 'severity', ...subjectLabels],
};

export const problemUnjudged: FamilyHeader = {
  name: 'bridge_problem_unjudged_start_timestamp_seconds',
  type: 'gauge',
  help: 'Time since which a problem cannot be judged, because a field that it reads is missing or invalid.',
  labels: ['document', 'problem', 'severity'],
};

type Labels = Readonly<Record<string, string>>;

function series({ name }: FamilyHeader, fixedLabels: string, labels: Labels, seconds: number): string {
  const value = toDouble(exactSeconds(seconds));
  return formatSeries({ name, labels: Object.keys(labels) }, fixedLabels, { labels, value });
}

/** The lines of both families. Beyond the maximum the least severe are left out. */
export function problemLines(
  { present, unjudged }: Pick<Judgement, 'present' | 'unjudged'>,
  document: DocumentName,
  fixedLabels: string,
  maxSeries: number,
): readonly FamilyLines[] {
  const starts = present.slice(0, maxSeries).map(({ problem: { name, severity }, subject, startSeconds }) => {
    const pairs = subjectLabels.flatMap((label) => {
      const value = subject[label];
      return value === undefined ? [] : [[label, value] as const];
    });
    const labels = { document, problem: name, severity, ...Object.fromEntries(pairs) };
    return series(problemStart, fixedLabels, labels, startSeconds);
  });
  // A problem can have several severities, and one of them is judged without the other only if it reads less.
  const earliest = new Map<string, number>();
  for (const { problem, severity, sinceSeconds } of unjudged) {
    const key = JSON.stringify([problem.name, severity]);
    earliest.set(key, Math.min(earliest.get(key) ?? Infinity, sinceSeconds));
  }
  const times = Array.from(earliest, ([key, since]) => {
    const [problem = '', severity = severities[1]] = JSON.parse(key) as string[];
    return series(problemUnjudged, fixedLabels, { document, problem, severity }, since);
  });
  return [
    {
      name: problemStart.name,
      lines: starts.join(''),
      dropped: present.length <= maxSeries ? undefined : present.length - starts.length,
    },
    { name: problemUnjudged.name, lines: times.join(''), dropped: undefined },
  ].filter(({ lines }) => lines !== '');
}
