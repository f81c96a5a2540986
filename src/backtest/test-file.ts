import type { SampleWindow } from './samples.js';

/* A test of promtool that evaluates rules over a window of samples, and prints when alerts begin and end to fire. */

/** Labels that Prometheus adds when it scrapes. */
export const SCRAPE_LABELS = { job: 'bridge-exporter', instance: 'recording' } as const;

const FIRING = 'ALERTS{alertstate="firing"}';

/** The queries of a test, by what their result is. */
export const queriesOf = (stepSeconds: number) => ({
  firing: FIRING,
  begins: `${FIRING} unless ${FIRING} offset ${stepSeconds}s`,
  ended: `${FIRING} offset ${stepSeconds}s unless ${FIRING}`,
});

export interface TestOptions {
  readonly ruleFiles: readonly string[];
  /** The groups of the rules in the order of their evaluation. */
  readonly groups: readonly string[];
  readonly stepSeconds: number;
  /** The first sample of the window that is reported. Those before are its past. */
  readonly reportFrom: number;
}

/** The content of the file: JSON, which is YAML. */
export function testFile(window: SampleWindow, { ruleFiles, groups, stepSeconds, reportFrom }: TestOptions): string {
  const interval = `${stepSeconds}s`;
  const { firing, begins, ended } = queriesOf(stepSeconds);
  const query = (expr: string, sample: number) => ({
    expr,
    eval_time: `${sample * stepSeconds}s`,
    // A result that differs from the expected one, here none, is printed.
    exp_samples: [],
  });
  const later = Array.from(
    { length: Math.max(0, window.count - reportFrom - 1) },
    (_, index) => reportFrom + 1 + index,
  );
  return JSON.stringify({
    rule_files: ruleFiles,
    evaluation_interval: interval,
    group_eval_order: groups,
    tests: [
      {
        interval,
        input_series: Array.from(window.series, ([key, values]) => ({
          series: withScrapeLabels(key),
          values: notation(values, window.count, isTimestamp(key) ? window.fromMs / 1000 : 0),
        })),
        promql_expr_test: [
          query(firing, reportFrom),
          ...later.flatMap((sample) => [query(begins, sample), query(ended, sample)]),
        ],
      },
    ],
  });
}

function withScrapeLabels(key: string): string {
  const labels = Object.entries(SCRAPE_LABELS).map(([name, value]) => `${name}="${value}"`);
  return key.endsWith('}') ? `${key.slice(0, -1)},${labels.join(',')}}` : `${key}{${labels.join(',')}}`;
}

/** The clock of promtool starts at 1970, so that times are relative to the window. */
function isTimestamp(key: string): boolean {
  return /^\w+_timestamp_seconds(?:\{|$)/.test(key);
}

/** The values in promtool's notation, in which equal ones are written once. A series that ends gets a staleness marker. */
function notation(values: readonly (number | undefined)[], count: number, origin: number): string {
  const parts: string[] = [];
  let previous: string | undefined;
  let repeated = 0;
  const flush = (): void => {
    if (previous === undefined) return;
    // A number with an exponent cannot be repeated.
    if (repeated === 0 || /[e ]/.test(previous))
      parts.push(...Array.from({ length: repeated + 1 }, () => previous ?? ''));
    else parts.push(previous === '_' ? `_x${repeated + 1}` : `${previous}+0x${repeated}`);
  };
  for (let sample = 0; sample < count; sample += 1) {
    const text = textOf(values[sample], sample === 0 ? undefined : values[sample - 1], origin);
    if (text === previous && text !== 'stale') {
      repeated += 1;
      continue;
    }
    flush();
    previous = text;
    repeated = 0;
  }
  flush();
  return parts.join(' ');
}

function textOf(value: number | undefined, before: number | undefined, origin: number): string {
  if (value !== undefined) return String(value - origin);
  return before === undefined ? '_' : 'stale';
}
