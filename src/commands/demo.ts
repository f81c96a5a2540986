import { configSchema, type Config } from '../config/config.js';
import { createClock, wallSeconds, type Moment } from '../clock.js';
import { startExporter } from './exporter.js';
import { createEndpoint, createEngine } from '../engine/engine.js';
import { createJobs, type PollJob } from '../engine/jobs.js';
import { firingProblems, judgeTargets, type TargetProblem } from '../engine/target-problems.js';
import type { Severity } from '../problems/problem.js';
import type { ProblemName } from '../problems/problems.js';
import { createNetwork } from '../sources/network.js';
import { createSimulatedNode } from '../sources/simulated-node.js';
import { HUB_CHAIN_ID } from '../simulator/cctx.js';
import { RPC_PATH } from '../simulator/json-rpc.js';
import { chainNames } from '../simulator/external-chains.js';
import { createModel, type Model, type ModelOptions } from '../simulator/model.js';
import { scenarios, type ScenarioName } from '../simulator/scenarios.js';
import { startSimulator } from '../simulator/simulator.js';
import { minBatchFee } from '../simulator/token-model.js';
import { durationInWords } from '../text/format.js';
import { MINUTE_MS, MINUTE_SECONDS } from '../units.js';
import { type CommandContext, type ExitCode, userAgent } from './context.js';
import type { DemoFlags } from './flags.js';
import { createLog } from './log.js';
import { LOOPBACK, printChain } from './simulate.js';
import { problemLine } from './once.js';

