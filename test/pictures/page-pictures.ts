import { pino } from 'pino';
import type { Config } from '../../src/config/config.js';
import { clock } from '../support/clock.js';
import { demoConfig } from '../../src/commands/demo.js';
import { createPastModel, pollPast } from '../../src/commands/simulated-polls.js';
import { startExporter } from '../../src/commands/exporter.js';
import { createNetwork } from '../../src/sources/network.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { startSimulator } from '../../src/simulator/simulator.js';

/*
 * An exporter of three simulated chains with their pasts, for the pictures of its pages.
 */

const SCENARIOS: readonly (readonly [target: string, scenario: ScenarioName])[] = [
  ['mainnet', 'unsigned-batch'],
  ['testnet', 'healthy'],
  ['staging', 'missed-cctxs'],
];
const BLOCK_MS = 2000;
/** One for all, so that they have the same tokens. */
const SEED = 1;

export async function startPages(
  version: string,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const now = clock();
  const startTime = Math.floor(now.at);
  const chains = await Promise.all(
    SCENARIOS.map(async ([target, scenario]) => {
      const model = createPastModel({ seed: SEED, scenario, blockTimeMs: BLOCK_MS, startTime });
      const simulator = await startSimulator({
        host: '127.0.0.1',
        port: 0,
        seed: SEED,
        scenario,
        blockTimeMs: BLOCK_MS,
        startTime,
        model,
      });
      const config = withTargetName(demoConfig(simulator.url, model), target);
      return { simulator, config, past: await pollPast(model, scenario, config, now) };
    }),
  );
  const [first] = chains;
  if (first === undefined) throw new Error('no chain');
  const config = { ...first.config, targets: chains.flatMap((chain) => chain.config.targets) };
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
    demoState: (job) => chains[SCENARIOS.findIndex(([target]) => target === job.context.target)]?.past.demoState(job),
  });
  return {
    url: exporter.url,
    close: async () => {
      await exporter.close();
      network.close();
      await Promise.all(chains.map(async ({ simulator }) => simulator.close()));
    },
  };
}

function withTargetName(config: Config, name: string): Config {
  return { ...config, targets: config.targets.map((target) => ({ ...target, name })) };
}
