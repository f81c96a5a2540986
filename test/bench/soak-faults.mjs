/**
 * Polls 100,000 times (SOAK_POLLS) with faults and scrapes, and fails if memory, handles, threads or file descriptors grow.
 * It uses the built program and real sockets.
 */
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { createPollExecutor } from '../../dist/poll/fetch.js';
import { validateConfig } from '../../dist/config/loader.js';
import { startExporter } from '../../dist/exporter.js';
import { createLog } from '../../dist/cli/log.js';
import { startSimulator } from '../../dist/simulator/simulator.js';

const POLLS = Number(process.env['SOAK_POLLS'] ?? 100_000);
const TARGETS = 40;
const SIMULATORS = 8;
const SAMPLES = 10;

const KIB = 1024;
const MIB = KIB * KIB;

const faults = [
  { kind: 'status', code: 500 },
  { kind: 'status', code: 429, body: '{"code":8,"message":"larger than max"}' },
  { kind: 'reset' },
  { kind: 'truncate' },
  { kind: 'garbage' },
  { kind: 'not-json' },
  { kind: 'empty' },
  { kind: 'bad-encoding' },
  { kind: 'invalid-utf8' },
  { kind: 'stall' },
  { kind: 'hang' },
  { kind: 'gzip-bomb', bytes: 8 * MIB },
  { kind: 'oversize', bytes: 3 * MIB },
  { kind: 'height', value: '1' },
  { kind: 'drop', path: 'state' },
  undefined,
  undefined,
  undefined,
  undefined,
];

function createConfig(urls) {
  const targets = Array.from({ length: TARGETS }, (_, index) => {
    const url = urls[index % urls.length];
    return { name: `target-${index}`, bridge: { url }, crosschain: { url, window: '500' } };
  });
  const poll = { interval: '100ms', timeout: '300ms', stale_after: '10s', max_body_size: '2MiB' };
  const result = validateConfig({ poll, targets }, (path) => path.join('.'));
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.config;
}

async function countPolls({ url }) {
  const { body } = await request(`${url}/metrics`);
  const text = await body.text();
  return [...text.matchAll(/^bridge_exporter_polls_total\S* (\d+)$/gm)].reduce(
    (sum, [, polls]) => sum + Number(polls),
    0,
  );
}

/** Records the resource usage after a full garbage collection. */
function takeSample(polls) {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, rss, arrayBuffers } = process.memoryUsage();
  return {
    polls,
    heapMiB: heapUsed / MIB,
    buffersMiB: arrayBuffers / MIB,
    rssMiB: rss / MIB,
    handles: process.getActiveResourcesInfo().filter((name) => name !== 'Timeout').length,
    threads: readdirSync('/proc/self/task').length,
    descriptors: readdirSync('/proc/self/fd').length,
  };
}

const options = { host: '127.0.0.1', port: 0, scenario: 'healthy', blockTimeMs: 1000 };
const simulators = await Promise.all(
  Array.from({ length: SIMULATORS }, (_, seed) => startSimulator({ ...options, seed })),
);
const config = createConfig(simulators.map(({ url }) => url));
const loadConfig = async () => ({ ok: true, config, warnings: [] });
const executor = createPollExecutor('bridge-exporter/soak');
const log = createLog({ 'log.level': 'silent', 'log.format': 'json' });
const listen = { host: '127.0.0.1', port: 0 };
const exporter = await startExporter(config, executor, log, {
  listen,
  telemetryPath: '/metrics',
  maxRequests: 40,
  build: { version: 'soak', revision: 'unknown', nodeVersion: process.versions.node },
  shard: { index: 1, count: 1 },
  enableLifecycle: false,
  loadConfig,
});

const samples = [];
function addSample(polls) {
  const sample = takeSample(polls);
  samples.push(sample);
  console.log(
    JSON.stringify(sample, (_key, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value)),
  );
}

let round = 0;
for (let polls = 0; polls < POLLS; polls = await countPolls(exporter)) {
  round += 1;
  for (const [index, simulator] of simulators.entries()) {
    simulator.fault('module_state', faults[(round + index) % faults.length]);
    simulator.fault('rate_limiter_input', faults[(round * 3 + index) % faults.length]);
  }
  if (round % 20 === 0) await exporter.reload();
  if (polls >= (samples.length * POLLS) / SAMPLES) {
    for (const simulator of simulators) {
      simulator.fault('module_state', undefined);
      simulator.fault('rate_limiter_input', undefined);
    }
    await sleep(1500);
    addSample(polls);
  }
  await sleep(200);
}
await sleep(1500);
addSample(await countPolls(exporter));
await exporter.close();
executor.close();
await Promise.all(simulators.map((simulator) => simulator.close()));

/** Caches and compiled code grow in the first tenth. Growth after that is a leak. */
const [, early] = samples;
const late = samples.at(-1);
const maxGrowth = { heapMiB: 8, buffersMiB: 8, rssMiB: 60, handles: 20, threads: 0, descriptors: 20 };
const leaks = Object.entries(maxGrowth).filter(([name, max]) => late[name] - early[name] > max);
for (const [name, max] of leaks)
  console.error(`${name} grew from ${early[name]} to ${late[name]}, by more than ${max}`);
process.exitCode = leaks.length === 0 ? 0 : 1;
