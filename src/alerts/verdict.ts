import type { DocumentName } from '../documents.js';
import type { Instant } from '../poll/clock.js';

/*
 * Verdicts: what is wrong with a target, judged like the alert rules of prometheus/alerts.yml and from the exporter's own memory of
 * recent polls.
 */

export const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

/** The labels of an alert besides `target`, `document` and the names. */
export type AlertLabels = Readonly<Record<string, string>>;

/** One condition that holds for a target. It corresponds to an alert, or to the alerts of all its validators, chains or fields. */
export interface Verdict {
  readonly target: string;
  readonly document: DocumentName;
  /** The alert with the same condition, thresholds and severity. */
  readonly alert: string;
  readonly severity: Severity;
  /**
   * `firing`: it has held as long as the alert requires. `observing`: it has held since the exporter began to observe the endpoint,
   * which is not yet as long as the alert requires, so it cannot be judged.
   */
  readonly state: 'firing' | 'observing';
  /** Since when it is known to hold. */
  readonly since: Instant;
  /** From when on it fires; in the future while it is `observing`, provided that it persists. */
  readonly firesAt: Instant;
  /** The labels of each alert that the verdict corresponds to, besides `target` and `document`: one per validator, chain or field. */
  readonly subjects: readonly AlertLabels[];
  /** What is wrong, in one line without the target, since when, how much and who: "no event observed for 18 min, 57 waiting; …". */
  readonly summary: string;
  /** What to do first. */
  readonly action: string;
}

/** All verdicts of a target, worst first. */
export interface TargetVerdicts {
  readonly target: string;
  /**
   * The severity of the worst firing verdict; `unknown` when nothing fires and some endpoint cannot be judged: never polled, its data
   * outdated, or a verdict in state `observing`; `ok` otherwise.
   */
  readonly status: Severity | 'unknown' | 'ok';
  /** Why the target cannot be judged; empty unless something cannot be. */
  readonly unknown: readonly string[];
  readonly verdicts: readonly Verdict[];
  /** When the exporter began to observe the target. */
  readonly observedSince: Instant | undefined;
}
