import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RPC_PATH } from '../../src/simulator/json-rpc.js';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import type { Simulator } from '../../src/simulator/simulator.js';
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

const SCRAPE_SECONDS = 5;

/** The tolerance of the times: an evaluation of the backtest, and a scrape. */
const EVALUATION_SECONDS = 65;

/**
 * Conditions that last in some scenarios. They do not look back: over the first minutes of a recording, samples once a minute say less than
 * those of this Prometheus.
 */
const RULES = `groups:
  - name: test
    rules:
      - {alert: Down, expr: "bridge_exporter_up == 0", labels: {severity: critical}}
      - {alert: Backlog, expr: "bridge_unbatched_transfers + bridge_batch_transactions > on (target) group_left () bridge_backlog_limit_transfers", for: 1m, labels: {severity: warning}}
      - {alert: Conflict, expr: "bridge_conflicting_claims > 0", for: 1m, labels: {severity: critical}}
      - {alert: Drift, expr: "bridge_valset_power_drift_ratio > 0.05", for: 1m, labels: {severity: warning}}
      - {alert: Truncated, expr: "crosschain_cctxs_hidden > 0", for: 1m, labels: {severity: warning}}
      - {alert: RateLimit, expr: "crosschain_rate_limit_exceeded == 1", for: 1m, labels: {severity: info}}
      - {alert: Contract, expr: "bridge_contract_paused == 0", for: 1m, labels: {severity: none}}
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

/** The last value before a time; `undefined` close to a poll, whose metrics the scrape may have had or not: the machine may be busy. */
function valueAt(samples: readonly (readonly [time: number, value: number])[], time: number): number | undefined {
  const isClose = samples.some(([own]) => Math.abs(own - time) < 1);
  return isClose ? undefined : samples.findLast(([own]) => own < time)?.[1];
}

interface Alert {
  readonly key: string;
  readonly name: string;
  /** The first and the last time at which it fired, in Unix seconds. */
  readonly from: number;
  readonly until: number;
}

const keyOfAlert = ({ alertname = '', ...labels }: Readonly<Record<string, string>>): string =>
  `${alertname} ${keyOf(labels)}`;

/** The alerts of a Prometheus that fired without a pause. */
const alertsOf = (fired: readonly RangeSeries[]): Alert[] =>
  fired.flatMap(({ metric: { __name__: _name, alertstate: _state, ...labels }, values }) => {
    const times = values.map(([time]) => time);
    const isStart = (time: number, index: number): boolean =>
      time - (times[index - 1] ?? -Infinity) > 2 * SCRAPE_SECONDS;
    const starts = times.flatMap((time, index) => (isStart(time, index) ? [index] : []));
    return starts.map((start, run) => ({
      key: keyOfAlert(labels),
      name: labels['alertname'] ?? '',
      from: times[start] ?? NaN,
      until: times[(starts[run + 1] ?? times.length) - 1] ?? NaN,
    }));
  });

describe.skipIf(!hasPrometheus)('a recording of every poll', () => {
  it('replays to what a Prometheus has scraped meanwhile in every scenario, and its backtest has the alerts that this Prometheus fired', async () => {
    const folder = createTempFolder();
    const recording = join(folder.path, 'recording');
    const simulators: Simulator[] = [];
    for (const scenario of scenarioNames) {
      // oxlint-disable-next-line no-await-in-loop -- each simulates a past first
      simulators.push(await startTestSimulator({ scenario, tick: true, blockTimeMs: 2000 }));
    }
    const targets = scenarioNames.map((name, index) => ({
      name,
      bridge: {
        url: simulators[index]?.url,
        validator_names: 'off',
        node_queries: 'off',
        external: { url: `${simulators[index]?.url}${RPC_PATH}`, interval: '10s' },
      },
      crosschain: {
        url: simulators[index]?.url,
        rate: '1000000000000000000',
        node_queries: 'off',
        cctx_queries: 'off',
      },
    }));
    const config = folder.write(
      'bridge.yml',
      JSON.stringify({
        poll: { interval: '10s', timeout: '5s', stale_after: '30s' },
        targets,
        recorder: { directory: recording, interval: '0s' },
      }),
    );
    const daemon = await startDaemon([`--config.file=${config}`]);
    const rules = folder.write('rules.yml', RULES);
    const prometheus = await startPrometheus(
      folder,
      `global: {scrape_interval: ${SCRAPE_SECONDS}s, evaluation_interval: ${SCRAPE_SECONDS}s}
