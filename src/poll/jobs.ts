import { chainNames } from '../chain/known-chains.js';
import type { Config, TargetConfig } from '../config/config.js';
import { documentNames, documents, type DocumentName, type SettingsOf } from '../documents.js';
import type { Instant } from '../clock.js';
import { cctxAnswers } from '../sources/cctx-outcome.js';
import type { QueryAnswers, QueryContext } from '../sources/node-query.js';
import { lookaheadsOf } from '../sources/chain-switches.js';
import { answersOf } from '../sources/query-state.js';
import type { EndpointLimits, EndpointState } from './endpoint-state.js';
import { MAX_RPC_BODY_BYTES } from '../external/json-rpc.js';
import type { ContractFacts } from '../metrics/contract/facts.js';
import type { DecodeOptions, PollJob, Snapshot, TargetOptions } from './poll.js';

/** One job for each endpoint of each target. */
export function jobsOf(config: Config): PollJob[] {
  return config.targets.flatMap((target) => documentNames.flatMap((document) => jobOf(config, target, document) ?? []));
}

function jobOf(config: Config, target: TargetConfig, document: DocumentName): PollJob | undefined {
  const request = documents[document].request(target);
  if (request === undefined) return undefined;
  const { connection, settings, ...others } = request;
  const { timeoutMs, maxBodyBytes } = config.poll;
  const decodeOptions = documentOptions(targetOptions(config, target), document, settings);
  return { ...connection, ...others, limits: { timeoutMs, maxBodyBytes }, decodeOptions };
}

export function documentOptions<Name extends DocumentName>(
  options: TargetOptions,
  document: Name,
  settings: SettingsOf[Name],
): DecodeOptions<Name> {
  return { ...options, document, settings };
}

/** The settings that apply to the state of an endpoint. A contract that is polled slowly is not stale between two polls. */
export function limitsOf({ contract, intervalMs = 0 }: PollJob, poll: EndpointLimits): EndpointLimits {
  const { maxBodyBytes, staleAfterMs } = poll;
  return contract === undefined ? { maxBodyBytes, staleAfterMs } : contractLimits(intervalMs, poll);
}

export function contractLimits(intervalMs: number, { maxBodyBytes, staleAfterMs }: EndpointLimits): EndpointLimits {
  return {
    maxBodyBytes: Math.min(maxBodyBytes, MAX_RPC_BODY_BYTES),
    staleAfterMs: Math.max(staleAfterMs, 2 * intervalMs),
  };
}

export function targetOptions(
  { limits, poll, tokens, chains, validators }: Config,
  { name, labels: targetLabels }: Pick<TargetConfig, 'name' | 'labels'>,
): TargetOptions {
  return {
    target: name,
    ...(targetLabels && { targetLabels }),
    labels: {
      tokens,
      chains: { ...chainNames, ...Object.fromEntries(Object.entries(chains).map(([id, chain]) => [id, chain.name])) },
      validators: { configured: validators, staking: new Map() },
    },
    maxSeries: limits.maxSeriesPerFamily,
    staleAfterMs: poll.staleAfterMs,
  };
}

/** The job with the names that the staking module gives to validators. */
export function withValidatorNames(job: PollJob, staking: ReadonlyMap<string, string>): PollJob {
  const { labels } = job.decodeOptions;
  const validators = { ...labels.validators, staking };
  return { ...job, decodeOptions: { ...job.decodeOptions, labels: { ...labels, validators } } };
}

/** The job of a contract with what the last module state of its target says about it. */
export function withFacts(job: PollJob, bridge: Snapshot | undefined): PollJob {
  const facts = contractFactsOf(bridge);
  return facts === undefined ? job : { ...job, facts };
}

export function contractFactsOf(bridge: Snapshot | undefined): ContractFacts | undefined {
  return bridge?.document === 'module_state' ? bridge.observations.contractFacts : undefined;
}

/** The job of a module state with the external height, if the contract was read a moment ago. */
export function withExternalHeight(job: PollJob, contract: Snapshot | undefined): PollJob {
  const { decodeOptions: options } = job;
  if (options.document !== 'module_state' || contract?.document !== 'external_contract') return job;
  return { ...job, decodeOptions: { ...options, sideInput: { externalHeight: contract.observations.height } } };
}

/** Whether a snapshot is of this document. */
function isOf<Name extends DocumentName>(document: Name, snapshot: Snapshot): snapshot is Snapshot & Snapshot<Name> {
  return snapshot.document === document;
}

/** The options with the observations and the flow of the last accepted document of the endpoint. */
function withLast<Name extends DocumentName>(options: DecodeOptions<Name>, last: Snapshot): DecodeOptions<Name> {
  if (!isOf(options.document, last)) return options;
  return { ...options, previous: last.observations, flow: last.flow };
}

/** The options with the observations and the flow of the last accepted document of the endpoint, and what its node has answered since. */
export function withObservations(
  options: DecodeOptions,
  last: Snapshot | undefined,
  answers: QueryAnswers = new Map(),
): DecodeOptions {
  if (last === undefined) return options;
  const observed = withLast(options, last);
  if (observed.document !== 'rate_limiter_input' || observed.flow === undefined) return observed;
  const lookaheads = lookaheadsOf(answers);
  return {
    ...observed,
    ...(lookaheads && { sideInput: { lookaheads } }),
    flow: { ...observed.flow, answers: cctxAnswers(answers) },
  };
}

/** What the queries of the endpoint depend on after a successful poll; `undefined` before one, and for a recorded body. */
export function queryContext<Name extends DocumentName>(
  options: DecodeOptions<Name>,
  { success, queries, staleAfterMs }: EndpointState,
  operators: ReadonlyMap<string, string>,
  now: Instant,
): QueryContext<Name> | undefined {
  if (success?.foundAt === undefined || !isOf(options.document, success.snapshot)) return undefined;
  const { observations, flow } = success.snapshot;
  const answers = answersOf(queries, staleAfterMs, now);
  return { ...options, dialect: success.foundAt.dialect, observations, flow, operators, answers };
}
