import type { Instant } from '../clock.js';
import { documents, type DocumentName } from '../documents.js';
import { groupBy } from '../facts/grouping.js';
import { exportedSuccess, isNeverServed, type EndpointState } from './endpoint-state.js';
import { list } from '../text/format.js';
import { endpointConditions, withoutSuccess, type EndpointCondition } from './endpoint-conditions.js';
import type { PresentProblem, UnjudgedProblem } from '../problems/memory.js';
import {
  severities,
  subjectLabels,
  type FoundValidator,
  type Inhibition,
  type Problem,
  type Severity,
  type Subject,
} from '../problems/problem.js';
import { problemNames } from '../problems/problems.js';
import { withAge, withDetails, type Sentence } from '../problems/sentence.js';

/* The problems of a target at a point in time, for the pages, the log and `once`: the same objects, starts and limits as those of the alerts. */

/** A problem at a point in time. */
export interface Verdict {
  readonly target: string;
  readonly document: DocumentName;
  /** The name of the problem, which is that of its alert. */
  readonly alert: string;
  readonly severity: Severity;
  /** `firing` when the age has reached the limit, else `pending`. */
  readonly state: 'firing' | 'pending';
  /** Unix seconds. */
  readonly startSeconds: number;
  readonly ageSeconds: number;
  /** Whether it may have begun before. */
  readonly mayBeOlder: boolean;
  /** From when on it fires, if it lasts, in Unix seconds. */
  readonly firesAtSeconds: number;
  readonly subject: Subject;
  readonly validators: readonly FoundValidator[];
  /** The problem of the target that is the cause of this one, and has no such cause itself. */
  readonly inhibitedBy: string | null;
  /** What is wrong, since when, how much and who. */
  readonly sentence: Sentence;
  /** What to do first; about its cause, if it has one. */
  readonly action: string;
}

/** All problems of a target, worst first, and those that follow from others last. */
export interface TargetVerdicts {
  readonly target: string;
  /**
   * The severity of the worst firing problem. Unless that is `critical` or `warning`: `unknown` when some endpoint was never polled, or its data is
   * outdated; `pending` when a problem is on its way to an alert; `info`; `ok` otherwise.
   */
  readonly status: Severity | 'unknown' | 'pending' | 'ok';
  /** Why the target cannot be judged; empty unless something cannot be. */
  readonly unknown: readonly string[];
  readonly verdicts: readonly Verdict[];
  /** The names of the problems that an endpoint has never had the fields for. */
  readonly notJudgedHere: readonly string[];
}

type Judging = Omit<Verdict, 'inhibitedBy'> & {
  readonly inhibits: (other: Judging) => boolean;
  readonly rank: number;
};

/** The verdicts of all targets, in the order of the endpoints. */
export function verdictsOf(states: readonly EndpointState[], now: Instant): readonly TargetVerdicts[] {
  const byTarget = groupBy(states, ({ target }) => target);
  return Array.from(byTarget, ([target, own]) => targetVerdicts(target, own, now));
}

function targetVerdicts(target: string, states: readonly EndpointState[], now: Instant): TargetVerdicts {
  const isServing = states.some(({ last }) => last?.ok === true);
  const isNotServed = (state: EndpointState): boolean => isServing && isNeverServed(state);
  const verdicts = withCauses(states.flatMap((state) => judgedIn(state, now, isNotServed(state))));
  const unknown = states.flatMap((state) =>
    documents[state.document].isOptional || isNotServed(state) || exportedSuccess(state, now) !== undefined
      ? []
      : [withoutSuccess(state, now)],
  );
  const [worst] = verdicts;
  const isFiring = worst?.state === 'firing' && worst.severity !== 'info';
  const rest = worst === undefined ? 'ok' : worst.state === 'pending' ? 'pending' : worst.severity;
  return {
    target,
    status: isFiring ? worst.severity : unknown.length > 0 ? 'unknown' : rest,
    unknown,
    verdicts,
    notJudgedHere: Array.from(
      new Set(states.flatMap((state) => exportedSuccess(state, now)?.snapshot.judgement.notJudgedHere ?? [])),
    ),
  };
}

