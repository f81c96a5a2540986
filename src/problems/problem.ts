import type { Numeral } from '../chain/numeral.js';
import type { Instant } from '../clock.js';
import type { DocumentName, DocumentTypes, NodeStatus } from '../document-types.js';
import type { WatchedOrchestrator } from '../facts/bridge/bridge-input.js';
import { watchedOrchestrators } from '../facts/bridge/registrations.js';
import { toLabelValue } from '../facts/plain-values.js';
import { WITHDRAWN, withdrawWithout } from '../facts/required-fields.js';
import type { NodeQuery, QueryStates } from '../queries/query.js';
import { yours, type AgeKind, type Validator } from './sentence.js';

/*
 * A problem is something wrong with a target that an operator can act on. It is one object: how it is found in the
 * facts of a document, since when, its limit, its texts, and its consequences. The exporter judges it after each poll
 * (problem-memory.ts). prometheus/alerts.yml, mixin/alerts.json and docs/alerts.md are generated from these objects.
 */

export const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

/** When somebody has to act, on the pages, in the runbook and in the routes of prometheus/alertmanager.yml. */
export type Urgency = 'now' | 'in working hours' | 'for the record';

/** A critical alert wakes somebody, and so does a warning that is declared as urgent. */
export function judgeUrgency({ severity, isUrgent }: Pick<Problem, 'severity' | 'isUrgent'>): Urgency {
  if (severity === 'critical' || isUrgent === true) return 'now';
  return severity === 'warning' ? 'in working hours' : 'for the record';
}

/** Ids only: names and symbols change, and are in texts. */
export const subjectLabels = ['token_contract', 'chain_id', 'orchestrator', 'watched', 'address', 'kind'] as const;
export type Subject = Readonly<Partial<Record<(typeof subjectLabels)[number], string>>>;

/** The height of the document, which the header of the response has. */
export const HEIGHT = 'height';

/** The facts of a document, and the other facts at the time of its poll. */
export interface Evidence<Name extends DocumentName = DocumentName> {
  readonly input: DocumentTypes[Name]['input'];
  /** The fields of the document that are missing or invalid, without those of rows; and HEIGHT. */
  readonly lacking: readonly string[];
  readonly flow: DocumentTypes[Name]['flow'];
  /** The answers to other queries of the node, without stale ones. */
  readonly answers: QueryStates;
  /** The answers that came after the last document: each answer is judged once. */
  readonly newAnswers: QueryStates;
  /** When the node last answered a query, by query and key. */
  readonly answeredAt: (query: string, key: string) => Instant | undefined;
  /** All nodes of an endpoint with several nodes. */
  readonly nodes?: readonly NodeStatus[] | undefined;
  /** The height by which several nodes are compared; `undefined` if the response does not have it. */
  readonly height?: Numeral | undefined;
}

/** A problem in one document. */
export interface Found {
  readonly subject?: Subject;
  /** Changes with progress: with another key the problem begins anew. */
  readonly progressKey?: string;
  /** The start, if the document proves it. */
  readonly start?: Instant | undefined;
  /**
   * The start in Unix seconds, if a time of the chain proves it. As an instant, it moves when the wall clock is set.
   */
  readonly chainStart?: number | undefined;
  /**
   * What is wrong with which thing, without anything that moves by itself, such as an age or an amount. At most 200
   * characters.
   */
  readonly summary: string;
  /** Who, how much, until when; empty texts are left out. */
  readonly details?: readonly string[];
  /** What to do first, in at most 240 characters; by default the action of the problem. */
  readonly action?: string | undefined;
  readonly validator?: FoundValidator;
  /** The ids of the chains, of a joint problem of several. */
  readonly chains?: readonly string[];
}

export interface FoundValidator extends Validator {
  readonly externalAddress: string;
  /** Share of the newest validator set; `undefined` if unknown. */
  readonly power: number | undefined;
}

/** A subject that the document does not show, such as in a truncated list: its problem does not end. */
export interface NotShown {
  readonly notShown: Subject | 'others';
  /** Whether a field is missing or invalid. */
  readonly isUnjudged?: true;
  /** Whether the node is behind or stands still: kept problems of unwatched validators do not begin to fire. */
  readonly isOutdated?: true;
}

