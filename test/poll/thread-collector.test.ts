import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Job } from '../../src/poll/collect.js';
import type { Collector } from '../../src/poll/collector.js';
import type { startThreadCollector as startThread } from '../../src/poll/thread-collector.js';
import { defaultBridgeSettings } from '../../src/config/schema.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { startTestSimulator } from '../support/test-simulator.js';

/* Tests the compiled worker thread, because vitest cannot start one from TypeScript. */
let simulator: Simulator;
let collector: Collector;

beforeAll(async () => {
  simulator = await startTestSimulator();
  const built = new URL('../../dist/poll/thread-collector.js', import.meta.url).href;
  const { startThreadCollector } = (await import(built)) as { startThreadCollector: typeof startThread };
  collector = startThreadCollector(64, 'bridge-exporter/0.0.0');
});

afterAll(async () => {
  await collector.close();
  await simulator.close();
});

function job(url: string): Job {
  const labels = { tokens: [], chains: {} };
  return {
    url,
    limits: { timeoutMs: 5000, maxBodyBytes: 1024 * 1024 },
    source: { target: 't', labels, maxSeries: 200, document: 'module_state', settings: defaultBridgeSettings },
  };
}

it('the thread collector reports a crash of the worker thread as an internal failure and replaces the thread', async () => {
  const good = job(`${simulator.url}/bridge/v1/module_state`);
  expect((await collector.collect(good)).result.ok).toBe(true);
  // The configuration rejects this URL.
  const { result } = await collector.collect(job('no address'));
  expect(result).toMatchObject({ ok: false, error: { reason: 'internal' } });
  expect((await collector.collect(good)).result.ok).toBe(true);
});
