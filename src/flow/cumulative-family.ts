import type { FamilyHeader, LabelValues } from '../metrics/family.js';
import type { FamilyLines } from '../metrics/render-families.js';
import { formatSeries } from '../metrics/text-format.js';

type Suffix = '_bucket' | '_sum' | '_count';

/** One series of a counter or a histogram. */
export interface SeriesSample<Label extends string = string> {
  readonly labels: LabelValues<Label>;
  readonly value: number;
  /** The suffix of a series of a histogram. */
  readonly suffix?: Suffix;
}

/** A family that counts since the start of the process. Unlike gauges, it is exported for as long as the endpoint exists. */
export interface CumulativeFamily<Flow> extends FamilyHeader {
  readonly type: 'counter' | 'histogram';
  readonly derive: (flow: Flow, maxSeries: number) => readonly SeriesSample[];
  /** The series of a histogram by the suffix of its samples. */
  readonly series: Readonly<Record<Suffix | '', Series>>;
}

/** A metric name and its label names. */
interface Series {
  readonly name: string;
  readonly labels: readonly string[];
}

type Table<Flow> = Readonly<Record<string, Omit<CumulativeFamily<Flow>, 'name' | 'series'>>>;

/** The families of a table with their names as keys, in its order. */
export function cumulativeFamilies<Flow>(table: Table<Flow>): readonly CumulativeFamily<Flow>[] {
  return Object.entries(table).map(([name, family]) => ({
    name,
    stability: 'experimental',
    ...family,
    series: seriesOf(name, family.labels),
  }));
}

function seriesOf(name: string, labels: readonly string[]): CumulativeFamily<never>['series'] {
  return {
    '': { name, labels },
    _bucket: { name: `${name}_bucket`, labels: [...labels, 'le'] },
    _sum: { name: `${name}_sum`, labels },
    _count: { name: `${name}_count`, labels },
  };
}

export function renderCumulative<Flow>(
  families: readonly CumulativeFamily<Flow>[],
  flow: Flow,
  fixedLabels: string,
  maxSeries: number,
): FamilyLines[] {
  return families.map(({ name, derive, series }) => {
    let lines = '';
    for (const sample of derive(flow, maxSeries)) {
      lines += formatSeries(series[sample.suffix ?? ''], fixedLabels, sample);
    }
    return { name, lines, dropped: undefined };
  });
}
