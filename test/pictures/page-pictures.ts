import { pino } from 'pino';
import { clock } from '../support/clock.js';
import { demoConfig } from '../../src/commands/demo.js';
import { pollPast } from '../../src/commands/simulated-polls.js';
import { startExporter } from '../../src/commands/exporter.js';
import { createNetwork } from '../../src/sources/network.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { startSimulator } from '../../src/simulator/simulator.js';

const BLOCK_MS = 2000;
const SEED = 1;

/** What `demo --scenario` shows, for the pictures of its pages. */
export async function startPages(
  scenario: ScenarioName,
  version: string,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const now = clock();
  const chain = { seed: SEED, scenario, blockTimeMs: BLOCK_MS, startTime: Math.floor(now.at) };
  const { model, demoState } = await pollPast(chain, (past) => demoConfig('http://127.0.0.1:1', past), now);
  const simulator = await startSimulator({ ...chain, host: '127.0.0.1', port: 0, model });
  const config = demoConfig(simulator.url, model);
  const network = createNetwork('bridge-exporter/pictures', clock);
  const exporter = await startExporter(config, network, pino({ level: 'silent' }), {
    listen: { host: '127.0.0.1', port: 0 },
    telemetryPath: '/metrics',
    maxRequests: 40,
    clock,
    build: { version, revision: 'unknown', nodeVersion: process.versions.node },
    shard: { index: 1, count: 1 },
    enableLifecycle: false,
    loadConfig: async () => ({ ok: true, config, warnings: [] }),
    demoState,
  });
  return {
    url: exporter.url,
    close: async () => {
      await exporter.close();
      network.close();
      await simulator.close();
    },
  };
}