/** Absence is no evidence: problems of other subjects do not end. */
export const OTHERS_NOT_SHOWN: NotShown = { notShown: 'others' };
/** Other subjects cannot be judged, because a field is missing or invalid: their problems do not end. */
export const OTHERS_UNJUDGED: NotShown = { notShown: 'others', isUnjudged: true };
export const OTHERS_OUTDATED: NotShown = { notShown: 'others', isOutdated: true };

/** The findings in a new answer. Documents before the next answer keep them; without any answer, they are withdrawn. */
export function byNewAnswer<Value>(
  { answers, newAnswers }: Evidence,
  query: NodeQuery<unknown, Value>,
  find: (answer: Value) => Findings,
): Findings {
  const answer = query.getAnswer(newAnswers);
  if (answer !== undefined) return find(answer);
  withdrawWithout(query.getAnswer(answers));
  return OTHERS_NOT_SHOWN;
}

export const identifySubject = ({ orchestrator }: WatchedOrchestrator): Subject => ({
  orchestrator: toLabelValue(orchestrator),
  watched: 'true',
});

/** The finding in an answer about a validator; `undefined` for none, `null` if the answer does not show it. */
export type FoundInAnswer = Omit<Found, 'subject'> | undefined | null;

/**
 * The findings in the new answers about watched validators. A validator without a new answer keeps those of its last
 * one (BridgeWatchedValidatorUnknown fires if no more come). Withdrawn before the node has answered about any.
 */
export function eachAnswered<Value>(
  { input, newAnswers, answeredAt }: Evidence<'module_state'>,
  query: Pick<NodeQuery<unknown, Value>, 'name' | 'getAnswer'>,
  find: (watched: WatchedOrchestrator, value: Value, who: string) => FoundInAnswer,
): Findings {
  const all = watchedOrchestrators(input);
  const isAnswered = all.some(({ orchestrator }) => answeredAt(query.name, orchestrator) !== undefined);
  if (all.length > 0 && !isAnswered) throw WITHDRAWN;
  return all.map((watched): Finding => {
    const value = query.getAnswer(newAnswers, watched.orchestrator);
    const found = value === undefined ? null : find(watched, value, yours(watched));
    const subject = identifySubject(watched);
    return found === null ? { notShown: subject } : found && { ...found, subject };
  });
}

export type Finding = Found | NotShown | undefined;
export type Findings = Finding | readonly Finding[];

/**
 * The memory of a problem of all documents, such as a highest value with its time: plain data of bounded size
 * (marks.ts). Its numbers are instants or small counts.
 */
interface Mark<Name extends DocumentName, Value> {
  /** Whether a document does not move the mark when the next one contradicts it (marks.ts). */
  readonly isDebounced?: true;
  /** The mark after the document. Throws WITHDRAWN when a required field is missing or invalid; then the mark stays. */
  readonly next: (evidence: Evidence<Name>, before: Value | undefined) => Value;
}

/** A consequence of a problem of the same target: it is not due while the problem fires (due.ts). */
export interface Inhibition {
  readonly problem: string;
  readonly severity?: Severity;
  /** Labels of the subject that must be equal, and the document. */
  readonly equal?: readonly (keyof Subject | 'document')[];
  /** Whether alerts about watched validators are not hidden. */
  readonly exceptWatched?: boolean;
}

/** The consequences of unrelayed batches: while no batch is relayed, no other one is built. */
export const HIDDEN_WITHOUT_RELAYS: readonly Inhibition[] = [
  { problem: 'BridgeBacklogStuck' },
  { problem: 'BridgeBacklogHigh' },
  { problem: 'BridgeValsetDrift' },
];

