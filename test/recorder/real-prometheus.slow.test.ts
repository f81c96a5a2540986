import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { get } from '../support/http.js';
import { runExporter, startDaemon } from '../support/processes.js';
import { startPrometheus } from '../support/prometheus.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { hasTool } from '../support/tools.js';

const hasPrometheus = hasTool('prometheus') && hasTool('promtool');

/** Longer than a minute, so that an evaluation of the backtest is in it. */
const OUTAGE_MS = 80_000;
const RECOVERED_MS = 70_000;
const HEALTHY_MS = 25_000;

const RULES = `groups:
  - name: test
    rules:
      - {alert: Down, expr: "bridge_exporter_up == 0", labels: {severity: critical}}
      - {alert: Backlog, expr: "bridge_unbatched_transfers > 0", labels: {severity: warning}}
      - {alert: Never, expr: "bridge_exporter_up > 1", labels: {severity: critical}}
`;

interface RangeSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [time: number, value: string])[];
}

/** The replayed samples of each series, by its labels as text. */
function replayedSamples(text: string): Map<string, [time: number, value: number][]> {
  const samples = new Map<string, [number, number][]>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value, time] = /^(\w+)(?:\{(.*)\})? (\S+) (\d+\.\d{3})$/.exec(line) ?? [];
    if (name === undefined) continue;
    const pairs = Array.from(
      labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g),
      ([, label = '', text_ = '']): [string, string] => [label, JSON.parse(`"${text_}"`) as string],
    );
    const key = keyOf({ __name__: name, ...Object.fromEntries(pairs) });
    samples.set(key, [...(samples.get(key) ?? []), [Number(time), Number(value)]]);
  }
  return samples;
}

const SCRAPE_LABELS = new Set(['job', 'instance']);

/** Prometheus leaves out labels that are empty. */
function keyOf(labels: Readonly<Record<string, string>>): string {
  const own = Object.entries(labels).filter(([name, value]) => !SCRAPE_LABELS.has(name) && value !== '');
  return JSON.stringify(own.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The last value before a time; `undefined` close to a poll, whose metrics the scrape may have had or not. */
function valueAt(samples: readonly (readonly [time: number, value: number])[], time: number): number | undefined {
  const isClose = samples.some(([own]) => Math.abs(own - time) < 0.15);
  return isClose ? undefined : samples.findLast(([own]) => own < time)?.[1];
}

describe.skipIf(!hasPrometheus)('a recording of every poll', () => {
  it('replays to what a Prometheus has scraped meanwhile, and its backtest has the alerts that this Prometheus fired', async () => {
    const folder = createTempFolder();
    const recording = join(folder.path, 'recording');
    const simulator = await startTestSimulator({ scenario: 'backlog', tick: true, blockTimeMs: 1000 });
    const config = folder.write(
      'bridge.yml',
      `poll: {interval: 2s, timeout: 1s, stale_after: 10s}
targets: [{name: a, bridge: {url: "${simulator.url}", validator_names: "off", node_queries: "off"}}]
recorder: {directory: "${recording}", interval: 0s}`,
    );
    const daemon = await startDaemon([`--config.file=${config}`]);
    const prometheus = await startPrometheus(
      folder,
      `global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ["${folder.write('rules.yml', RULES)}"]
scrape_configs: [{job_name: bridge, static_configs: [{targets: ["${new URL(daemon.url).host}"]}]}]`,
    );
    const query = async (selector: string): Promise<readonly RangeSeries[]> => {
      const { text } = await get(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(`${selector}[10m]`)}`);
      return (JSON.parse(text) as { data: { result: RangeSeries[] } }).data.result;
    };
    try {
      await sleep(HEALTHY_MS);
      simulator.fault('module_state', { kind: 'status', code: 503 });
      await sleep(OUTAGE_MS);
      simulator.fault('module_state', undefined);
      await sleep(RECOVERED_MS);
      await daemon.stop();
      const scraped = await query('{target="a"}');
      const fired = await query('ALERTS{alertstate="firing"}');

      const replay = await runExporter(['replay', '--recording', recording, `--config.file=${config}`]);
      expect(replay).toMatchObject({ code: 0, stderr: '' });
      const replayed = replayedSamples(replay.stdout);
      let compared = 0;
      for (const { metric, values } of scraped) {
        if (metric['__name__'] === 'ALERTS' || metric['__name__'] === 'ALERTS_FOR_STATE') continue;
        const samples = replayed.get(keyOf(metric)) ?? [];
        for (const [time, value] of values) {
          const expected = valueAt(samples, time);
          if (expected === undefined) continue;
          expect(Number(value), `${JSON.stringify(metric)} at ${time}`).toBe(expected);
          compared += 1;
        }
      }
      expect(scraped.length).toBeGreaterThan(100);
      expect(compared).toBeGreaterThan(3000);

      const backtest = await runExporter([
        'backtest',
        '--recording',
        recording,
        `--config.file=${config}`,
        '--format=json',
        `--rules=${join(folder.path, 'rules.yml')}`,
      ]);
      expect(backtest).toMatchObject({ code: 0, stderr: '' });
      const { firings } = JSON.parse(backtest.stdout) as {
        firings: { alert: string; labels: Record<string, string>; from: string; until: string | null }[];
      };
      const names = (alerts: readonly string[]): string[] => [...new Set(alerts)].toSorted();
      // A backtest evaluates once a minute, so it may miss what has fired for less.
      const lasting = fired.filter(({ values }) => (values.at(-1)?.[0] ?? 0) - (values[0]?.[0] ?? 0) >= 60);
      const found = names(firings.map(({ alert }) => alert));
      expect(found).toEqual(expect.arrayContaining(names(lasting.map(({ metric }) => metric['alertname'] ?? ''))));
      expect(names(fired.map(({ metric }) => metric['alertname'] ?? ''))).toEqual(expect.arrayContaining(found));
      const down = firings.filter(({ alert }) => alert === 'Down');
      const ofPrometheus =
        fired.find(({ metric }) => metric['alertname'] === 'Down')?.values.map(([time]) => time) ?? [];
      expect(down).toHaveLength(1);
      const [outage] = down;
      // An evaluation of the backtest is a minute.
      const first = ofPrometheus[0] ?? NaN;
      const last = ofPrometheus.at(-1) ?? NaN;
      expect(Math.abs(Date.parse(outage?.from ?? '') / 1000 - first)).toBeLessThanOrEqual(60);
      expect(Math.abs(Date.parse(outage?.until ?? '') / 1000 - last)).toBeLessThanOrEqual(60);
    } finally {
      await prometheus.stop();
      await daemon.stop('SIGKILL');
      await simulator.close();
    }
  });
});
