import { setImmediate as nextTurn } from 'node:timers/promises';
import { initialMemory, memoryAfter } from '../alerts/endpoint-memory.js';
import { verdictsOf, type Verdict } from '../alerts/judge.js';
import type { Instant } from '../clock.js';
import type { Config } from '../config/config.js';
import type { DocumentName } from '../documents.js';
import { loadAbi } from '../external/abi-loader.js';
import type { EndpointPast } from '../endpoints/registry.js';
import { decodeDocument } from '../poll/decode.js';
import { initialState, stateAfter, type EndpointLimits } from '../poll/endpoint-state.js';
import { jobsOf, withFacts, withObservations, withValidatorNames } from '../poll/jobs.js';
import type { PollJob, PollResult, Snapshot } from '../poll/poll.js';
import { namesAfter, NO_NAMES, readNamesPage, withNamesAttempt, type NamesState } from '../poll/validator-names.js';
import {
  executeQuery,
  HEIGHT_HEADER,
  parseRequest,
  type Endpoint,
  type QueryResponse,
} from '../simulator/query-service.js';
import { MINUTE_MS } from '../settings/units.js';
import { answersOf } from '../sources/query-state.js';
import { answerQueries } from './simulated-queries.js';
import { blockTimeOf, createModel, type Model, type ModelOptions } from '../simulator/model.js';
import type { ScenarioName } from '../simulator/scenarios.js';
import { pollSimulatedContract } from './simulated-contract.js';

/*
 * The past of a demo: what the exporter would know if it had polled the simulated chain since before the incident. The verdict about a
 * scenario takes up to hours, because alerts do.
 */

/** The chain is healthy at first. */
const HEALTHY_MINUTES = 10;

/** How long each scenario lasts until the verdict about it is reached. */
const INCIDENT_MINUTES: Readonly<Record<ScenarioName, number>> = {
  healthy: 20,
  quiet: 20,
  mainnet: 20,
  backlog: 45,
  stuck: 65,
  'unsigned-batch': 45,
  'silent-signer': 75,
  'stalled-oracle': 30,
  'conflicting-claims': 20,
  'batch-timeout': 50,
  'no-relayer': 250,
  'valset-drift': 75,
  'missed-cctxs': 130,
  'unlisted-cctxs': 200,
  'stuck-chain': 55,
  truncated: 20,
  'rate-limited': 45,
  'outbound-disabled': 20,
  syncing: 20,
};

/** A longer past is polled less often, so that it takes seconds. Data of five minutes ago are outdated. */
const MAX_POLLS = 45;
const MAX_INTERVAL_MINUTES = 4;

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
  const minutes = HEALTHY_MINUTES + INCIDENT_MINUTES[scenario];
  return Math.min(minutes, Math.floor((MAX_BLOCKS * blockTimeMs) / MINUTE_MS));
}

/** What the polls of the past have found. */
export interface TimeLapse {
  readonly pastOf: (job: PollJob) => EndpointPast | undefined;
  /** How long the scenario has lasted. */
  readonly incidentMinutes: number;
  readonly verdicts: readonly Verdict[];
}

/**
 * Advances a healthy chain through the past of a scenario, until now, and polls it. The endpoints have the results as if they had come
 * from the node.
 */
export async function runTimeLapse(
  model: Model,
  scenario: ScenarioName,
  config: Config,
  now: Instant,
): Promise<TimeLapse> {
  const jobs = jobsOf(config);
  if (jobs.some(({ contract }) => contract !== undefined)) await loadAbi();
  const minutes = pastMinutes(scenario, model.blockTimeMs);
  const healthyMinutes = Math.min(HEALTHY_MINUTES, Math.floor(minutes / 4));
  const intervalMinutes = Math.min(MAX_INTERVAL_MINUTES, Math.ceil(minutes / MAX_POLLS));
  let endpoints: ReadonlyMap<DocumentName, EndpointPast> = new Map();
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
      const { document } = job.decodeOptions;
      const before = endpoints.get(document) ?? initialPast(job, config.poll, at);
      const bridge = endpoints.get('module_state')?.state.success?.snapshot;
      endpoints = new Map([...endpoints, [document, polled(before, job, bridge, model, at)]]);
    }
  }
  return {
    pastOf: ({ decodeOptions }) => endpoints.get(decodeOptions.document),
    incidentMinutes: minutes - healthyMinutes,
    verdicts: verdictsOf(Array.from(endpoints.values()), now).flatMap(({ verdicts }) => verdicts),
  };
}

function initialPast({ decodeOptions }: PollJob, limits: EndpointLimits, at: Instant): EndpointPast {
  return { state: initialState(decodeOptions, limits, at), memory: initialMemory, names: NO_NAMES };
}

function polled(
  before: EndpointPast,
  job: PollJob,
  bridge: Snapshot | undefined,
  model: Model,
  at: Instant,
): EndpointPast {
  if (job.contract !== undefined) return contractPolled(before, withFacts(job, bridge), model, at);
  const names = job.needsValidators ? readNames(before.names, model, at) : before.names;
  const { decodeOptions } = withValidatorNames(job, names.byOperator);
  const { document } = decodeOptions;
  const { headers, body } = respond(model, document, job.query);
  // Longer than the pauses between these polls, which are no gaps.
  const staleAfterMs = MAX_INTERVAL_MINUTES * MINUTE_MS;
  const { success, queries: asked } = before.state;
  const answers = answersOf(asked, staleAfterMs, at);
  const options = { ...withObservations(decodeOptions, success?.snapshot, answers), staleAfterMs };
  const decoded = decodeDocument(options, document, body, headers[HEIGHT_HEADER], at);
  const foundAt = job.paths.find(({ dialect }) => dialect === 'neutral');
  const result: PollResult = { ...decoded, ...(foundAt && { foundAt }) };
  const state = stateAfter(before.state, result, at);
  const queries = answerQueries(decodeOptions, state, names.operators, (path) => respondTo(model, path), at);
  // The alerts judge what the previous round has answered, like those of polls.
  return { state: { ...state, queries }, memory: memoryAfter(before, state), names };
}

function contractPolled(
  before: EndpointPast,
  { decodeOptions, facts }: PollJob,
  model: Model,
  at: Instant,
): EndpointPast {
  const options = withObservations(decodeOptions, before.state.success?.snapshot);
  if (options.document !== 'external_contract' || facts === undefined) return before;
  const state = stateAfter(before.state, pollSimulatedContract(options, facts, model, at), at);
  return { ...before, state, memory: memoryAfter(before, state) };
}

function respondTo(model: Model, path: string): QueryResponse {
  const query = parseRequest('GET', path);
  return 'endpoint' in query ? executeQuery(model, query) : query;
}

/** The names do not change. */
function readNames(before: NamesState, model: Model, at: Instant): NamesState {
  if (before.readAt !== undefined) return before;
  const { body } = respond(model, 'validators', '?pagination.limit=1000');
  const page = readNamesPage('validators', body);
  return namesAfter(withNamesAttempt(before, at), page.ok ? page : { ...page, isRefused: false }, at);
}

function respond(model: Model, endpoint: Endpoint, query: string): ReturnType<typeof executeQuery> {
  return executeQuery(model, { endpoint, parameters: new URLSearchParams(query) });
}
