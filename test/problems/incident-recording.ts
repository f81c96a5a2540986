import type { Incident } from './incident.js';
import { INSTANCE, metricsInRules, type OtherExporters } from './promtool.js';
import { record, type Recording } from './recording.js';

/** The minutes in which the pages of an exporter show a problem as firing, by alert and severity, by the value of the label `instance`. */
export type ShownVerdicts = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<number>>>;

/** The recordings of the exporters of an incident. */
export interface RecordedIncident {
  readonly recording: Recording;
  readonly others: OtherExporters;
  readonly shown: ShownVerdicts;
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
  const isShort = [phases, ...Object.values(otherExporters)].flat().some(({ minutes }) => minutes < SHORT_MINUTES);
  const recordExporter = (instance: string, own: Incident['phases']): Recording => {
    const minutes = new Map<string, Set<number>>();
    shown.set(instance, minutes);
    return record(own, {
      sampleSeconds: isShort ? 60 : SAMPLE_SECONDS,
      ...options,
      keep,
      observe: (targets, minute) => {
        for (const { alert, severity, state } of targets.flatMap(({ verdicts }) => verdicts)) {
          if (state !== 'firing') continue;
          const key = `${alert}/${severity}`;
          minutes.set(key, (minutes.get(key) ?? new Set()).add(minute));
        }
      },
    });
  };
  const recording = recordExporter(INSTANCE, phases);
  const others = Object.entries(otherExporters).map(([instance, own]): readonly [string, Recording] => [
    instance,
    recordExporter(instance, own),
  ]);
  return { recording, others: Object.fromEntries(others), shown };
}
