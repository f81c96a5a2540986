import { exporterRules } from './rules.js';
import { pollProblems } from './polls.js';
import { subjectLabels, type Problem, type Severity, type Subject } from './problem.js';
import { problems } from './problems.js';

/*
 * What hides what: one list, from the declarations. The pages, the label `hidden_by` and prometheus/alertmanager.yml
 * follow it. It is transitively closed, so that nobody has to follow a chain of causes: `npm run generate` names what
 * is missing.
 */

type Label = keyof Subject | 'document';

/** Matches alerts by their name, severity, and whether they are about a watched validator. */
interface AlertMatcher {
  /** All alerts by default. */
  readonly names?: readonly string[];
  readonly exceptNames?: readonly string[];
  readonly severity?: Severity;
  readonly exceptSeverity?: Severity;
  readonly exceptWatched?: boolean;
}

/**
 * A firing alert that `source` matches hides those of the same target that `target` matches, if the labels are equal.
 */
export interface Hiding {
  readonly source: AlertMatcher;
  readonly target: AlertMatcher;
  readonly equal: readonly Label[];
  /** For alertmanager.yml. */
  readonly comment?: string;
}

type Declaring = Pick<Problem, 'name' | 'severity' | 'inhibits' | 'inhibitsDocument'>;

const declaring: readonly Declaring[] = [...exporterRules, ...pollProblems, ...problems];

function listNames(list: readonly { readonly name: string }[]): readonly string[] {
  return Array.from(new Set(list.map(({ name }) => name)));
}

/** They hide critical problems that only repeat them: another warning must not hide these warnings. */
export const urgentWarnings = listNames(problems.filter(({ isUrgent }) => isUrgent === true));

/** What a document shows is not current while it is not polled, or while it stands still or is behind. */
function hidingDocument(severity: Severity, sources: readonly Declaring[], targets: readonly string[]): Hiding[] {
  const names = listNames(sources.filter((source) => source.inhibitsDocument === true && source.severity === severity));
  const isWarning = severity === 'warning';
  return names.length === 0
    ? []
    : [
        {
          comment: isWarning
            ? 'A warning hides no critical alert, but CrosschainOutboundDisabled those that only repeat it; so no other warning hides that one.'
            : 'Nothing else that a document shows is current while it is stale or stalled.',
          source: { names, severity },
          target: {
            names: targets.filter((name) => !names.includes(name) && !(isWarning && urgentWarnings.includes(name))),
            ...(isWarning && { exceptSeverity: 'critical' }),
          },
          equal: ['document'],
        },
      ];
}

function declared({ name, severity, inhibits = [] }: Declaring): readonly Hiding[] {
  return inhibits.map(({ problem, severity: hidden, equal = [], exceptWatched = false }) => ({
    source: { names: [name], severity },
    target: {
      names: [problem],
      ...(hidden !== undefined && { severity: hidden }),
      ...(exceptWatched && { exceptWatched }),
    },
    equal,
  }));
}

const pollAlerts = [...exporterRules, ...pollProblems];
const allNames = listNames(problems);

export const hidings: readonly Hiding[] = [
  ...hidingDocument('critical', pollAlerts, allNames),
  ...hidingDocument('critical', problems, allNames),
  ...hidingDocument('warning', pollAlerts, allNames),
  ...hidingDocument('warning', problems, allNames),
  {
    comment: 'A critical alert hides the warning for the same subject. What cannot be judged is different.',
    source: { severity: 'critical', exceptNames: ['BridgeProblemUnjudged'] },
    target: { severity: 'warning' },
    equal: ['document', ...subjectLabels],
  },
  ...declaring.flatMap(declared),
];

/** An alert of a target. */
export interface HidingAlert {
  readonly alert: string;
  readonly severity: Severity;
  readonly document: string;
  readonly subject: Subject;
}

/** Whether an alert hides another alert of its target while it fires. */
export function hides(source: HidingAlert, target: HidingAlert): boolean {
  return hidings.some(
    (hiding) =>
      // Only the general rule names no alerts.
      (hiding.source.names !== undefined || source.alert === target.alert) &&
      matches(hiding.source, source) &&
      matches(hiding.target, target) &&
      hiding.equal.every((label) => readLabel(source, label) === readLabel(target, label)),
  );
}

function readLabel({ document, subject }: HidingAlert, label: Label): string {
  return label === 'document' ? document : (subject[label] ?? '');
}

function matches(matcher: AlertMatcher, { alert, severity, subject }: HidingAlert): boolean {
  return (
    (matcher.names?.includes(alert) ?? true) &&
    !(matcher.exceptNames?.includes(alert) ?? false) &&
    (matcher.severity ?? severity) === severity &&
    matcher.exceptSeverity !== severity &&
    !(matcher.exceptWatched === true && subject.watched === 'true')
  );
}
