import type { DocumentName } from '../documents.js';
import type { JudgedFamily } from '../metrics/judged-families.js';
import type { Items } from '../pending/items.js';
import type { Instant } from '../poll/clock.js';
import type { EndpointState } from '../poll/endpoint-store.js';
import type { PollHistory } from './poll-history.js';
import type { Samples } from './samples.js';
import type { AlertLabels, Severity } from './verdict.js';

export type { AlertLabels };

/*
 * A condition is one object: the alert it corresponds to, the numbers of its rule, how it is found in a poll, and the sentence about
 * it. This file has the type of such an object and the functions that create one.
 */

/** Something that is wrong at one poll: one series of the result of the alert expression without its range. */
export interface Finding {
  readonly labels: AlertLabels;
  /** The quantity that must not change while the finding lasts. Another value is another finding. */
  readonly unchanged?: number | undefined;
  /** How much, for the summary. */
  readonly value: number;
  /** Since when it holds, if that is known otherwise than by having been found in every poll. */
  readonly since?: Instant | undefined;
  /** Whether it may have begun before `since`. */
  readonly mayBeOlder?: boolean;
  /** Unix seconds before which it cannot have begun, if the data proves that. */
  readonly notBeforeSeconds?: number | undefined;
}

/** Everything about an endpoint at a point in time. */
export interface PollView {
  readonly state: EndpointState;
  readonly history: PollHistory;
  /** Those of the last successful poll; none before it. */
  readonly samples: Samples;
  readonly items: Items | undefined;
  /** Since when a successful poll is expected: the start of the process, or the reload that added the endpoint. */
  readonly expectedSince: Instant;
  readonly now: Instant;
}

/** An expression of an alert rule: what it finds in one poll, and for how long it looks back. */
export interface Pattern {
  /** The finding is present, with the same value of `unchanged`, throughout this range (`[45m]`, `offset 45m`). */
  readonly rangeMinutes: number;
  readonly find: (view: PollView) => readonly Finding[];
}

/** A finding that has lasted. */
export interface LastingFinding extends Finding {
  readonly since: Instant;
  /** Whether it may have begun before the exporter observed it. */
  readonly mayBeOlder: boolean;
}

/** The findings of a condition for an endpoint. */
export interface Findings {
  /** At least one, the oldest first. */
  readonly all: readonly LastingFinding[];
  readonly oldest: LastingFinding;
  /** How long they last: "18 min", "at least 18 min", "up to 18 min". */
  readonly lasting: string;
}

export interface Condition {
  readonly alert: string;
  readonly severity: Severity;
  /** The documents it is judged for. */
  readonly documents: readonly DocumentName[];
  /**
   * `samples`: found in successful polls, and suspended while the data is outdated. `polls`: found in the state and history of the
   * endpoint after every poll.
   */
  readonly source: 'samples' | 'polls';
  /** Alternatives; one is enough. */
  readonly patterns: readonly Pattern[];
  /** The numbers other than 0 and 1 that the rule compares with. */
  readonly thresholds: readonly number[];
  /** The ranges of the rule that are not those of a pattern. */
  readonly rangesMinutes: readonly number[];
  /** `for` of the rule. */
  readonly forMinutes: number;
  /** `keep_firing_for` of the rule. */
  readonly keepMinutes: number;
  /** One line without the target: what, for how long, how much, who. */
  readonly summary: (findings: Findings, view: PollView) => string;
  /** What to do first. */
  readonly action: string | ((findings: Findings, view: PollView) => string);
}

type Description = Pick<Condition, 'alert' | 'severity' | 'forMinutes' | 'summary' | 'action'> &
  Partial<Pick<Condition, 'thresholds'>>;

/** A condition of the samples of a document whose rule has no range. */
export function sampleCondition(
  document: DocumentName,
  condition: Description & Pick<Pattern, 'find'> & Partial<Pick<Pattern, 'rangeMinutes'>>,
): Condition {
  const { find, rangeMinutes = 0, ...rest } = condition;
  return sampleAlternatives(document, { ...rest, patterns: [{ rangeMinutes, find }] });
}

/** A condition of the samples of a document whose rule has alternatives with different ranges. */
export function sampleAlternatives(
  document: DocumentName,
  condition: Description & Pick<Condition, 'patterns'>,
): Condition {
  return {
    thresholds: [],
    ...condition,
    source: 'samples',
    documents: [document],
    rangesMinutes: [],
    keepMinutes: KEEP_MINUTES,
  };
}

/** `keep_firing_for` of all rules on samples. */
const KEEP_MINUTES = 20;

/** A condition of the state and history of an endpoint. */
export function pollCondition(
  condition: Description &
    Pick<Condition, 'keepMinutes'> &
    Partial<Pick<Condition, 'documents' | 'rangesMinutes'>> &
    Pick<Pattern, 'find'>,
): Condition {
  const { find, ...rest } = condition;
  return {
    documents: ALL_DOCUMENTS,
    thresholds: [],
    rangesMinutes: [],
    ...rest,
    source: 'polls',
    patterns: [{ rangeMinutes: 0, find }],
  };
}

const ALL_DOCUMENTS: readonly DocumentName[] = ['module_state', 'rate_limiter_input'];

/** A finding without labels, or none. */
export function findingIf(condition: boolean, value: number, unchanged?: number): readonly Finding[] {
  return condition ? [{ labels: {}, value, unchanged }] : [];
}

/** Finds a family without labels that is above a limit; `unchanged` is the family whose value must not change meanwhile. */
export function above(family: JudgedFamily, limit: number, unchanged?: JudgedFamily) {
  return ({ samples }: PollView): readonly Finding[] => {
    const value = samples.value(family);
    if (value === undefined || value <= limit) return [];
    if (unchanged === undefined) return [{ labels: {}, value }];
    const constant = samples.value(unchanged);
    return constant === undefined ? [] : [{ labels: {}, value, unchanged: constant }];
  };
}
