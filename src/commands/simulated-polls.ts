import type { Moment } from '../clock.js';
import type { Config } from '../config/config.js';
import { createEndpoint, createEngine } from '../engine/engine.js';
import { createJobs, type PollJob } from '../engine/jobs.js';
import { listVerdicts, type Verdict } from '../engine/verdicts.js';
import type { Severity } from '../problems/problem.js';
import type { ProblemName } from '../problems/problems.js';
import { chooseBlockTime, createModel, type Model, type ModelOptions } from '../simulator/model.js';
import type { ScenarioName } from '../simulator/scenarios.js';
import { createSimulatedNode } from '../sources/simulated-node.js';
import { HOUR_MS, MINUTE_MS, MINUTE_SECONDS } from '../units.js';

/* Polls of a simulated chain in virtual time: the past of a demo, because the verdict about a scenario takes hours. */

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
const MAX_MS = 5 * HOUR_MS;
/** Limits the past by blocks: a short block time shortens the past instead of prolonging its simulation. */
const MAX_BLOCKS = 10_000;

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
  const maxMinutes = longestPast(options);
  const alert = rehearsed[options.scenario];
  const minutes =
    alert === undefined ? PAST_MINUTES : (await pollFor(maxMinutes, options, createConfig, now, alert)).minutes;
  return pollFor(Math.min(minutes, maxMinutes), options, createConfig, now);
}

function longestPast(options: ModelOptions): number {
  return Math.floor(Math.min(MAX_MS, MAX_BLOCKS * chooseBlockTime(options)) / MINUTE_MS);
}

/** Polls a past of some minutes that ends now; stops earlier when the alert `until` fires. */
async function pollFor(
  pastMinutes: number,
  { scenario, startTime, ...options }: ModelOptions,
  createConfig: (model: Model) => Config,
  now: Moment,
  until?: string,
) {
  const healthyMinutes = Math.min(HEALTHY_MINUTES, Math.floor(longestPast({ scenario, startTime, ...options }) / 4));
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
  const verdicts = (): readonly Verdict[] =>
    listVerdicts(engine.states(), clock()).flatMap((judged) => judged.verdicts);
  for (;;) {
    if (minutes === healthyMinutes) model.setScenario(scenario);
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
      verdicts().some((each) => each.state === 'firing' && `${each.severity} ${each.alert}` === until)
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
    incidentMinutes: minutes - healthyMinutes,
    demoState: ({ context: { document } }: PollJob) => engine.states().find((state) => state.document === document),
    verdicts: verdicts(),
  };
}
