import { configSchema, type Config } from '../config/config.js';
import { createClock, wallSeconds } from '../clock.js';
import { startExporter } from './exporter.js';
import { firingVerdicts } from '../engine/verdicts.js';
import { createNetwork } from '../sources/network.js';
import { HUB_CHAIN_ID } from '../simulator/cctx.js';
import { RPC_PATH } from '../simulator/json-rpc.js';
import { chainNames } from '../simulator/external-chains.js';
import type { Model } from '../simulator/model.js';
import { scenarios, type ScenarioName } from '../simulator/scenarios.js';
import { minBatchFee } from '../simulator/token-model.js';
import { durationInWords } from '../text/format.js';
import { type CommandContext, type ExitCode, userAgent } from './context.js';
import type { DemoFlags } from './flags.js';
import { createLog } from './log.js';
import { startSimulation } from './simulate.js';
import { type PolledPast, pollPast } from './simulated-polls.js';
import { problemLine } from './summary.js';
import { startWebServer } from '../server/server.js';

/** `demo`: a simulator and an exporter that polls it, in one process, until it is stopped. */
export async function runDemo(options: DemoFlags, context: CommandContext): Promise<ExitCode> {
  const { log, droppedLines } = createLog(options, context);
  const clock = createClock();
  const network = createNetwork(userAgent(context), clock);
  const listen = options['web.listenAddress'];
  try {
    // Fails at once if the address is in use, before the past is simulated, which takes seconds.
    const check = await startWebServer(() => undefined, listen, { log });
    await check.close();
    const { seed, scenario, blockTime: blockTimeMs } = options;
    const now = clock();
    const startTime = Math.floor(wallSeconds(now.at, now));
    context.printError('simulating and polling the past of the scenario …');
    // Polls of the past read the simulated chain directly, without an address.
    const past = await pollPast({ seed, scenario, blockTimeMs, startTime }, (model) => demoConfig(NO_URL, model), now);
    const simulator = await startSimulation({ ...options, startTime }, context, { model: past.model });
    try {
      const config = demoConfig(simulator.url, past.model);
      const exporter = await startExporter(config, network, log, {
        listen,
        telemetryPath: '/metrics',
        maxRequests: 40,
        enableLifecycle: false,
        build: context.build,
        clock,
        shard: { index: 1, count: 1 },
        loadConfig: async () => ({ ok: true, config, warnings: [] }),
        demoState: past.demoState,
        droppedLogLines: droppedLines,
      });
      context.print(whatIsShown(scenario, past) + addresses(exporter.url, scenario));
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

const NO_URL = 'http://127.0.0.1:1';

/** The beginning of the status page. */
function whatIsShown(scenario: ScenarioName, { incidentMinutes, verdicts }: PolledPast): string {
  const lasting = durationInWords(incidentMinutes * 60);
  const lines = firingVerdicts({ verdicts }).map((verdict) => `  ${problemLine(verdict)}`);
  return `
scenario ${scenario}, for ${lasting} already: ${scenarios[scenario].description}
${lines.length === 0 ? '  no problem' : lines.join('\n')}
`;
}

const addresses = (url: string, scenario: ScenarioName): string => `
exporter
  status page    ${url}/
  pending items  ${url}/pending
  metrics        ${url}/metrics

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
