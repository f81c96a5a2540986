import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RPC_PATH } from '../../src/simulator/json-rpc.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { get } from '../support/http.js';
import { runExporter, startDaemon } from '../support/processes.js';
import { startPrometheus } from '../support/prometheus.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { hasTool } from '../support/tools.js';

const hasPrometheus = hasTool('prometheus');

/** Longer than `stale_after`. */
const OUTAGE_MS = 45_000;
const RECOVERED_MS = 20_000;
const HEALTHY_MS = 20_000;

const SCRAPE_SECONDS = 5;

/** every-scenario.slow.test.ts has the others, without Prometheus. */
const scenarios = ['healthy', 'stuck', 'missed-cctxs'] as const;

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

describe.skipIf(!hasPrometheus)('a recording of every poll', () => {
  it('replays to what a Prometheus has scraped meanwhile', async () => {
    const folder = createTempFolder();
    const recording = join(folder.path, 'recording');
    const simulators: Simulator[] = [];
    for (const scenario of scenarios) {
      // oxlint-disable-next-line no-await-in-loop -- each simulates a past first
      simulators.push(await startTestSimulator({ scenario, tick: true, blockTimeMs: 2000 }));
    }
    const targets = scenarios.map((name, index) => ({
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
    const prometheus = await startPrometheus(
      folder,
      `global: {scrape_interval: ${SCRAPE_SECONDS}s}
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
      const replay = await runExporter(['replay', '--recording', recording, `--config.file=${config}`]);
      expect(replay).toMatchObject({ code: 0, stderr: '' });
      const replayed = replayedSamples(replay.stdout);
      let compared = 0;
      const documents = new Set<string>();
      for (const target of scenarios) {
        // oxlint-disable-next-line no-await-in-loop -- one target after the other takes less memory
        for (const { metric, values } of await query(`{target="${target}",job="bridge-exporter"}`)) {
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
      for (const target of scenarios) {
        for (const document of ['module_state', 'rate_limiter_input', 'external_contract']) {
          expect(documents).toContain(`${target} ${document}`);
        }
      }
      expect(compared).toBeGreaterThan(3000);
    } finally {
      await prometheus.stop();
      await daemon.stop('SIGKILL');
      await Promise.all(simulators.map(async (simulator) => simulator.close()));
    }
  });
});
