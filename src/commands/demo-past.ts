import { setImmediate as nextTurn } from 'node:timers/promises';
import { verdictsOf, type Verdict } from '../poll/verdicts.js';
import type { Instant } from '../clock.js';
import type { Config } from '../config/config.js';
import type { DocumentName } from '../document-types.js';
import { initialState, type EndpointState } from '../poll/endpoint-state.js';
import { jobsOf, pollInput, type PollJob } from '../poll/jobs.js';
import { step } from '../poll/step.js';
import { HEIGHT_HEADER } from '../simulator/query-service.js';
import { blockTimeOf, createModel, type Model, type ModelOptions } from '../simulator/model.js';
import type { ScenarioName } from '../simulator/scenarios.js';
import { answerQueries, respondTo, simulatedContractBody } from './simulated-responses.js';
import { readPoll } from '../poll/read-poll.js';
import { MINUTE_MS } from '../units.js';

/*
 * The past of a demo: the state of an exporter that has polled the simulated chain since before the incident, because the verdict about
 * a scenario takes up to hours.
 */

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

/** A longer past is polled less often, so that it takes seconds. Data of five minutes ago are outdated. */
const MAX_POLLS = 45;
const MAX_INTERVAL_MINUTES = 4;
/** The pauses between these polls are no gaps. */
const STALE_AFTER_MS = MAX_INTERVAL_MINUTES * MINUTE_MS;

/** A shorter block time makes the past shorter instead of its simulation longer. */
const MAX_BLOCKS = 10_000;

/** A healthy chain, or the main network, at the beginning of the past of a scenario. */
export function createPastModel({ scenario, ...options }: ModelOptions): Model {
  const minutes = pastMinutes(scenario, blockTimeOf({ ...options, scenario }));
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
 * Advances a healthy chain through the past of a scenario, until now, and polls it. The endpoints have the results as if they had come
 * from the node.
 */
export async function pollPast(
  model: Model,
  scenario: ScenarioName,
  config: Config,
  now: Instant,
): Promise<PolledPast> {
  const jobs = jobsOf(config);
  const minutes = pastMinutes(scenario, model.blockTimeMs);
  const healthyMinutes = Math.min(HEALTHY_MINUTES, Math.floor(minutes / 4));
  const intervalMinutes = Math.min(MAX_INTERVAL_MINUTES, Math.ceil(minutes / MAX_POLLS));
  const endpoints = new Map<DocumentName, EndpointState>();
  const stateOf = (document: DocumentName) => endpoints.get(document);
  for (let minute = 0; minute <= minutes; minute += 1) {
    // oxlint-disable-next-line no-await-in-loop -- lets a signal stop it
    await nextTurn();
    if (minute > 0) model.advanceTime(MINUTE_MS);
    if (minute === healthyMinutes) model.setScenario(scenario);
    if ((minutes - minute) % intervalMinutes > 0) continue;
    const agoMs = (minutes - minute) * MINUTE_MS;
    const at = { epochSeconds: now.epochSeconds - agoMs / 1000, monotonicMs: now.monotonicMs - agoMs };
    // A contract comes after the module state that says where it is.
    for (const job of jobs) {
      const { document } = job.context;
      const context = { ...job.context, staleAfterMs: STALE_AFTER_MS };
      const before = stateOf(document) ?? initialState(context, at);
      endpoints.set(document, polled(before, { ...job, context }, stateOf, model, at));
    }
  }
  return {
    demoState: ({ context }) => stateOf(context.document),
    incidentMinutes: minutes - healthyMinutes,
    verdicts: verdictsOf(Array.from(endpoints.values()), now).flatMap(({ verdicts }) => verdicts),
  };
}

function polled(
  before: EndpointState,
  { context, paths, query }: PollJob,
  siblingOf: (document: DocumentName) => EndpointState | undefined,
  model: Model,
  at: Instant,
): EndpointState {
  const { otherAnswers = {} } = pollInput(context, before, siblingOf, at);
  const foundPath = paths.find(({ dialect }) => dialect === 'neutral');
  const received =
    foundPath === undefined
      ? simulatedContractBody('hubSide' in otherAnswers ? otherAnswers : {}, model, at)
      : { ...documentBody(model, foundPath.path + query), receivedAt: at, otherAnswers, foundPath };
  if (received === undefined) return before;
  const state = step(before, readPoll(received, context), context, at);
  // As after a poll, problems are judged by the answers of the previous round.
  const queries = answerQueries(context, state, (path, request) => respondTo(model, path, request), at);
  return { ...state, queries };
}

function documentBody(model: Model, path: string) {
  const { headers, body } = respondTo(model, path);
  return { ok: true, bytes: body, source: path, height: headers[HEIGHT_HEADER] } as const;
}
