import type { Incident } from './incident.js';
import { INSTANCE, metricsInRules, type OtherExporters } from './promtool.js';
import { record, type Recording } from './recording.js';

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
        for (const { alert, severity, state, isHidden, id } of targets.flatMap(({ verdicts }) => verdicts)) {
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