/** `demo`: a simulator and an exporter that polls it, in one process, until it is stopped. */
export async function runDemo(options: DemoFlags, context: CommandContext): Promise<ExitCode> {
  const waitForStopSignal = context.handleStopSignals();
  const log = createLog(options, context.standardError);
  const clock = createClock();
  const network = createNetwork(userAgent(context), clock);
  try {
    const { listen, seed, scenario } = options;
    const now = clock();
    const startTime = Math.floor(wallSeconds(now.at, now));
    context.printError('simulating and polling the past of the scenario …');
    // Polls of the past read the simulated chain directly, without an address.
    const past = await pollPast({ seed, scenario, startTime }, (model) => demoConfig(NO_URL, model), now);
    const { host = LOOPBACK, port } = listen;
    const simulator = await startSimulator({ host, port, seed, scenario, model: past.model });
    try {
      printChain(simulator, options, context);
      const config = demoConfig(simulator.url, past.model);
      const exporter = await startExporter(config, network, log, {
        listen: options['web.listenAddress'],
        telemetryPath: '/metrics',
        maxRequests: 40,
        enableLifecycle: false,
        build: context.build,
        clock,
        shard: { index: 1, count: 1 },
        loadConfig: async () => ({ ok: true, config, warnings: [] }),
        demoState: past.demoState,
      });
      context.print(whatIsShown(scenario, past) + addresses(exporter.url, scenario));
      await waitForStopSignal();
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
function whatIsShown(scenario: ScenarioName, { incidentMinutes, problems }: PolledPast): string {
  const lasting = durationInWords(incidentMinutes * 60);
  const lines = firingProblems({ problems }).map((problem) => `  ${problemLine(problem)}`);
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

/* The past: polls of the simulated chain in virtual time, because the problem of a scenario takes hours to develop. */

/** The problems that scenarios rehearse. Others have none. */
const rehearsed: Partial<Readonly<Record<ScenarioName, `${Severity} ${ProblemName}`>>> = {
  backlog: 'warning BridgeBacklogHigh',
  stuck: 'critical CrosschainBacklogStuck',
  'unsigned-batch': 'critical BridgeBatchUnsigned',
  'silent-signer': 'warning BridgeWatchedOrchestratorLagging',
  'missed-blocks': 'critical BridgeWatchedValidatorSignsNoBlocks',
  'stalled-oracle': 'critical BridgeOracleStalled',
  'conflicting-claims': 'critical BridgeConflictingClaims',
  'batch-timeout': 'critical BridgeBatchOverdue',
  'no-relayer': 'warning BridgeBatchNotRelayed',
  'valset-drift': 'warning BridgeValsetUnsigned',
  'missed-cctxs': 'critical CrosschainFreezeNear',
  'unlisted-cctxs': 'warning CrosschainCctxsUnlisted',
  'stuck-chain': 'critical CrosschainBacklogStuck',
  truncated: 'warning CrosschainPendingListTruncated',
  'outbound-disabled': 'warning CrosschainOutboundDisabled',
  syncing: 'warning BridgeNodeBehind',
};

/** The chain is healthy at first. */
const HEALTHY_MINUTES = 12;
/** The past of a scenario without a problem. */
const PAST_MINUTES = 32;
const MAX_MINUTES = 5 * 60;

/** Polls are further apart than usual, so that the past takes seconds. */
const INTERVAL_MINUTES = 4;

/** The result of the polls of the past. */
export type PolledPast = Awaited<ReturnType<typeof pollFor>>;

/**
 * Simulates a scenario until its problem fires, and polls it. The times of a chain are absolute, so a first run finds
 * how long that takes, and a second run begins that much earlier, to end now.
 */
export async function pollPast(
  options: ModelOptions,
  createConfig: (model: Model) => Config,
  now: Moment,
): Promise<PolledPast> {
  const alert = rehearsed[options.scenario];
  const { minutes } =
    alert === undefined ? { minutes: PAST_MINUTES } : await pollFor(MAX_MINUTES, options, createConfig, now, alert);
  return pollFor(minutes, options, createConfig, now);
}

/** Polls a past of some minutes that ends now; stops earlier when the alert `until` fires. */
async function pollFor(
  pastMinutes: number,
  { scenario, startTime, ...options }: ModelOptions,
  createConfig: (model: Model) => Config,
  now: Moment,
  until?: string,
) {
  const model = createModel({
    ...options,
    scenario: scenario === 'mainnet' ? scenario : 'healthy',
    startTime: startTime - pastMinutes * MINUTE_SECONDS,
  });
  let minutes = 0;
  const clock = (): Moment => ({ ...now, at: now.at - (pastMinutes - minutes) * MINUTE_SECONDS });
  const engine = createEngine({ source: createSimulatedNode(model, clock), now: clock });
  // The pauses between the polls must not count as outages.
  const staleAfterMs = INTERVAL_MINUTES * MINUTE_MS;
  const jobs = createJobs(createConfig(model)).map((job) => ({ ...job, context: { ...job.context, staleAfterMs } }));
  engine.replace(jobs.map((job) => createEndpoint(job, clock().at)));
  const problems = (): readonly TargetProblem[] =>
    judgeTargets(engine.states(), clock()).flatMap((judged) => judged.problems);
  for (;;) {
    if (minutes === HEALTHY_MINUTES) model.setScenario(scenario);
    if (minutes % INTERVAL_MINUTES === 0 || minutes === pastMinutes) {
      // The module state, which has the address of the contract, is polled before the contract.
      for (const { job } of engine.endpoints()) {
        // oxlint-disable-next-line no-await-in-loop -- polls follow each other, and let a signal stop them
        const { settled } = await engine.poll(job);
        // oxlint-disable-next-line no-await-in-loop -- as above
        await settled;
      }
    }
    if (
      minutes === pastMinutes ||
      problems().some((each) => each.state === 'firing' && `${each.severity} ${each.alert}` === until)
    )
      break;
    model.advanceTime(MINUTE_MS);
    minutes += 1;
  }
  engine.close();
  return {
    /** The chain as it is at the end. */
    model,
    minutes,
    /** How long the scenario has lasted. */
    incidentMinutes: minutes - HEALTHY_MINUTES,
    demoState: ({ context: { document } }: PollJob) => engine.states().find((state) => state.document === document),
    problems: problems(),
  };
}
