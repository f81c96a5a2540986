import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator.js';
import { MAIN, startProcess, type RunningProcess } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitUntil } from '../support/wait-for.js';

const folder = createTempFolder();
let simulator: Simulator;
let daemon: RunningProcess;

function writeConfig(interval: string): string {
  const targets = Array.from({ length: 20 }, (_, index) => ({ name: `t${index}`, bridge: { url: simulator.url } }));
  return folder.write('bridge.yaml', JSON.stringify({ poll: { interval, stale_after: '2h' }, targets }));
}

beforeAll(async () => {
  simulator = await startTestSimulator({ scenario: 'stuck' });
  const flags = [`--config.file=${writeConfig('100ms')}`, '--web.listen-address=127.0.0.1:0', '--log.level=error'];
  daemon = startProcess(process.execPath, ['--trace-gc', MAIN, ...flags]);
});

afterAll(async () => {
  await daemon.stop();
  await simulator.close();
});

/** V8 prints a line per garbage collection, with the isolate and the cause. */
const isolatesWithIdleCollection = (): number =>
  new Set(daemon.stdout.filter((line) => line.includes('low memory')).map((line) => line.split(' ')[0])).size;

describe('the daemon', () => {
  it('collects garbage on both threads once no poll runs for a while, and not before', async () => {
    // The absence of an event can only be observed over a span of time.
    await sleep(6_000);
    expect(daemon.stdout.length).toBeGreaterThan(0);
    expect(isolatesWithIdleCollection()).toBe(0);
    writeConfig('1h');
    daemon.child.kill('SIGHUP');
    await waitUntil(() => isolatesWithIdleCollection() === 2, { timeoutMs: 20_000 });
  });
});
