import { exporterRules } from '../../src/problems/rules.js';
import { INSTANCE, metricsInRules, type OtherExporters } from './promtool.js';
import { record, type Phase, type Recording, type RecordingOptions } from './recording.js';

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

/** The alerts that Prometheus judges, with each severity. */
export const ofRules: readonly string[] = exporterRules.flatMap(({ name, severity }) =>
  typeof severity === 'string' ? [`${name}/${severity}`] : [`${name}/critical`, `${name}/warning`],
);

/** A small number of incidents that together fire all alerts, without the longest ones. Those of `known` need none. */
export function shortestIncidents(all: readonly Incident[], known: readonly string[] = []): readonly Incident[] {
  let chosen = all.filter(({ expectedAlerts }) => Object.keys(expectedAlerts).length > 0);
  for (const longest of chosen.toSorted((a, b) => endOf(a) - endOf(b)).toReversed()) {
    const others = chosen.filter((other) => other !== longest);
    const covered = new Set([...known, ...others.flatMap(({ expectedAlerts }) => Object.keys(expectedAlerts))]);
    if (Object.keys(longest.expectedAlerts).every((key) => covered.has(key))) chosen = others;
  }
  return chosen;
}

/** The last minute that matters: every alert fires by then. */
export function endOf({ beginsAtMinute, expectedAlerts }: Incident): number {
  return beginsAtMinute + Math.max(...Object.values(expectedAlerts)) + 7;
}

/** Minutes by a key, by the value of the label `instance`. */
export type MinutesOfExporters = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<number>>>;

/** The recordings of the exporters of an incident. */
export interface RecordedIncident {
  readonly recording: Recording;
  readonly others: OtherExporters;
  /** In which the pages show a problem as firing, by alert and severity. */
  readonly shown: MinutesOfExporters;
  /** In which the alert of a problem fires by the pages, by its id and severity. */
  readonly unhidden: MinutesOfExporters;
}

/** No alert needs a finer one. */
const SAMPLE_SECONDS = 120;
/** A shorter phase could be between two samples, or have only one. */
const SHORT_MINUTES = 4;

/** `keep` is the metrics that are recorded. */
export function recordIncident(
  { phases, otherExporters = {}, options }: Pick<Incident, 'phases' | 'otherExporters' | 'options'>,
  keep: ReadonlySet<string> = metricsInRules,
): RecordedIncident {
  const shown = new Map<string, Map<string, Set<number>>>();
  const unhidden = new Map<string, Map<string, Set<number>>>();
  const isShort = [phases, ...Object.values(otherExporters)].flat().some(({ minutes }) => minutes < SHORT_MINUTES);
  const recordExporter = (instance: string, own: Incident['phases']): Recording => {
    const minutes = new Map<string, Set<number>>();
    const unhiddenMinutes = new Map<string, Set<number>>();
    shown.set(instance, minutes);
    unhidden.set(instance, unhiddenMinutes);
    return record(own, {
      sampleSeconds: isShort ? 60 : SAMPLE_SECONDS,
      ...options,
      keep,
      observe: (targets, minute) => {
        for (const { alert, severity, state, isHidden, id } of targets.flatMap(({ problems }) => problems)) {
          if (state !== 'firing') continue;
          addMinute(minutes, `${alert}/${severity}`, minute);
          if (!isHidden) addMinute(unhiddenMinutes, `${alert}/${severity} ${id}`, minute);
        }
      },
    });
  };
  const recording = recordExporter(INSTANCE, phases);
  const others = Object.entries(otherExporters).map(([instance, own]): readonly [string, Recording] => [
    instance,
    recordExporter(instance, own),
  ]);
  return { recording, others: Object.fromEntries(others), shown, unhidden };
}

function addMinute(minutes: Map<string, Set<number>>, key: string, minute: number): void {
  minutes.set(key, (minutes.get(key) ?? new Set()).add(minute));
}
