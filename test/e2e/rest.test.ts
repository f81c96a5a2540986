import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { MAIN } from '../support/processes.js';

let simulator: Simulator;
let daemon: ChildProcess;
const folder = mkdtempSync(join(tmpdir(), 'rest-'));
const collected: string[] = [];

const configure = (interval: string): void => {
  const targets = Array.from({ length: 20 }, (_, index) => ({ name: `t${index}`, bridge: { url: simulator.url } }));
  writeFileSync(join(folder, 'bridge.yaml'), JSON.stringify({ poll: { interval, stale_after: '2h' }, targets }));
};

beforeAll(async () => {
  const options = { host: '127.0.0.1', port: 0, seed: 1, scenario: 'stuck', blockTimeMs: 2000, tick: false } as const;
  simulator = await startSimulator(options);
  configure('100ms');
  const args = [`--config.file=${join(folder, 'bridge.yaml')}`, '--web.listen-address=127.0.0.1:0'];
  daemon = spawn(process.execPath, ['--trace-gc', MAIN, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  // Of each collection V8 tells in which of the two heaps it was, and why.
  if (daemon.stdout !== null) createInterface(daemon.stdout).on('line', (line) => collected.push(line));
});

afterAll(async () => {
  daemon.kill();
  await once(daemon, 'exit');
  await simulator.close();
  rmSync(folder, { recursive: true });
});

const heapsGivenBack = (): number =>
  new Set(collected.filter((line) => line.includes('low memory')).map((line) => line.split(' ')[0])).size;

it('gives back the memory of both threads when nothing is polled for a while, and not before', async () => {
  await sleep(6_000);
  expect(collected.length).toBeGreaterThan(0);
  expect(heapsGivenBack()).toBe(0);
  configure('1h');
  daemon.kill('SIGHUP');
  await expect.poll(heapsGivenBack, { timeout: 20_000 }).toBe(2);
});
