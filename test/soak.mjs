/**
 * Polls 100,000 times (SOAK_POLLS) with faults mixed in while scrapers read, and fails unless memory, handles, threads and
 * sockets are flat at the end: `npm run soak`. It uses the built program, the collect thread and real sockets.
 */
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { startThreadCollector } from '../dist/poll/thread-collector.js';
import { validateConfig } from '../dist/config/parser.js';
import { startExporter } from '../dist/exporter.js';
import { createLog } from '../dist/cli/log.js';
import { startSimulator } from '../dist/simulator/simulator.js';

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

function configOf(urls) {
  const targets = Array.from({ length: TARGETS }, (_, index) => {
    const url = urls[index % urls.length];
    return { name: `target-${index}`, bridge: { url }, crosschain: { url, window: '500' } };
  });
  const poll = { interval: '100ms', timeout: '300ms', stale_after: '10s', max_body_size: '2MiB' };
  const read = validateConfig({ poll, targets }, (path) => path.join('.'));
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.config;
}

async function polledTimes({ url }) {
  const { body } = await request(`${url}/metrics`);
  const text = await body.text();
  return [...text.matchAll(/^bridge_exporter_polls_total\S* (\d+)$/gm)].reduce(
    (sum, [, polls]) => sum + Number(polls),
    0,
  );
}

function sample(polls) {
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
const config = configOf(simulators.map(({ url }) => url));
const loadConfig = async () => ({ ok: true, config, warnings: [] });
const collector = startThreadCollector(128, 'bridge-exporter/soak');
const log = createLog({ level: 'silent', format: 'json' });
const listen = { host: '127.0.0.1', port: 0 };
const exporter = await startExporter(config, collector, log, {
  listen,
  telemetryPath: '/metrics',
  maxRequests: 40,
  build: { version: 'soak', nodeVersion: process.versions.node },
  enableLifecycle: false,
  loadConfig,
});

const samples = [];
let round = 0;
for (let polls = 0; polls < POLLS; polls = await polledTimes(exporter)) {
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
    samples.push(sample(polls));
    console.log(
      JSON.stringify(samples.at(-1), (_key, value) =>
        typeof value === 'number' ? Math.round(value * 10) / 10 : value,
      ),
    );
  }
  await sleep(200);
}
await sleep(1500);
samples.push(sample(await polledTimes(exporter)));
console.log(
  JSON.stringify(samples.at(-1), (_key, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value)),
);
await exporter.close();
await collector.close();
await Promise.all(simulators.map((simulator) => simulator.close()));

/** The first tenth is for caches and the compiler; from then on what grows is a leak. */
const [, early] = samples;
const late = samples.at(-1);
const allowed = { heapMiB: 8, buffersMiB: 8, rssMiB: 60, handles: 20, threads: 0, descriptors: 20 };
const grown = Object.entries(allowed).filter(([name, most]) => late[name] - early[name] > most);
for (const [name, most] of grown) console.error(`${name} grew from ${early[name]} to ${late[name]}, more than ${most}`);
process.exitCode = grown.length === 0 ? 0 : 1;
