import type { z } from 'zod';
import type { DocumentName, DocumentTypes } from '../document-types.js';
import { orElse, WITHDRAWN } from '../facts/required-fields.js';
import type { QueryStates } from '../queries/query-state.js';
import type { Sentence, Validator } from './sentence.js';

/*
 * A problem is something that is wrong with a target and that somebody can do something about. It is one object: what it reads, how it is found
 * in the facts of a document, since when, its limit, its texts, and what follows from it. The exporter judges it after each poll. The rule of
 * Prometheus compares its age with its limit: prometheus/alerts.yml, the inhibitions of prometheus/alertmanager.yml, docs/alerts.md and the
 * values of the chart are generated from these objects.
 */

/** `critical` wakes somebody at any time, `warning` is for working hours, `info` is for the record. */
export const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

/** What a problem is about, by ids only: names and symbols change, and are in texts. */
export const subjectLabels = ['token_contract', 'chain_id', 'orchestrator', 'watched', 'address', 'kind'] as const;
export type Subject = Readonly<Partial<Record<(typeof subjectLabels)[number], string>>>;

/** What a problem is found in: the facts of a document, and what else was known when it was polled. */
export interface Evidence<Name extends DocumentName = DocumentName> {
  readonly input: DocumentTypes[Name]['input'];
  /** What happened up to the document. */
  readonly flow: DocumentTypes[Name]['flow'];
  /** The answers of the node to other queries that are not stale. */
  readonly answers: QueryStates;
  /** When the node last answered a query, in Unix seconds, by query and key. */
  readonly answeredAt: (query: string, key: string) => number | undefined;
}

/** A problem in one document. */
export interface Found {
  readonly subject?: Subject;
  /** What progress changes: with another identity the problem begins anew. */
  readonly identity?: string;
  /** When it began, in Unix seconds, if the document proves it. */
  readonly start?: number | undefined;
  /** What is wrong, with `{duration}` in the place of its age. */
  readonly headline: string;
  /** What the headline is about, after a colon. */
  readonly list?: string;
  /** Who, how much, until when; empty texts are left out. */
  readonly details?: readonly string[];
  /** What to do first about this one; by default the action of the problem. */
  readonly action?: string | undefined;
  /** The validator that it is about. */
  readonly validator?: FoundValidator;
}

export interface FoundValidator extends Validator {
  readonly externalAddress: string;
  /** Its share of the newest validator set; `undefined` if it is unknown. */
  readonly power: number | undefined;
}

/**
 * What was found; `undefined` is nothing. `inPart`: the document does not show all subjects, such as a truncated list, so a problem that is not found
 * does not end.
 */
export type Findings =
  | Found
  | undefined
  | readonly (Found | undefined)[]
  | {
      readonly inPart: readonly (Found | undefined)[];
      /** Whether that is because a field is missing or invalid. */
      readonly isUnjudged?: true;
    };

/** What the parts of a problem find. A part that cannot be judged hides nothing that the others find. */
export function eachPart(parts: readonly (() => Found | undefined)[]): Findings {
  const found = parts.map((find) => orElse<Found | undefined | typeof WITHDRAWN>(find, () => WITHDRAWN));
  const judged = found.filter((one) => one !== WITHDRAWN);
  return judged.length === found.length ? judged : { inPart: judged, isUnjudged: true };
}

/**
 * What one problem remembers of all documents, such as a highest value with its time: plain data of bounded size. Its numbers are times in Unix
 * seconds, or small counts.
 */
interface Mark<Name extends DocumentName, Value> {
  readonly schema: z.ZodType<Value>;
  /** Whether what a document has changed counts only when the next one agrees. */
  readonly isDebounced?: true;
  /** Throws WITHDRAWN when a field that it reads is missing or invalid; then the mark stays. */
  readonly next: (evidence: Evidence<Name>, before: Value | undefined) => Value;
}

/** What a mark has of a token, chain or validator. */
export function entryOf<Value>(mark: Readonly<Record<string, Value>> | undefined, key: string): Value | undefined {
  return mark !== undefined && Object.hasOwn(mark, key) ? mark[key] : undefined;
}

/** A problem that is not worth a notification while this one is there, for the same target: an inhibition of Alertmanager. Pages list it below this one. */
export interface Inhibition {
  readonly problem: string;
  readonly severity?: Severity;
  /** Labels of the subject that must be equal, and the document. */
  readonly equal?: readonly (keyof Subject | 'document')[];
  /** Whether the operators of watched validators are notified all the same. */
  readonly exceptWatched?: boolean;
}

