import { configSchema, type Config } from '../config/config.js';
import { createClock, wallSeconds } from '../clock.js';
import { startExporter } from './exporter.js';
import { formatSentence } from '../engine/verdicts.js';
import { createNetwork } from '../sources/network.js';
import { HUB_CHAIN_ID } from '../simulator/cctx.js';
import { RPC_PATH } from '../simulator/json-rpc.js';
import { chainNames } from '../simulator/external-chains.js';
import type { Model } from '../simulator/model.js';
import { scenarios, type ScenarioName } from '../simulator/scenarios.js';
import { minBatchFee } from '../simulator/token-model.js';
import { durationInWords } from '../text/format.js';
import { type CommandContext, type ExitCode, printProblems, progressPrinter, userAgent } from './context.js';
import type { DemoFlags } from './flags.js';
import { readWebOptions } from './web-options.js';
import { createLog } from './log.js';
import { startSimulation } from './simulate.js';
import { createPastModel, type PolledPast, pollPast } from './simulated-polls.js';
import { startWebServer } from '../server/server.js';

/** `demo`: a simulator and an exporter that polls it, in one process, until it is stopped. */
export async function runDemo(options: DemoFlags, context: CommandContext): Promise<ExitCode> {
  const web = await readWebOptions(options);
  if (!web.ok) return printProblems(context, web.problems);
  const { log, droppedLines } = createLog(options, context);
  const clock = createClock();
  const network = createNetwork(userAgent(context), clock);
  try {
    // The past takes seconds to simulate, and nothing else is started on an address that is in use.
    const check = await startWebServer(() => undefined, web.options.listen, { log });
    await check.close();
    const { seed, scenario, blockTime: blockTimeMs } = options;
    const now = clock();
    const startTime = options.startTime ?? Math.floor(wallSeconds(now.at, now));
    const model = createPastModel({ seed, scenario, blockTimeMs, startTime });
    const simulator = await startSimulation(options, context, { model });
    try {
      const config = demoConfig(simulator.url, model);
      progressPrinter(context, options)('simulating and polling the past of the scenario …');
      const { demoState, ...past } = await pollPast(model, scenario, config, now);
      const exporter = await startExporter(config, network, log, {
        ...web.options,
        build: context.build,
        clock,
        shard: { index: 1, count: 1 },
        loadConfig: async () => ({ ok: true, config, warnings: [] }),
        demoState,
        droppedLogLines: droppedLines,
      });
      context.print(whatIsShown(scenario, past) + addresses(exporter.url, options));
      await context.waitForStopSignal();
      await exporter.close();
    } finally {
      await simulator.close();
    }
  } finally {
    network.close();
  }
  return 0;
}

/** The beginning of the status page. */
function whatIsShown(scenario: ScenarioName, { incidentMinutes, verdicts }: Omit<PolledPast, 'demoState'>): string {
  const lasting = durationInWords(incidentMinutes * 60);
  const lines = verdicts
    .filter(({ state, hiddenBy }) => state === 'firing' && hiddenBy === null)
    .map((verdict) => `  ${verdict.severity}: ${formatSentence(verdict)}`);
  return `
scenario ${scenario}, for ${lasting} already: ${scenarios[scenario].description}
${lines.length === 0 ? '  no problem' : lines.join('\n')}
`;
}

const addresses = (url: string, { scenario, 'web.telemetryPath': telemetryPath }: DemoFlags): string => `
exporter
  status page    ${url}/
  pending items  ${url}/pending
  metrics        ${url}${telemetryPath}

Ctrl+C stops both; --scenario=${scenario === 'stuck' ? 'unsigned-batch' : 'stuck'} shows ${scenario === 'healthy' ? 'an' : 'another'} incident, --help lists the others.

`;

/** A validator that is silent in the scenario `silent-signer`. */
const WATCHED = 'Validator Guild';

/** The poll interval is short, so that a user sees the numbers change. */
export function demoConfig(url: string, model: Pick<Model, 'bridge'>): Config {
  const watched = model.bridge.stakingValidators().filter(({ description }) => description.moniker === WATCHED);
  return configSchema.parse({
    poll: { interval: '5s', timeout: '5s', stale_after: '1m' },
    targets: [
      {
        name: 'demo',
        bridge: {
          url,
          external: { url: url + RPC_PATH, interval: '5s' },
          watch: watched.map(({ operator_address }) => operator_address),
        },
        crosschain: {
          url,
          window: '500',
          rate: String(10n ** 18n),
          hub_chain_ids: [HUB_CHAIN_ID],
          backlog_limit: '200',
        },
      },
    ],
    tokens: model.bridge.tokens.map((token) => ({
      contract: token.contract,
      symbol: token.symbol,
      decimals: String(token.decimals),
      min_batch_fee: String(minBatchFee(token)),
      backing: token.origin === 'external',
    })),
    chains: chainNames,
  });
}