rule_files: [${JSON.stringify(rules)}]
scrape_configs: [{job_name: bridge-exporter, static_configs: [{targets: ["${new URL(daemon.url).host}"]}]}]`,
    );
    const query = async (selector: string): Promise<readonly RangeSeries[]> => {
      const { text } = await get(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(`${selector}[10m]`)}`);
      return (JSON.parse(text) as { data: { result: RangeSeries[] } }).data.result;
    };
    try {
      await sleep(HEALTHY_MS);
      simulators[0]?.fault('module_state', { kind: 'status', code: 503 });
      await sleep(OUTAGE_MS);
      simulators[0]?.fault('module_state', undefined);
      await sleep(RECOVERED_MS);
      await daemon.stop();
      const fired = alertsOf(await query('ALERTS{alertstate="firing"}'));
      const pending = alertsOf(await query('ALERTS{alertstate="pending"}'));
      const replay = await runExporter(['replay', '--recording', recording, `--config.file=${config}`]);
      expect(replay).toMatchObject({ code: 0, stderr: '' });
      const replayed = replayedSamples(replay.stdout);
      let compared = 0;
      const documents = new Set<string>();
      for (const target of scenarioNames) {
        // oxlint-disable-next-line no-await-in-loop -- one target after the other takes less memory
        for (const { metric, values } of await query(`{target="${target}",job="bridge-exporter",alertstate=""}`)) {
          if (metric['__name__']?.includes(':') === true || metric['alertname'] !== undefined) continue;
          const samples = replayed.get(keyOf(metric)) ?? [];
          for (const [time, value] of values) {
            const expected = valueAt(samples, time);
            if (expected === undefined) continue;
            expect(Number(value), `${JSON.stringify(metric)} at ${time}`).toBe(expected);
            documents.add(`${target} ${metric['document']}`);
            compared += 1;
          }
        }
      }
      for (const target of scenarioNames) {
        for (const document of ['module_state', 'rate_limiter_input', 'external_contract']) {
          expect(documents).toContain(`${target} ${document}`);
        }
      }
      expect(compared).toBeGreaterThan(30_000);

      const backtest = await runExporter([
        'backtest',
        '--recording',
        recording,
        `--config.file=${config}`,
        '--format=json',
        `--rules=${rules}`,
      ]);
      expect(backtest).toMatchObject({ code: 0, stderr: '' });
      const { firings } = JSON.parse(backtest.stdout) as {
        firings: {
          alert: string;
          severity: string;
          labels: Record<string, string>;
          from: string;
          until: string | null;
        }[];
      };
      const found = firings.map(({ alert, severity, labels, from, until }): Alert => ({
        key: keyOfAlert({ ...labels, severity, alertname: alert }),
        name: alert,
        from: Date.parse(from) / 1000,
        until: until === null ? NaN : Date.parse(until) / 1000,
      }));
      // An evaluation of the backtest is a minute: it may miss what has fired for less.
      const lasting = fired.filter(({ from, until }) => until - from >= EVALUATION_SECONDS);
      const keys = (alerts: readonly Alert[]): string[] => [...new Set(alerts.map(({ key }) => key))].toSorted();
      expect(keys(found)).toEqual(expect.arrayContaining(keys(lasting)));
      // What pauses in between may be true whenever the backtest looks.
      expect(keys([...fired, ...pending])).toEqual(expect.arrayContaining(keys(found)));
      const names = new Set(found.map(({ name }) => name));
      for (const name of ['Down', 'Backlog', 'Conflict', 'Truncated', 'Contract']) {
        expect(names).toContain(name);
      }
      for (const { key, from, until } of lasting) {
        if (fired.filter((alert) => alert.key === key).length > 1) continue;
        const own = found.filter((alert) => alert.key === key);
        expect(Math.abs(Math.min(...own.map((alert) => alert.from)) - from), `start of ${key}`).toBeLessThanOrEqual(
          EVALUATION_SECONDS,
        );
        const ends = own.map((alert) => alert.until);
        // What still fires has no end.
        if (ends.some(Number.isNaN)) continue;
        expect(Math.abs(Math.max(...ends) - until), `end of ${key}`).toBeLessThanOrEqual(EVALUATION_SECONDS);
      }
    } finally {
      await prometheus.stop();
      await daemon.stop('SIGKILL');
      await Promise.all(simulators.map(async (simulator) => simulator.close()));
    }
  });
});