/** Without observed events, the hub knows of no execution. Missing votes of watched validators are a cause. */
export const HIDDEN_WITHOUT_EVENTS: readonly Inhibition[] = [
  { problem: 'BridgeOracleSilent' },
  { problem: 'BridgeBatchOverdue' },
  { problem: 'BridgeBatchTimeoutNear' },
  { problem: 'BridgeBatchNotRelayed' },
  ...HIDDEN_WITHOUT_RELAYS,
  { problem: 'BridgeOrchestratorMissingVotes', exceptWatched: true },
];

/** How the problems of several unwatched validators are joined into one. */
export interface Together {
  /** The joined problem exists from this share of the power on. */
  readonly minimumPower: number;
  readonly summary: string;
  readonly action: string;
  /** The summary from two thirds of the power on. Then watched validators are joined, too: the cause is not theirs. */
  readonly summaryOfMost?: string;
}

export interface Problem<Name extends DocumentName = DocumentName, Value = unknown> {
  /** The name of its alert. */
  readonly name: string;
  readonly severity: Severity;
  /** The document whose polls judge the problem. */
  readonly document: Name;
  /** The age from which on the alert fires. */
  readonly afterMinutes: number;
  /** `lasting` by default. */
  readonly age?: AgeKind;
  /** Whether a warning wakes somebody, because it hides critical alerts. */
  readonly isUrgent?: true;
  /**
   * `markAfter` is the mark after this document, not the one before it; `undefined` while a field that the mark reads
   * was always missing. Throws WITHDRAWN when a required field is missing or invalid: then the problem is unjudged.
   */
  readonly find: (evidence: Evidence<Name>, markAfter: Value | undefined) => Findings;
  readonly mark?: Mark<Name, Value>;
  /** When it is a problem, for docs/alerts.md: a full sentence, because each severity is read alone. */
  readonly description: string;
  /** What to do first, in at most 240 characters. */
  readonly action: string;
  readonly together?: Together;
  readonly inhibits?: readonly Inhibition[];
  /** Whether it inhibits all other problems of the document; a warning no critical problem. */
  readonly inhibitsDocument?: true;
  /** By default that of its list in problems.ts. */
  readonly dashboard?: string;
}

/** The name is part of the type, so that pages cannot refer to a problem that does not exist. */
export interface NamedProblem<Alert extends string> extends Problem {
  readonly name: Alert;
}

export function defineProblem<Name extends DocumentName, const Alert extends string, Value = never>(
  document: Name,
  declaration: Omit<Problem<Name, Value>, 'document'> & Pick<NamedProblem<Alert>, 'name'>,
): NamedProblem<Alert> {
  // problem-memory.ts passes a problem only the evidence of its document, and its mark.
  return { document, ...declaration } as unknown as NamedProblem<Alert>;
}

export function problemKey({ name, severity, document }: Pick<Problem, 'name' | 'severity' | 'document'>): string {
  return `${name} ${severity} ${document}`;
}

/** What the configuration says about a problem, or a part of it. `after` in milliseconds. */
interface ProblemSetting {
  readonly after?: number | undefined;
  readonly enabled?: boolean | undefined;
}

/** By the name of the problem: for all of it, and for a severity or a document. */
export type ProblemSettings = Readonly<
  Record<string, ProblemSetting & Readonly<Partial<Record<Severity | DocumentName, ProblemSetting | undefined>>>>
>;

type Configured = Pick<Problem, 'name' | 'severity' | 'document'>;

function readSetting<Key extends keyof ProblemSetting>(
  { name, severity, document }: Configured,
  settings: ProblemSettings,
  key: Key,
): ProblemSetting[Key] {
  const { [severity]: ofSeverity, [document]: ofDocument, ...all } = settings[name] ?? {};
  return ofSeverity?.[key] ?? ofDocument?.[key] ?? all[key];
}

export function isEnabled(problem: Configured, settings: ProblemSettings): boolean {
  return readSetting(problem, settings, 'enabled') !== false;
}

/** The age from which on the alert fires, in seconds. */
export function limitSeconds(problem: Configured & Pick<Problem, 'afterMinutes'>, settings: ProblemSettings): number {
  const after = readSetting(problem, settings, 'after');
  return after === undefined ? problem.afterMinutes * 60 : after / 1000;
}