function judgedIn(state: EndpointState, now: Instant, isNotServed: boolean): readonly Judging[] {
  const { document } = state;
  const { present = [], unjudged = [] } = exportedSuccess(state, now)?.snapshot.judgement ?? {};
  const conditions = [...endpointConditions(state, now, isNotServed), ...unjudgedCondition(state, unjudged, now)];
  const ofConditions = conditions.map(({ inhibits: names, ...condition }): Judging => ({
    ...verdictOf(state, { ...condition, isProven: true, subject: {}, validators: [] }, now),
    inhibits: (other) => names.includes(other.alert) && other.document === document,
    rank: -1,
  }));
  const ofProblems = present.map(({ problem, ...found }, rank): Judging => {
    const { name, severity } = problem;
    return {
      ...verdictOf(state, { ...found, name, severity }, now),
      inhibits: (other) => inhibits({ problem, subject: found.subject, document }, other),
      rank,
    };
  });
  // Without an optional document the target is judged, so that one failed poll is not worth a word.
  const { isOptional } = documents[document];
  return [...ofConditions.filter((own) => !isOptional || isShown(own)), ...ofProblems.filter(isShown)];
}

type Judged = Omit<PresentProblem, 'problem'> & Pick<EndpointCondition, 'name' | 'severity'>;

function verdictOf({ target, document }: EndpointState, judged: Judged, now: Instant): Omit<Verdict, 'inhibitedBy'> {
  const { name, severity, startSeconds, isProven, limitSeconds: limit, subject, sentence, action, validators } = judged;
  const ageSeconds = Math.max(0, now.epochSeconds - startSeconds);
  return {
    target,
    document,
    alert: name,
    severity,
    state: ageSeconds >= limit ? 'firing' : 'pending',
    startSeconds,
    ageSeconds,
    mayBeOlder: !isProven,
    firesAtSeconds: startSeconds + limit,
    subject,
    validators,
    sentence: withAge(sentence, ageSeconds, isProven),
    action,
  };
}

/** From this share of its limit on, a problem is worth a word, and from this age on. Most end earlier on any healthy bridge. */
const PENDING_SHARE = 1 / 3;
const PENDING_SECONDS = 120;

/** What is only for the record and may end soon is not worth a word. */
function isShown({ state, severity, ageSeconds, startSeconds, firesAtSeconds }: Judging): boolean {
  const least = Math.max((firesAtSeconds - startSeconds) * PENDING_SHARE, PENDING_SECONDS);
  return state === 'firing' || (severity !== 'info' && ageSeconds >= least);
}

/** All problems of an endpoint that cannot be judged. */
function unjudgedCondition(
  state: EndpointState,
  unjudged: readonly UnjudgedProblem[],
  now: Instant,
): readonly EndpointCondition[] {
  const startSeconds = Math.min(...unjudged.map(({ sinceSeconds }) => sinceSeconds));
  if (unjudged.length === 0 || now.epochSeconds - startSeconds < PENDING_SECONDS) return [];
  const names = Array.from(new Set(unjudged.map(({ problem }) => problem.name)));
  return [
    {
      name: 'BridgeProblemUnjudged',
      severity: unjudged.some(({ severity }) => severity === 'critical') ? 'critical' : 'warning',
      startSeconds,
      limitSeconds: 600,
      sentence: withDetails(
        `part of ${state.document} has been unusable for {duration}`,
        unreadableFields(state),
        `not judged: ${list(names)}`,
      ),
      action:
        'Compare the fields that the status page names with the response of the node; bridge_exporter_invalid_values_total counts those with a wrong type.',
      inhibits: [],
    },
  ];
}

