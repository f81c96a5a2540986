import { execFileSync } from 'node:child_process';
import { clock } from '../support/clock.js';
import { createProcessMetrics, type RenderProcessMetrics } from '../../src/exposition/node-metrics.js';
import { INITIAL_CONFIG, record, START_SECONDS, type Phase, type RecordingOptions } from '../problems/recording.js';
import { alertRules, type Rule } from '../support/alert-rules.js';
import { seriesOf } from '../support/exposition-text.js';
import { startPrometheus, type Prometheus, type RangeSeries } from '../support/prometheus.js';
import type { TempFolder } from '../support/temp-folder.js';
import { waitFor } from '../support/wait-for.js';

/*
 * A Prometheus with what it would have scraped from exporters of simulated chains, and with the alerts that would have fired, made within
 * seconds. All recordings end at the same time.
 */

export const STEP_SECONDS = 60;

/** An exporter that polls one target. */
export interface RecordedTarget {
  readonly name: string;
  readonly phases: readonly Phase[];
  readonly options?: Omit<RecordingOptions, 'keep'>;
}

interface RecordedPrometheus extends Prometheus {
  /** Unix seconds of the first and of the last sample. */
  readonly from: number;
  readonly to: number;
}

/** A series with its value at each minute; `undefined` where it was not there. */
type Samples = readonly [series: string, values: readonly (number | undefined)[]];

export async function startRecordedPrometheus(
  folder: TempFolder,
  targets: readonly RecordedTarget[],
): Promise<RecordedPrometheus> {
  const metrics = createProcessMetrics(() => ({
    build: { version: '0.2.0', revision: 'unknown', nodeVersion: process.versions.node },
    shard: { index: 1, count: 1 },
    config: { hash: 0, loadedAt: 0, targets: 0 },
    isConfigRejected: false,
    targetsHash: () => 0,
    recorder: undefined,
  }));
  const recordings = targets.map(recordTarget);
  const count = Math.max(...recordings.map(({ samples }) => samples));
  const [from, to] = [START_SECONDS, START_SECONDS + (count - 1) * STEP_SECONDS];
  const ofProcess = await processSeries(metrics);
  createBlocks(
    folder,
    recordings.flatMap(({ name, series, samples }) => {
      const startSeconds = to - (samples - 1) * STEP_SECONDS;
      const constant = ofProcess.map(([key, value]): Samples => [key, Array.from({ length: samples }, () => value)]);
      return [...series, ...constant].map(([key, values]) =>
        linesOf(withLabels(key, `job="bridge",instance="exporter-${name}:10917"`), values, startSeconds),
      );
    }),
  );
  const flags = ['--storage.tsdb.retention.time=100y', `--query.lookback-delta=${STEP_SECONDS + 1}s`];
  const start = async (): Promise<Prometheus> => startPrometheus(folder, '', { flags });
  const unjudged = await start();
  const alerts = await Promise.all(
    alertRules.map(async (rule) =>
      alertSeries(rule, await unjudged.queryRange(String(rule.expr), { from, to, step: STEP_SECONDS })),
    ),
  );
  await unjudged.stop();
  createBlocks(
    folder,
    alerts.flat().map(([key, values]) => linesOf(key, values, from)),
  );
  return { ...(await start()), from, to };
}

function recordTarget({ name, phases, options }: RecordedTarget) {
  const config = { ...INITIAL_CONFIG, target: name };
  const [first, ...rest] = phases;
  if (first === undefined) throw new Error(`${name} has no phase`);
  return { name, ...record([{ config, ...first }, ...rest], { ...options, keep: 'all' }) };
}

/** The metrics of this process, as those of an exporter. */
async function processSeries(
  render: RenderProcessMetrics,
): Promise<readonly (readonly [series: string, value: number])[]> {
  // Garbage collections are observed later.
  const text = await waitFor(
    async () => render('text', clock()),
    (rendered) => rendered.includes('nodejs_gc_duration_seconds_sum'),
  );
  return seriesOf(text)
    .filter(({ name }) => /^(?:process|nodejs)_/.test(name))
    .map(({ name, labels, value }) => [
      labels === '' ? name : `${name}{${labels}}`,
      name.endsWith('_start_time_seconds') ? 0 : value,
    ]);
}

const withLabels = (series: string, labels: string): string =>
  series.endsWith('}') ? `${series.slice(0, -1)},${labels}}` : `${series}{${labels}}`;

/** In OpenMetrics. The recorder counts instants from the first sample. */
function linesOf(series: string, values: Samples[1], startSeconds: number): string {
  const offset = /^\w+_(?:timestamp|start_time)_seconds\{|^ALERTS_FOR_STATE/.test(series) ? startSeconds : 0;
  return values
    .map((value, index) =>
      value === undefined ? '' : `${series} ${value + offset} ${startSeconds + index * STEP_SECONDS}\n`,
    )
    .join('');
}

function createBlocks({ write, path }: TempFolder, lines: readonly string[]): void {
  const file = write('samples.txt', `${lines.join('')}# EOF\n`);
  execFileSync('promtool', ['tsdb', 'create-blocks-from', '--quiet', 'openmetrics', file, `${path}/data`]);
}

/** The series of an alert from the results of its expression at each minute, without `keep_firing_for`. */
function alertSeries({ alert, for: pending = '0m', labels = {} }: Rule, results: readonly RangeSeries[]): Samples[] {
  const pendingSteps = (Number.parseInt(pending, 10) * 60) / STEP_SECONDS;
  return results.flatMap(({ metric, values }): Samples[] => {
    const { __name__: _name, ...rest } = metric;
    const pairs = Object.entries({ ...rest, ...labels, alertname: alert });
    const text = pairs.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',');
    const [firing, activeSince]: [(number | undefined)[], (number | undefined)[]] = [[], []];
    let since: number | undefined;
    for (const [seconds] of values) {
      const index = Math.round((seconds - START_SECONDS) / STEP_SECONDS);
      if (since === undefined || activeSince[index - 1] === undefined) since = index;
      activeSince[index] = since * STEP_SECONDS;
      if (index - since >= pendingSteps) firing[index] = 1;
    }
    return [
      [`ALERTS{alertstate="firing",${text}}`, dense(firing)],
      [`ALERTS_FOR_STATE{${text}}`, dense(activeSince)],
    ];
  });
}

const dense = (values: readonly (number | undefined)[]): (number | undefined)[] => Array.from(values);
