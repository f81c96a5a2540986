import { createHash } from 'node:crypto';
import { toMilliseconds, wallSeconds, type Moment } from '../clock.js';
import type { DocumentName } from '../document-types.js';
import { groupBy } from '../facts/grouping.js';
import type { FamilyHeader } from '../metrics/family.js';
import { type RenderedFamily, formatSeries } from '../metrics/text-format.js';
import type { UnjudgedProblem } from './subjects.js';
import type { HidingAlert } from './due.js';
import { subjectLabels } from './problem.js';

/* The problems of a target as series. The rules of prometheus/alerts.yml compare with now when their alerts are due. */

const SUBJECT_LABELS = ['document', 'problem', 'severity', 'id', ...subjectLabels] as const;

export const problemStart: FamilyHeader = {
  name: 'bridge_problem_start_timestamp_seconds',
  type: 'gauge',
  help: 'Start time of a present problem: as proven by the document, else the time of the first poll that found it.',
  labels: SUBJECT_LABELS,
};

export const problemDue: FamilyHeader = {
  name: 'bridge_problem_due_timestamp_seconds',
  type: 'gauge',
  help: 'Time at which the alert of a present problem fires; absent while another problem hides it.',
  labels: SUBJECT_LABELS,
};

export const problemInfo: FamilyHeader = {
  name: 'bridge_problem_info',
  type: 'gauge',
  help: 'Summary, first action and firing cause of a present problem, as labels.',
  labels: [...SUBJECT_LABELS, 'summary', 'action', 'hidden_by'],
};

export const problemUnjudged: FamilyHeader = {
  name: 'bridge_problem_unjudged_start_timestamp_seconds',
  type: 'gauge',
  help: 'Unix time since when a problem cannot be judged.',
  labels: ['document', 'problem', 'severity'],
};

/** A problem of a target. */
export interface ShownProblem extends HidingAlert {
  readonly id: string;
  /** Unix seconds. */
  readonly startSeconds: number;
  /** When its alert fires if it lasts, in Unix seconds. */
  readonly firesAtSeconds: number;
  /** Whether its alert does not fire, because a cause hides it or will when it fires. */
  readonly isHidden: boolean;
  readonly summary: string;
  readonly action: string;
  /** The alert of its cause, if there is one that fires. */
  readonly hiddenBy: string | null;
}

/** The id of a problem, the same in every exporter of the target: in links, and to join the series of a problem. */
export function problemId(target: string, { document, alert, severity, subject }: HidingAlert): string {
  const parts = [target, document, alert, severity, ...subjectLabels.map((label) => subject[label] ?? '')];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}

type Labels = Readonly<Record<string, string>>;

function series({ name }: FamilyHeader, fixedLabels: string, labels: Labels, value: number): string {
  return formatSeries({ name, labels: Object.keys(labels) }, fixedLabels, { labels, value });
}

/** The lines of the problems of a target. */
export function problemLines(shown: readonly ShownProblem[], fixedLabels: string): readonly RenderedFamily[] {
  const lines = shown.map((problem) => {
    const { id, alert, severity, document, subject, summary, action, hiddenBy } = problem;
    const labels = { document, problem: alert, severity, id, ...subject };
    const texts = { summary, action, hidden_by: hiddenBy ?? '' };
    return {
      start: series(problemStart, fixedLabels, labels, toMilliseconds(problem.startSeconds)),
      due: problem.isHidden ? '' : series(problemDue, fixedLabels, labels, toMilliseconds(problem.firesAtSeconds)),
      info: series(problemInfo, fixedLabels, { ...labels, ...texts }, 1),
    };
  });
  return [
    { name: problemStart.name, text: lines.map(({ start }) => start).join(''), dropped: undefined },
    { name: problemDue.name, text: lines.map(({ due }) => due).join(''), dropped: undefined },
    { name: problemInfo.name, text: lines.map(({ info }) => info).join(''), dropped: undefined },
  ];
}

/** The lines of what cannot be judged in a document. */
export function unjudgedLines(
  unjudged: readonly UnjudgedProblem[],
  document: DocumentName,
  fixedLabels: string,
  now: Moment,
): RenderedFamily {
  // A problem of two severities that was not present is unjudged twice, as a warning each: one series.
  const byLabels = groupBy(unjudged, ({ problem, severity }) => `${problem.name} ${severity}`);
  const lines = Array.from(byLabels.values()).flatMap((same) =>
    same.slice(0, 1).map(({ problem, severity }) => {
      const since = Math.min(...same.map((each) => each.since));
      const labels = { document, problem: problem.name, severity };
      return series(problemUnjudged, fixedLabels, labels, wallSeconds(since, now));
    }),
  );
  return { name: problemUnjudged.name, text: lines.join(''), dropped: undefined };
}
