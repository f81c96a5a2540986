import { pollProblems } from './polls.js';
import { problemKey, subjectLabels, type Inhibition, type Problem, type Severity, type Subject } from './problem.js';
import { problems } from './problems.js';

/*
 * Which problem hides which one of its target, by their declarations. These are transitively closed, so that nobody has
 * to follow a chain of causes (a test names missing ones). due.ts says when a cause hides.
 */

/** An alert of a target. */
export interface HidingAlert {
  readonly alert: string;
  readonly severity: Severity;
  readonly document: string;
  readonly subject: Subject;
}

type Declaring = Pick<Problem, 'name' | 'severity' | 'inhibits' | 'inhibitsDocument' | 'isUrgent'>;

/** Problems of the polls have one declaration for all documents. */
const declarations: ReadonlyMap<string, Declaring> = new Map([
  ...pollProblems.map((each): [string, Declaring] => [`${each.name} ${each.severity}`, each]),
  ...problems.map((each): [string, Declaring] => [problemKey(each), each]),
]);
const pollAlerts: ReadonlySet<string> = new Set(pollProblems.map(({ name }) => name));

function findDeclaration({ alert, severity, document }: HidingAlert): Declaring | undefined {
  return declarations.get(`${alert} ${severity} ${document}`) ?? declarations.get(`${alert} ${severity}`);
}

/** Whether an alert is the cause of another one of its target. */
export function hides(cause: HidingAlert, effect: HidingAlert): boolean {
  const { inhibits = [], inhibitsDocument } = findDeclaration(cause) ?? {};
  return (
    isCriticalForm(cause, effect) ||
    (inhibitsDocument === true && hidesOfDocument(cause, effect)) ||
    inhibits.some((inhibition) => isInhibited(inhibition, cause, effect))
  );
}

export function isOfPolls({ alert }: Pick<HidingAlert, 'alert'>): boolean {
  return pollAlerts.has(alert);
}

/**
 * Whether a cause also hides an alert that fired before it, because it reports the same. BridgeSnapshotStale does not
 * replace alerts of failing polls: where another exporter polls the document, its rule does not fire.
 */
export function replaces(cause: HidingAlert, effect: HidingAlert): boolean {
  const isStale = cause.alert === 'BridgeSnapshotStale' && isOfPolls(effect) && !failedPollAlerts.has(effect.alert);
  return isStale || isCriticalForm(cause, effect);
}

const failedPollAlerts: ReadonlySet<string> = new Set(['BridgeEndpointDown', 'BridgeEndpointMisconfigured']);

/** Whether the cause is the critical form of a warning. BridgeProblemUnjudged names other problems in each severity. */
export function isCriticalForm(cause: HidingAlert, effect: HidingAlert): boolean {
  return (
    cause.severity === 'critical' &&
    effect.severity === 'warning' &&
    cause.alert === effect.alert &&
    cause.alert !== 'BridgeProblemUnjudged' &&
    cause.document === effect.document &&
    subjectLabels.every((label) => cause.subject[label] === effect.subject[label])
  );
}

/**
 * Whether the cause says that the document is not current: not polled, standing still or behind. A warning hides
 * neither critical alerts nor CrosschainOutboundDisabled, which itself hides the critical alerts that only repeat it.
 */
function hidesOfDocument(cause: HidingAlert, effect: HidingAlert): boolean {
  const { inhibitsDocument, isUrgent } = findDeclaration(effect) ?? {};
  const isOther = isOfPolls(cause) || inhibitsDocument !== true || cause.severity !== effect.severity;
  const isLess = cause.severity === 'critical' || (effect.severity !== 'critical' && isUrgent !== true);
  return cause.document === effect.document && !isOfPolls(effect) && isOther && isLess;
}

function isInhibited(
  { problem, severity, equal = [], exceptWatched = false }: Inhibition,
  cause: HidingAlert,
  effect: HidingAlert,
): boolean {
  const isEqual = (label: keyof Subject | 'document'): boolean =>
    label === 'document' ? cause.document === effect.document : cause.subject[label] === effect.subject[label];
  return (
    problem === effect.alert &&
    (severity === undefined || severity === effect.severity) &&
    !(exceptWatched && effect.subject.watched === 'true') &&
    equal.every(isEqual)
  );
}
