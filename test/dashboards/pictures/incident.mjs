import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { createLog } from '../../../dist/cli/log.js';
import { validateConfig } from '../../../dist/config/loader.js';
import { startExporter } from '../../../dist/exporter.js';
import { createPollExecutor } from '../../../dist/poll/poll.js';
import { chainNames } from '../../../dist/simulator/mainnet-chains.js';
import { startSimulator } from '../../../dist/simulator/simulator.js';

/*
 * An incident on two simulated chains, which a Prometheus with the alert rules scrapes.
 */

const SCRAPE_INTERVAL_MS = 5000;
const ROOT = new URL('../../../', import.meta.url);
const { version: VERSION } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));

/** The second is silent in the scenario silent-signer. */
const WATCHED = new Set(['Northwind Staking', 'Validator Guild']);
const UNAVAILABLE = { kind: 'status', code: 503, body: '{"code":14}' };

/** What happens, by the share of the time after which it starts. The bridge and the cross-chain module of a chain are separate nodes. */
const EVENTS = [
  { from: 0.15, start: ({ bridge }) => bridge.setScenario('silent-signer') },
  { from: 0.25, start: ({ crosschain }) => crosschain.setScenario('missed-cctxs') },
  { from: 0.35, start: ({ testnet }) => testnet.fault('module_state', UNAVAILABLE) },
  { from: 0.4, start: ({ bridge }) => bridge.setScenario('unsigned-batch') },
  { from: 0.5, start: ({ testnet }) => testnet.fault('module_state', undefined) },
  { from: 0.6, start: ({ crosschain }) => crosschain.setScenario('stuck-chain') },
];

/** Starts the chains, an exporter and Prometheus. `finished` resolves when the incident has lasted for these minutes. */
export async function startIncident(minutes) {
  const simulator = (seed) =>
    startSimulator({ host: '127.0.0.1', port: 0, seed, scenario: 'healthy', blockTimeMs: 1000 });
  const [bridge, crosschain, testnet] = await Promise.all([simulator(1), simulator(2), simulator(3)]);
  const executor = createPollExecutor('bridge-exporter/pictures');
  const exporter = await startExporterOf({ bridge, crosschain, testnet }, executor);
  const prometheus = await startPrometheus(new URL(exporter.url).host);
  const startedAt = Date.now();
  const run = async () => {
    for (const { from, start } of EVENTS) {
      await sleep(startedAt + from * minutes * 60_000 - Date.now());
      start({ bridge, crosschain, testnet });
    }
    await sleep(startedAt + minutes * 60_000 - Date.now());
  };
  return {
    url: prometheus.url,
    startedAt,
    scrapeInterval: SCRAPE_INTERVAL_MS,
    finished: run(),
    close: async () => {
      await prometheus.close();
      await exporter.close();
      executor.close();
      await Promise.all([bridge, crosschain, testnet].map((one) => one.close()));
    },
  };
}

async function startExporterOf({ bridge, crosschain, testnet }, executor) {
  const limit = { window: '500', rate: String(10n ** 18n), hub_chain_ids: ['7000'] };
  const watch = bridge.model
    .stakingValidators()
    .filter(({ description }) => WATCHED.has(description.moniker))
    .map((validator) => validator.operator_address);
  const config = {
    poll: { interval: '5s', timeout: '3s', stale_after: '5m' },
    targets: [
      {
        name: 'mainnet',
        bridge: { url: bridge.url, watch },
        crosschain: { url: crosschain.url, ...limit },
      },
      { name: 'testnet', bridge: { url: testnet.url }, crosschain: { url: testnet.url, ...limit } },
    ],
    tokens: bridge.model.tokens.map(({ contract, symbol, decimals }) => ({
      contract,
      symbol,
      decimals: String(decimals),
    })),
    chains: chainNames,
  };
  const result = validateConfig(config, (path) => path.join('.'));
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join('\n'));
  return startExporter(result.config, executor, createLog({ 'log.level': 'silent', 'log.format': 'json' }), {
    listen: { host: '127.0.0.1', port: 0 },
    telemetryPath: '/metrics',
    maxRequests: 40,
    build: { version: VERSION, nodeVersion: process.versions.node },
    shard: { index: 1, count: 1 },
    enableLifecycle: false,
    loadConfig: async () => result,
  });
}

async function startPrometheus(scraped) {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-exporter-pictures-'));
  const config = {
    global: { scrape_interval: `${SCRAPE_INTERVAL_MS}ms`, scrape_timeout: '4s', evaluation_interval: '10s' },
    rule_files: [fileURLToPath(new URL('prometheus/alerts.yml', ROOT))],
    scrape_configs: [
      {
        job_name: 'bridge-exporter',
        // The address changes with every run.
        static_configs: [{ targets: [scraped], labels: { instance: 'exporter-0:10917' } }],
      },
    ],
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { stdio: 'inherit' },
  );
  const url = `http://${address}`;
  while (!(await isReady(url))) {
    if (child.exitCode !== null) throw new Error(`prometheus exited with ${child.exitCode}`);
    await sleep(100);
  }
  return {
    url,
    close: async () => {
      if (child.exitCode === null) {
        child.kill();
        await once(child, 'exit');
      }
      rmSync(folder, { recursive: true });
    },
  };
}

async function isReady(url) {
  const status = await request(`${url}/-/ready`).then(
    async ({ statusCode, body }) => {
      await body.dump();
      return statusCode;
    },
    // Not listening yet.
    () => 0,
  );
  return status === 200;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
