import type { Logger } from 'pino';
import type { SimulatorSettings } from '../cli/flags.js';
import type { Config, ConfigResult } from '../config/config.js';
import { validateConfig } from '../config/parser.js';
import { startExporter, type Exporter, type ExporterOptions } from '../exporter.js';
import type { PollExecutor } from '../poll/poll.js';
import { HUB_CHAIN_ID } from './cctx.js';
import { chainNames } from './external-chains.js';
import type { Model } from './model.js';
import { simulate, type PrintLine } from './simulate.js';
import type { Simulator } from './simulator.js';

export interface Demo {
  readonly simulator: Simulator;
  readonly exporter: Exporter;
  readonly close: () => Promise<void>;
}

/** The command `demo`: starts a simulator and an exporter that polls it, in one process, and prints their addresses. */
export async function startDemo(
  settings: SimulatorSettings,
  executor: PollExecutor,
  log: Logger,
  options: Omit<ExporterOptions, 'loadConfig'>,
  print: PrintLine,
  progress: PrintLine,
): Promise<Demo> {
  const simulator = await simulate(settings, print, progress);
  let exporter: Exporter;
  try {
    const config = demoConfig(simulator.url, simulator.model);
    const loadConfig = async (): Promise<ConfigResult> => ({ ok: true, config, warnings: [] });
    exporter = await startExporter(config, executor, log, { ...options, loadConfig });
  } catch (error) {
    await simulator.close();
    throw error;
  }
  const pages = [
    ['status page', '/'],
    ['pending items', '/pending'],
    ['metrics', options.telemetryPath],
  ] as const;
  const width = Math.max(...pages.map(([title]) => title.length)) + 2;
  print('\nexporter');
  for (const [title, path] of pages) print(`  ${title.padEnd(width)}${exporter.url}${path}`);
  print('\nCtrl+C stops both; --scenario=stuck shows an incident, --help lists the others.\n');
  return {
    simulator,
    exporter,
    close: async () => {
      await exporter.close();
      await simulator.close();
    },
  };
}

/** One of the validators that are silent in the scenario `silent-signer`, so that the demo has one to watch. */
const WATCHED = 'Validator Guild';

/** The poll interval is short, so that a user sees the numbers change. */
export function demoConfig(url: string, model: Pick<Model, 'tokens' | 'stakingValidators'>): Config {
  const watched = model.stakingValidators().filter(({ description }) => description.moniker === WATCHED);
  const file = {
    poll: { interval: '5s', timeout: '5s', stale_after: '1m' },
    targets: [
      {
        name: 'demo',
        bridge: { url, watch: watched.map(({ operator_address }) => operator_address) },
        crosschain: { url, window: '500', rate: String(10n ** 18n), hub_chain_ids: [HUB_CHAIN_ID] },
      },
    ],
    tokens: model.tokens.map(({ contract, symbol, decimals }) => ({ contract, symbol, decimals: String(decimals) })),
    chains: chainNames,
  };
  const result = validateConfig(file, (path) => path.join('.'));
  if (!result.ok) throw new Error(`the configuration of the demo is invalid: ${result.problems.join('; ')}`);
  return result.config;
}
