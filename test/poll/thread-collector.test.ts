import { existsSync, readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Job } from '../../src/poll/collect.js';
import type { Collector } from '../../src/poll/collector.js';
import type { startThreadCollector as startThread } from '../../src/poll/thread-collector.js';
import { neutralBridge } from '../../src/config/config.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { startTestSimulator } from '../support/test-simulator.js';

/*
 * The collect thread as it is built, since a test runner cannot start one from TypeScript.
 */
let simulator: Simulator;
let collector: Collector;

beforeAll(async () => {
  simulator = await startTestSimulator();
  const built = new URL('../../dist/poll/thread-collector.js', import.meta.url).href;
  const { startThreadCollector } = (await import(built)) as { startThreadCollector: typeof startThread };
  collector = startThreadCollector(64);
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
    source: { target: 't', labels, maxSeries: 200, document: 'module_state', settings: neutralBridge },
  };
}

it('a job that breaks the thread fails as a fault of ours, and the thread is replaced', async () => {
  const good = job(`${simulator.url}/bridge/v1/module_state`);
  expect((await collector.collect(good)).result.ok).toBe(true);
  // The configuration lets no such address through; a fault would have to be ours.
  const { result } = await collector.collect(job('no address'));
  expect(result).toMatchObject({ ok: false, error: { reason: 'internal' } });
  expect((await collector.collect(good)).result.ok).toBe(true);
});

const THREADS = '/proc/self/task';

it.runIf(existsSync(THREADS))(
  'what answers scrapes goes before the collect thread and what V8 does beside it',
  async () => {
    await collector.collect(job(`${simulator.url}/bridge/v1/module_state`));
    const main = getPriority(process.pid);
    const giveWay = readdirSync(THREADS).filter((thread) => getPriority(Number(thread)) > main);
    // V8 has some of its own, and may be told how many.
    expect(giveWay.length).toBeGreaterThan(1);
  },
);
