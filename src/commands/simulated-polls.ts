import type { Moment } from '../clock.js';
import type { Config } from '../config/config.js';
import { createEndpoint, createEngine } from '../engine/engine.js';
import type { EndpointState } from '../engine/endpoint-state.js';
import { createJobs, type PollJob } from '../engine/jobs.js';
import { listVerdicts, type Verdict } from '../engine/verdicts.js';
import { chooseBlockTime, createModel, type Model, type ModelOptions } from '../simulator/model.js';
import type { ScenarioName } from '../simulator/scenarios.js';
import { createSimulatedNode } from '../sources/simulated-node.js';
import { MINUTE_MS, MINUTE_SECONDS } from '../units.js';

/* Polls of a simulated chain in virtual time: the past of a demo, because the verdict about a scenario takes hours. */

/** The chain is healthy at first. */
const HEALTHY_MINUTES = 10;

const INCIDENT_MINUTES = 20;

/** Duration of a scenario until its verdict. */
const longIncidents: Partial<Readonly<Record<ScenarioName, number>>> = {
  backlog: 45,
  stuck: 65,
  'unsigned-batch': 45,
  'silent-signer': 75,
  'stalled-oracle': 30,
  'batch-timeout': 50,
  'no-relayer': 250,
  'valset-drift': 75,
  'missed-cctxs': 130,
  'unlisted-cctxs': 200,
  'stuck-chain': 55,
  'rate-limited': 45,
};

/** A longer past is polled less often, so that it takes seconds. Data of five minutes ago are withdrawn. */
const MAX_POLLS = 45;
const MAX_INTERVAL_MINUTES = 4;
/** The pauses between these polls are no gaps. */
const STALE_AFTER_MS = MAX_INTERVAL_MINUTES * MINUTE_MS;

/** A shorter block time makes the past shorter instead of its simulation longer. */
const MAX_BLOCKS = 10_000;

/** A healthy chain, or the main network, at the beginning of the past of a scenario. */
export function createPastModel({ scenario, ...options }: ModelOptions): Model {
  const minutes = pastMinutes(scenario, chooseBlockTime({ ...options, scenario }));
  return createModel({
    ...options,
    scenario: scenario === 'mainnet' ? scenario : 'healthy',
    startTime: options.startTime - minutes * 60,
  });
}

/** How long the past of a scenario is. */
function pastMinutes(scenario: ScenarioName, blockTimeMs: number): number {
  const minutes = HEALTHY_MINUTES + (longIncidents[scenario] ?? INCIDENT_MINUTES);
  return Math.min(minutes, Math.floor((MAX_BLOCKS * blockTimeMs) / MINUTE_MS));
}

/** The result of the polls of the past. */
export interface PolledPast {
  readonly demoState: (job: PollJob) => EndpointState | undefined;
  /** How long the scenario has lasted. */
  readonly incidentMinutes: number;
  readonly verdicts: readonly Verdict[];
}

/**
 * Advances a healthy chain through the past of a scenario, until now, and polls it. The endpoints have the results as
 * if they had come from the node.
 */
export async function pollPast(model: Model, scenario: ScenarioName, config: Config, now: Moment): Promise<PolledPast> {
  const minutes = pastMinutes(scenario, model.blockTimeMs);
  const healthyMinutes = Math.min(HEALTHY_MINUTES, Math.floor(minutes / 4));
  const intervalMinutes = Math.min(MAX_INTERVAL_MINUTES, Math.ceil(minutes / MAX_POLLS));
  let minute = 0;
  const clock = (): Moment => ({ ...now, at: now.at - (minutes - minute) * MINUTE_SECONDS });
  const engine = createEngine({ source: createSimulatedNode(model, clock), now: clock });
  engine.replace(
    createJobs(config).map((job) =>
      createEndpoint({ ...job, context: { ...job.context, staleAfterMs: STALE_AFTER_MS } }, clock().at),
    ),
  );
  for (; minute <= minutes; minute += 1) {
    if (minute > 0) model.advanceTime(MINUTE_MS);
    if (minute === healthyMinutes) model.setScenario(scenario);
    if ((minutes - minute) % intervalMinutes > 0) continue;
    // A contract comes after the module state that says where it is.
    for (const { job } of engine.endpoints()) {
      // oxlint-disable-next-line no-await-in-loop -- polls follow each other, and let a signal stop them
      const { settled } = await engine.poll(job);
      // oxlint-disable-next-line no-await-in-loop -- as above
      await settled;
    }
  }
  engine.close();
  return {
    demoState: ({ context: { document } }) => engine.states().find((state) => state.document === document),
    incidentMinutes: minutes - healthyMinutes,
    verdicts: listVerdicts(engine.states(), now).flatMap(({ verdicts }) => verdicts),
  };
}
