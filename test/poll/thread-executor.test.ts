import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultBridgeSettings } from '../../src/config/schema.js';
import type { PollExecutor, PollJob } from '../../src/poll/poll.js';
import type { startThreadExecutor as startThread } from '../../src/poll/thread-executor.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { startTestSimulator } from '../support/test-simulator.js';

/* Tests the compiled worker thread, because vitest cannot start one from TypeScript. */
let simulator: Simulator;
let executor: PollExecutor;

beforeAll(async () => {
  simulator = await startTestSimulator();
  const built = new URL('../../dist/poll/thread-executor.js', import.meta.url).href;
  const { startThreadExecutor } = (await import(built)) as { startThreadExecutor: typeof startThread };
  executor = startThreadExecutor(64, 'bridge-exporter/0.0.0');
});

afterAll(async () => {
  await executor.close();
  await simulator.close();
});

function job(baseUrl: string): PollJob {
  const labels = { tokens: [], chains: {}, validators: { configured: [], staking: new Map() } };
  return {
    baseUrl,
    paths: [{ dialect: 'neutral', path: '/bridge/v1/module_state' }],
    query: '',
    limits: { timeoutMs: 5000, maxBodyBytes: 1024 * 1024 },
    processing: { target: 't', labels, maxSeries: 200, document: 'module_state', settings: defaultBridgeSettings },
  };
}

it('the thread executor reports a crash of the worker thread as an internal failure and replaces the thread', async () => {
  const good = job(simulator.url);
  expect((await executor.poll(good)).outcome.ok).toBe(true);
  // The configuration rejects this URL.
  const { outcome: result } = await executor.poll(job('no address'));
  expect(result).toMatchObject({ ok: false, error: { reason: 'internal' } });
  expect((await executor.poll(good)).outcome.ok).toBe(true);
});