/** "missing: state.batches; invalid values of state.valsets": the fields of the last document. */
function unreadableFields({ success }: EndpointState): string {
  const { missing = [], invalid = new Map<string, number>() } = success?.snapshot.errors ?? {};
  const depthOf = (path: string): number => path.split('.').length;
  // A list is more than a parameter.
  const absent = Array.from(missing).toSorted((a, b) => depthOf(a) - depthOf(b));
  const wrong = Array.from(invalid.keys());
  return [
    absent.length === 0 ? '' : `missing: ${list(absent)}`,
    wrong.length === 0 ? '' : `invalid values of ${list(wrong)}`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

/** A problem with its subject, as far as inhibitions read it. */
export interface Inhibiting {
  readonly problem: Pick<Problem, 'name' | 'severity' | 'inhibits' | 'inhibitsDocument'>;
  readonly document: DocumentName;
  readonly subject: Subject;
}

type Inhibitable = Pick<Verdict, 'alert' | 'severity' | 'document' | 'subject'>;

/** Whether a problem hides another one of its target. */
export function inhibits({ problem, document, subject }: Inhibiting, other: Inhibitable): boolean {
  const { name, severity } = problem;
  if (severity === 'info') return false;
  if (name === other.alert && document === other.document) {
    return severity === 'critical' && other.severity === 'warning' && haveEqual(subjectLabels, subject, other.subject);
  }
  const isCauseOfAll = problem.inhibitsDocument && document === other.document && problemNames.has(other.alert);
  if (isCauseOfAll && (severity === 'critical' || other.severity !== 'critical')) return true;
  return problem.inhibits.some((inhibition) => isNamed(inhibition, subject, other));
}

function isNamed(
  { problem, severity, equal = [], exceptWatched = false }: Inhibition,
  subject: Subject,
  other: Inhibitable,
): boolean {
  return (
    problem === other.alert &&
    (severity === undefined || severity === other.severity) &&
    !(exceptWatched && other.subject.watched === 'true') &&
    haveEqual(equal, subject, other.subject)
  );
}

function haveEqual(labels: readonly (keyof Subject)[], a: Subject, b: Subject): boolean {
  return labels.every((label) => a[label] === b[label]);
}

/** The order of the pages: what fires, then what may; notes come last. */
function worstFirst(a: Judging & Verdict, b: Judging & Verdict): number {
  return (
    Number(a.inhibitedBy !== null) - Number(b.inhibitedBy !== null) ||
    Number(isNote(a)) - Number(isNote(b)) ||
    Number(a.state !== 'firing') - Number(b.state !== 'firing') ||
    severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
    a.rank - b.rank
  );
}

/** What is only for the record is no problem. */
export function isNote({ severity, state }: Pick<Verdict, 'severity' | 'state'>): boolean {
  return severity === 'info' && state === 'firing';
}

/** Whether the critical form of the same problem says it already. */
function isIncluded(verdict: Judging, all: readonly Judging[]): boolean {
  return all.some(
    (own) => own.alert === verdict.alert && own.state === 'firing' && own !== verdict && own.inhibits(verdict),
  );
}

/** What fires hides what follows from it; what does not fire yet hides only what does not fire either. */
function causeOf(verdict: Judging, all: readonly Judging[], seen: readonly Judging[] = []): Judging | undefined {
  const cause = all.find(
    (own) =>
      own !== verdict &&
      !seen.includes(own) &&
      (own.state === 'firing' || verdict.state !== 'firing') &&
      own.inhibits(verdict),
  );
  return cause && (causeOf(cause, all, [...seen, verdict]) ?? cause);
}

function withCauses(found: readonly Judging[]): readonly Verdict[] {
  const all = found.filter((own) => !isIncluded(own, found));
  return (
    all
      .map((own) => {
        const cause = causeOf(own, all);
        const action = cause === undefined ? own.action : `Begin with ${cause.alert}.`;
        return { ...own, inhibitedBy: cause?.alert ?? null, action };
      })
      // What would fire later says nothing beside what fires now.
      .filter(({ inhibitedBy, state }) => inhibitedBy === null || state === 'firing')
      .toSorted(worstFirst)
      .map(({ inhibits: _inhibits, rank: _rank, ...verdict }) => verdict)
  );
}
