/* The samples of the series that rules read, at equal intervals, for one window of time. */

/** The values of each series; `undefined` where it was not exported. */
export interface SampleWindow {
  /** The time of the first sample, in milliseconds since 1970. */
  readonly fromMs: number;
  readonly count: number;
  readonly series: ReadonlyMap<string, readonly (number | undefined)[]>;
}

export interface SampleBuffer {
  /** Adds a scrape. Times must ascend by the step; those that are left out have no samples. */
  readonly add: (exposition: string, timeMs: number) => void;
  /** The samples from a time on, to the last one. */
  readonly since: (fromMs: number, toMs: number) => SampleWindow;
  /** Forgets earlier samples. */
  readonly dropBefore: (ms: number) => void;
}

export function createSampleBuffer(isRead: (name: string) => boolean, stepMs: number): SampleBuffer {
  let series = new Map<string, (number | undefined)[]>();
  let firstMs: number | undefined;
  return {
    add: (exposition, timeMs) => {
      firstMs ??= timeMs;
      const index = Math.round((timeMs - firstMs) / stepMs);
      for (const { key, name, value } of seriesIn(exposition)) {
        if (!isRead(name)) continue;
        let values = series.get(key);
        if (values === undefined) {
          values = [];
          series.set(key, values);
        }
        values[index] = value;
      }
    },
    since: (fromMs, toMs) => {
      const start = Math.max(fromMs, firstMs ?? fromMs);
      const skipped = Math.round((start - (firstMs ?? start)) / stepMs);
      const count = Math.max(0, Math.floor((toMs - start) / stepMs) + 1);
      const kept = Array.from(series, ([key, values]) => [key, values.slice(skipped, skipped + count)] as const);
      return {
        fromMs: start,
        count,
        series: new Map(kept.filter(([, values]) => values.some((value) => value !== undefined))),
      };
    },
    dropBefore: (ms) => {
      if (firstMs === undefined || ms <= firstMs) return;
      const dropped = Math.round((ms - firstMs) / stepMs);
      firstMs += dropped * stepMs;
      const kept = Array.from(series, ([key, values]) => [key, values.slice(dropped)] as const);
      series = new Map(kept.filter(([, values]) => values.length > 0));
    },
  };
}

interface Sample {
  readonly key: string;
  readonly name: string;
  readonly value: number;
}

/** The samples of an exposition without timestamps. */
function* seriesIn(exposition: string): Generator<Sample> {
  for (const line of exposition.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const end = line.lastIndexOf(' ');
    const key = line.slice(0, end);
    const brace = key.indexOf('{');
    yield { key, name: brace === -1 ? key : key.slice(0, brace), value: Number(line.slice(end + 1)) };
  }
}
