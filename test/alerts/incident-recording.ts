import type { Incident } from './incidents.js';
import { INSTANCE, metricsInRules, type OtherExporters } from './promtool.js';
import { record, type Recording } from './recording.js';
import { observeVerdicts, type ObservedVerdicts } from './verdict-comparison.js';

/** The recordings of the exporters of an incident, with the verdicts of each. */
export interface RecordedIncident {
  readonly recording: Recording;
  readonly others: OtherExporters;
  /** By the value of the label `instance`. */
  readonly verdicts: Readonly<Record<string, ObservedVerdicts>>;
}

/** `keep` is the metrics that are recorded. */
export function recordIncident(
  { phases, otherExporters = {}, options }: Pick<Incident, 'phases' | 'otherExporters' | 'options'>,
  keep: ReadonlySet<string> = metricsInRules,
): RecordedIncident {
  const recordExporter = (own: Incident['phases']): readonly [Recording, ObservedVerdicts] => {
    const verdicts = observeVerdicts();
    return [record(own, { ...options, keep, observe: verdicts.observe }), verdicts];
  };
  const [recording, verdicts] = recordExporter(phases);
  const others = Object.entries(otherExporters).map(
    ([instance, own]): readonly [string, Recording, ObservedVerdicts] => [instance, ...recordExporter(own)],
  );
  return {
    recording,
    others: Object.fromEntries(others.map(([instance, own]) => [instance, own])),
    verdicts: { [INSTANCE]: verdicts, ...Object.fromEntries(others.map(([instance, , own]) => [instance, own])) },
  };
}
