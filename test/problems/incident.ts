import type { Phase, RecordingOptions } from './recording.js';

/** An alert with its severity. */
export type AlertKey = `${string}/${'critical' | 'warning' | 'info'}`;

export interface Incident {
  /** Completes the sentence "the alerts fire as expected when …". */
  readonly title: string;
  readonly phases: readonly Phase[];
  /** The phases of other exporters of the same chain, by the value of their label `instance`. They are as long. */
  readonly otherExporters?: Readonly<Record<string, readonly Phase[]>>;
  readonly options?: Omit<RecordingOptions, 'keep'>;
  readonly beginsAtMinute: number;
  /** The alerts that have to fire, with the maximum number of minutes from the beginning. */
  readonly expectedAlerts: Readonly<Record<AlertKey, number>>;
  /** The alerts that may fire besides; all others must not. */
  readonly allowedAlerts?: readonly AlertKey[];
  /** From this minute on, at least one critical alert has to fire in every minute. */
  readonly noGapAfter?: number;
  /** The incident continues at the end of the recording; otherwise all alerts have to be resolved by then. */
  readonly isOngoingAtEnd?: true;
}

export const HEALTHY_MINUTES = 20;
export const HEALTHY: Phase = { minutes: HEALTHY_MINUTES };

type Details = Partial<Omit<Incident, 'title' | 'phases' | 'expectedAlerts'>>;

/** One phase comes after a healthy one, and before a recovery that is longer than `keep_firing_for`. */
export function incident(
  title: string,
  phases: Phase | readonly Phase[],
  expectedAlerts: Incident['expectedAlerts'],
  details: Details = {},
): Incident {
  const all = 'minutes' in phases ? [HEALTHY, phases, { minutes: 40 }] : phases;
  return { title, phases: all, beginsAtMinute: HEALTHY_MINUTES, expectedAlerts, ...details };
}

/** What looks like an incident, and is none. */
export function healthy(title: string, phases: Phase | readonly Phase[], details: Details = {}): Incident {
  return incident(title, phases, {}, { beginsAtMinute: 0, ...details });
}
