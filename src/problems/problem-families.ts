import type { Instant } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import { groupBy } from '../facts/grouping.js';
import type { FamilyHeader } from '../metrics/family.js';
import type { RenderedFamily } from '../metrics/render-families.js';
import { formatSeries } from '../metrics/text-format.js';
import type { Judgement } from './memory.js';
import { subjectLabels } from './problem.js';

/* The problems of an endpoint as series, whose age the rules of prometheus/alerts.yml compare with limits. */

export const problemStart: FamilyHeader = {
  name: 'bridge_problem_start_timestamp_seconds',
  type: 'gauge',
  help: 'Time since which a problem is there: as far as the documents prove it, else when a poll found it first; where a chain has a limit of its own, since that was exceeded.',
  labels: ['document', 'problem', 'severity', ...subjectLabels],
  isInstant: true,
};

export const problemUnjudged: FamilyHeader = {
  name: 'bridge_problem_unjudged_start_timestamp_seconds',
  type: 'gauge',
  help: 'Time since which a problem cannot be judged, because a field that it reads is missing or invalid.',
  labels: ['document', 'problem', 'severity'],
  isInstant: true,
};

type Labels = Readonly<Record<string, string>>;

function series({ name }: FamilyHeader, fixedLabels: string, labels: Labels, value: Instant): string {
  return formatSeries({ name, labels: Object.keys(labels) }, fixedLabels, { labels, value });
}

/** The lines of both families. The least severe problems above the maximum are left out. */
export function problemLines(
  { present, unjudged }: Pick<Judgement, 'present' | 'unjudged'>,
  document: DocumentName,
  fixedLabels: string,
  maxSeries: number,
): readonly RenderedFamily[] {
  const starts = present.slice(0, maxSeries).map(({ problem: { name, severity }, subject, startSeconds }) => {
    const labels = { document, problem: name, severity, ...subject };
    return series(problemStart, fixedLabels, labels, startSeconds);
  });
  // Both severities of a problem that was not present are warnings.
  const byLabels = groupBy(unjudged, ({ problem, severity }) => `${problem.name} ${severity}`);
  const times = Array.from(byLabels.values()).flatMap((same) =>
    same.slice(0, 1).map(({ problem, severity }) => {
      const since = Math.min(...same.map(({ sinceSeconds }) => sinceSeconds));
      return series(problemUnjudged, fixedLabels, { document, problem: problem.name, severity }, since);
    }),
  );
  return [
    {
      name: problemStart.name,
      isInstant: true as const,
      text: starts.join(''),
      dropped: present.length <= maxSeries ? undefined : present.length - starts.length,
    },
    { name: problemUnjudged.name, isInstant: true as const, text: times.join(''), dropped: undefined },
  ].filter(({ text }) => text !== '');
}
