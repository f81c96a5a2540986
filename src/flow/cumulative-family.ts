import type { FamilyHeader, LabelValues } from '../metrics/family.js';
import type { FamilyLines } from '../metrics/render-families.js';
import { formatSeries } from '../metrics/text-format.js';

/** One series of a counter or a histogram. */
export interface SeriesSample<Label extends string = string> {
  readonly labels: LabelValues<Label>;
  readonly value: number;
  /** Of the series of a histogram. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

/** A family that counts since the start of the process. Unlike gauges, it is exported for as long as the endpoint exists. */
export interface CumulativeFamily<Flow> extends FamilyHeader {
  readonly type: 'counter' | 'histogram';
  readonly derive: (flow: Flow, maxSeries: number) => readonly SeriesSample[];
}

type Table<Flow> = Readonly<Record<string, Omit<CumulativeFamily<Flow>, 'name'>>>;

/** The families of a table with their names as keys, in its order. */
export function cumulativeFamilies<Flow>(table: Table<Flow>): readonly CumulativeFamily<Flow>[] {
  return Object.entries(table).map(([name, family]) => ({ name, stability: 'experimental', ...family }));
}

export function renderCumulative<Flow>(
  families: readonly CumulativeFamily<Flow>[],
  flow: Flow,
  fixedLabels: string,
  maxSeries: number,
): FamilyLines[] {
  return families.map(({ name, derive }) => {
    let lines = '';
    for (const sample of derive(flow, maxSeries)) {
      const series = { name: name + (sample.suffix ?? ''), labels: Object.keys(sample.labels) };
      lines += formatSeries(series, fixedLabels, sample);
    }
    return { name, lines, dropped: undefined };
  });
}