/** How problems of validators that are not watched become one. */
export interface Together {
  /** The share of the power from which on they are a problem. */
  readonly minimumPower: number;
  readonly sentence: (validators: readonly FoundValidator[]) => Sentence;
  readonly action: string;
}

export interface Problem<Name extends DocumentName = DocumentName, Value = unknown> {
  /** The name of its alert. */
  readonly name: string;
  readonly severity: Severity;
  /** The document whose polls judge it. */
  readonly document: Name;
  /** The age from which on its alert fires. */
  readonly afterMinutes: number;
  /** Whether it begins at a limit that varies, such as the age limit of a chain: over it, or near it. */
  readonly beginsAtLimit: false | 'over' | 'near';
  /** Throws WITHDRAWN when a field that it reads is missing or invalid: then it is unjudged. */
  readonly find: (evidence: Evidence<Name>, mark: Value | undefined) => Findings;
  readonly mark?: Mark<Name, Value>;
  /** What is wrong, as a template of Prometheus without the target and the age. */
  readonly summary: string;
  /** How large it is at present, for the summary: a template of Prometheus that ends with a comma and a space, or is empty without series. */
  readonly atPresent?: string;
  /** When it is a problem and what that means, for annotations and docs/alerts.md. */
  readonly description: string;
  /** What to do first. */
  readonly action: string;
  readonly together?: Together;
  readonly inhibits: readonly Inhibition[];
  /** Whether it is the cause of whatever else the document shows; a warning only of what is not critical. */
  readonly inhibitsDocument: boolean;
  readonly dashboard: string;
  /** Whether the first step is the page /pending of the target. */
  readonly linksToPending: boolean;
  /** Whether one document never proves it: it began before, or what the document shows may be there for a moment only. */
  readonly needsTime?: true;
  /** What a validator that it is about is late with, for the table of late validators. */
  readonly lateWith?: string;
}

/** A problem, or a rule on polls, as far as a verdict is judged by it. */
export type JudgedBy = Pick<Problem, 'name' | 'severity' | 'inhibits' | 'inhibitsDocument'>;

type Optional = 'beginsAtLimit' | 'inhibits' | 'inhibitsDocument' | 'dashboard' | 'linksToPending';

export type Declaration<Name extends DocumentName, Value> = Omit<Problem<Name, Value>, Optional | 'document'> &
  Partial<Pick<Problem<Name, Value>, Optional>>;

const defaults = {
  module_state: { dashboard: 'bridge-overview', linksToPending: true },
  external_contract: { dashboard: 'bridge-overview', linksToPending: false },
  rate_limiter_input: { dashboard: 'bridge-cross-chain', linksToPending: true },
} as const satisfies Record<DocumentName, object>;

/** A problem whose name is part of its type, so that pages cannot refer to a problem that does not exist. */
export interface NamedProblem<Alert extends string> extends Problem {
  readonly name: Alert;
}

/** Declares a problem of a document. */
export function problemOf<Name extends DocumentName, const Alert extends string, Value = never>(
  document: Name,
  declaration: Declaration<Name, Value> & Pick<NamedProblem<Alert>, 'name'>,
): NamedProblem<Alert> {
  const problem: Problem<Name, Value> = {
    document,
    beginsAtLimit: false,
    inhibits: [],
    inhibitsDocument: false,
    ...defaults[document],
    ...declaration,
  };
  // The engine gives a problem only what is of its document, and its own mark.
  return problem as unknown as NamedProblem<Alert>;
}

/** Identifies a problem among all. */
export function problemKey({ name, severity, document }: Pick<Problem, 'name' | 'severity' | 'document'>): string {
  return `${name} ${severity} ${document}`;
}

/** The configured limits, in milliseconds, by the name of the problem. */
export type ProblemSettings = Readonly<
  Record<string, { readonly after?: number | undefined; readonly enabled?: boolean | undefined }>
>;

export function isEnabled({ name }: Problem, settings: ProblemSettings): boolean {
  return settings[name]?.enabled !== false;
}

/** The age from which on the alert fires, in seconds. */
export function limitSeconds({ name, afterMinutes }: Problem, settings: ProblemSettings): number {
  const { after } = settings[name] ?? {};
  return after === undefined ? afterMinutes * 60 : after / 1000;
}
