import type { Logger } from 'pino';
import type { Collector } from '../poll/collector.js';
import type { Config, ConfigResult } from '../config/config.js';
import { validateConfig } from '../config/parser.js';
import type { SimulatorSettings } from '../cli/flags.js';
import { startExporter, type Exporter, type ExporterOptions } from '../exporter.js';
import { HUB_CHAIN_ID } from './cctx-document.js';
import { chainNames } from './external-chains.js';
import { simulate, type Say } from './start.js';
import type { Simulator } from './simulator.js';
import type { Token } from './tokens.js';

export interface Demo {
  readonly simulator: Simulator;
  readonly exporter: Exporter;
  readonly close: () => Promise<void>;
}

/** A simulated chain and the exporter that watches it, in one process. */
export async function startDemo(
  settings: SimulatorSettings,
  collector: Collector,
  log: Logger,
  options: Omit<ExporterOptions, 'loadConfig'>,
  say: Say,
  progress: Say,
): Promise<Demo> {
  const simulator = await simulate(settings, say, progress);
  let exporter: Exporter;
  try {
    const config = demoConfig({ url: simulator.url, tokens: simulator.model.tokens });
    const loadConfig = async (): Promise<ConfigResult> => ({ ok: true, config, warnings: [] });
    exporter = await startExporter(config, collector, log, { ...options, loadConfig });
  } catch (error) {
    await simulator.close();
    throw error;
  }
  const places = [
    ['status page, to begin with', '/'],
    ['what waits, item by item', '/pending'],
    ['for Prometheus', options.telemetryPath],
  ] as const;
  const width = Math.max(...places.map(([what]) => what.length)) + 2;
  say('\nexporter that watches it');
  for (const [what, path] of places) say(`  ${what.padEnd(width)}${exporter.url}${path}`);
  say('\nCtrl+C stops both; --scenario=stuck shows an incident, --help lists the others.\n');
  return {
    simulator,
    exporter,
    close: async () => {
      await exporter.close();
      await simulator.close();
    },
  };
}

/** Polls often enough for a person to see the numbers move. */
export function demoConfig({ url, tokens }: { readonly url: string; readonly tokens: readonly Token[] }): Config {
  const written = {
    poll: { interval: '5s', timeout: '5s', stale_after: '1m' },
    targets: [
      {
        name: 'demo',
        bridge: { url },
        crosschain: { url, window: '500', rate: String(10n ** 18n), hub_chain_ids: [HUB_CHAIN_ID] },
      },
    ],
    tokens: tokens.map(({ contract, symbol, decimals }) => ({ contract, symbol, decimals: String(decimals) })),
    chains: chainNames,
  };
  const read = validateConfig(written, (path) => path.join('.'));
  if (!read.ok) throw new Error(`the demo's configuration is wrong: ${read.problems.join('; ')}`);
  return read.config;
}
