import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import type { FailureReason } from '../../src/http/failure-reasons.js';
import type { Moment } from '../../src/clock.js';
import { targetOptions, targetsHash } from '../../src/engine/jobs.js';
import { pollInput } from '../support/polls.js';
import type { PollResult } from '../../src/engine/step.js';
import { demoConfig } from '../../src/commands/demo.js';
import { respondTo, simulatedContractBody } from '../../src/sources/simulated-node.js';
import type { RpcChanges } from '../../src/simulator/json-rpc.js';
import { answerQueries } from '../support/polls.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import type { QueryResponse } from '../../src/simulator/query-service.js';
import type { ModuleState, RateLimiterInput } from '../../src/simulator/responses.js';
import type { DocumentName, AdditionalInput, StepContext } from '../../src/document-types.js';
import type { TargetLabels } from '../../src/config/config.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import type { ProblemSettings } from '../../src/problems/problem.js';
import type { EndpointMemory } from '../../src/engine/state-file.js';
import type { EndpointState } from '../../src/engine/endpoint-state.js';
import type { JudgedTarget } from '../../src/engine/target-problems.js';
import { recordedStates, type RecordedStates } from '../support/endpoint-states.js';
import { pollOf } from '../support/polls.js';
import { readPoll } from '../support/steps.js';

/** The default of `poll.stale_after`, on which the alert rules are based. */
const STALE_AFTER_MS = 300_000;
/** Unix seconds of minute 0. */
export const START_SECONDS = 1_790_000_000;

const DAY_SECONDS = 86_400;
const SEED = 7;
/** Slower than a real hub, so that a recording takes less time. */
const BLOCK_MS = 20_000;
/** The chain of a recording without options. */
const sampleModel = createModel({
  seed: SEED,
  scenario: 'healthy',
  startTime: START_SECONDS,
  blockTimeMs: BLOCK_MS,
});
const sampleConfig = demoConfig('http://127.0.0.1:1317', sampleModel);
/** The hub height at minute 0. */
export const START_HEIGHT = sampleModel.height;
/** The watched validator of recordings with the default seed. */
export const [watchedAddress = ''] = sampleConfig.targets[0]?.bridge?.watch ?? [];
/** The configured tokens of recordings with the default seed. */
export const sampleTokens = sampleConfig.tokens;

const DURATIONS = { fetch: 0.05, decode: 0.004, derive: 0.002 };

/** A deviation from a normal poll: a failure, no poll at all, or a changed response. */
export type PollOutcome<Body> =
  | { readonly fails: FailureReason; readonly isNotServed?: true }
  | 'not polled'
  | { readonly respond: (body: Body) => unknown; readonly height?: (height: number) => number | undefined };

/** A deviation from a normal poll of the contract. */
type ContractOutcome = { readonly fails: FailureReason } | 'not polled' | RpcChanges;

/** A span of time. All deviations but the scenario end with the phase. */
export interface Phase {
  readonly minutes: number;
  /** Instead of the interval of the recording; series cannot be recorded then. */
  readonly sampleSeconds?: number;
  /** Called before the first sample. */
  readonly begin?: () => void;
  /** The scenario from this phase on. */
  readonly scenario?: ScenarioName;
  readonly bridge?: PollOutcome<{ state: ModuleState }>;
  readonly crosschain?: PollOutcome<RateLimiterInput>;
  /** Changes the response to a query besides the documents. */
  readonly queries?: (path: string, response: QueryResponse, seconds: number) => QueryResponse;
  /** What the node of the external chain and the supply on the hub deviate by; only with `contract`. */
  readonly contract?: ContractOutcome;
  /** Every response is the one at the beginning of the phase, as from a cache or a node that has stopped. */
  readonly frozen?: boolean;
  /** No exporter runs; a new one starts with the next phase. `removed`: it is no scrape target any more. */
  readonly exporterDown?: boolean | 'removed';
  /** The last shard is not scraped. */
  readonly lastShardDown?: boolean;
  /** The configuration from this phase on, which a running exporter reloads. */
  readonly config?: RecordedConfig;
  /** The last reload failed. */
  readonly reloadFails?: boolean;
  /** The recorder fails every 5 minutes. */
  readonly recorderFails?: boolean;
}

/** A configuration with one target. */
export interface RecordedConfig {
  readonly hash: number;
  /** `undefined` for a configuration without this target, whose other targets are not recorded. */
  readonly target: string | undefined;
  readonly documents: readonly DocumentName[];
  /** With another address, the endpoints are new. */
  readonly url: string;
  readonly problems?: ProblemSettings;
}

export const INITIAL_CONFIG: RecordedConfig = {
  hash: 1,
  target: 'demo',
  documents: ['module_state', 'rate_limiter_input'],
  url: 'http://127.0.0.1:1317',
};

/** A changed document. */
export const changedState = (change: (state: ModuleState) => object): PollOutcome<{ state: ModuleState }> => ({
  respond: ({ state }) => ({ state: { ...state, ...change(state) } }),
});

export const changedInput = (change: (input: RateLimiterInput) => object): PollOutcome<RateLimiterInput> => ({
  respond: (input) => ({ ...input, ...change(input) }),
});

type Keep = ReadonlySet<string> | 'all';

type Observe = (problems: readonly JudgedTarget[], minute: number, endpoints: readonly EndpointState[]) => void;

const keeps = (keep: Keep | undefined, metric: string): boolean => keep === 'all' || keep?.has(metric) === true;

export interface RecordingOptions {
  readonly scenario?: ScenarioName;
  readonly seed?: number;
  /** By default 20 s, in the scenario mainnet that of the scenario. */
  readonly blockTimeMs?: number;
  readonly sampleSeconds?: number;
  /** A chain at minute 0; by default one of the scenario and seed. */
  readonly model?: Model;
  /** Days on the chain before the recording begins. */
  readonly afterDays?: number;
  readonly maxSeries?: number;
  /** Indexes of cctxs that the configuration ignores. */
  readonly ignore?: readonly string[];
  /** Whether no token is configured, as in the README. */
  readonly withoutTokens?: true;
  /** Number of shards, 1 by default. The shard metrics are recorded for each of them, all other metrics for one process. */
  readonly shards?: number;
  readonly maxBodyBytes?: number;
  /** `poll.stale_after`. */
  readonly staleAfterMs?: number;
  /** Whether the contract on the external chain is polled. */
  readonly contract?: true;
  /** Whether an exporter that starts has the state file of the one before. */
  readonly hasStateFile?: true;
  /** `targets[].labels`. */
  readonly targetLabels?: TargetLabels;
  /** Maximum number of validator sets in the responses. A shorter history makes a recording several times faster. */
  readonly valsets?: number;
  /** Receives the problems and the endpoints of the exporter after every sample. */
  readonly observe?: Observe;
  /** Whether the recording ends before the next sample. */
  readonly isComplete?: () => boolean;
  /** The metrics to record, by default none. Metrics that no rule reads would only take time. */
  readonly keep?: Keep;
}

export interface Recording {
  readonly sampleSeconds: number;
  readonly samples: number;
  /** The values by series, one per sample; `undefined` where the series was not exported. */
  readonly series: ReadonlyMap<string, readonly (number | undefined)[]>;
}

/** What the exporter shows after the last sample. */
interface LastSample {
  readonly at: Moment;
  readonly endpoints: readonly EndpointState[];
  readonly problems: readonly JudgedTarget[];
}

/**
 * The series that Prometheus would have scraped. At every sample, the code of the exporter reads the responses of a
 * simulated chain. The clock is simulated, too.
 */
export function record(phases: readonly Phase[], options: RecordingOptions): Recording & LastSample {
  const { sampleSeconds = 60, afterDays = 0, seed = SEED, scenario = 'healthy', keep, observe, isComplete } = options;
  const blockTimeMs = options.blockTimeMs ?? (scenario === 'mainnet' ? undefined : BLOCK_MS);
  const startTime = START_SECONDS - afterDays * DAY_SECONDS;
  const model = options.model ?? createModel({ seed, scenario, startTime, blockTimeMs });
  model.advanceTime(afterDays * DAY_SECONDS * 1000);
  const series = new Map<string, (number | undefined)[]>();
  let exporter: Exporter | undefined;
  let remembered: readonly EndpointMemory[] = [];
  let config = INITIAL_CONFIG;
  let sample = 0;
  let [seconds, last, modelSeconds] = [0, 0, 0];
  for (const phase of phases) {
    if (phase.scenario) model.setScenario(phase.scenario);
    if (phase.config) {
      exporter?.reload(phase.config, seconds);
      ({ config } = phase);
    }
    phase.begin?.();
    const end = seconds + phase.minutes * 60;
    for (; seconds < end; seconds += phase.sampleSeconds ?? sampleSeconds, sample += 1) {
      if (isComplete?.() === true) break;
      last = seconds;
      if (!phase.frozen) {
        model.advanceTime((seconds - modelSeconds) * 1000);
        modelSeconds = seconds;
      }
      if (keeps(keep, 'up') && phase.exporterDown !== 'removed') put(series, 'up', sample, phase.exporterDown ? 0 : 1);
      if (phase.exporterDown) {
        remembered = exporter?.endpoints.remembered() ?? remembered;
        exporter = undefined;
        continue;
      }
      exporter ??= createExporter(model, config, seconds, options, options.hasStateFile ? remembered : []);
      exporter.poll(phase, seconds);
      observe?.(exporter.endpoints.problems(instantAt(seconds)), seconds / 60, exporter.endpoints.states());
      for (const [key, value] of keep === undefined ? [] : exporter.scrape(phase, seconds, keep)) {
        put(series, key, sample, value);
      }
    }
  }
  const at = instantAt(last);
  const endpoints = exporter?.endpoints.states() ?? [];
  const problems = exporter?.endpoints.problems(at) ?? [];
  return { sampleSeconds, samples: sample, series, endpoints, problems, at };
}

function put(series: Map<string, (number | undefined)[]>, key: string, sample: number, value: number): void {
  const values = series.get(key) ?? [];
  series.set(key, values);
  values[sample] = value;
}

/** The simulated time of a sample. */
export function instantAt(seconds: number): Moment {
  return { at: START_SECONDS + seconds, clockOffset: 0 };
}

interface Exporter {
  readonly reload: (config: RecordedConfig, seconds: number) => void;
  readonly poll: (phase: Phase, seconds: number) => void;
  readonly endpoints: RecordedStates;
  readonly scrape: (phase: Phase, seconds: number, keep: Keep) => [key: string, value: number][];
}

function createExporter(
  model: Model,
  initial: RecordedConfig,
  startedAt: number,
  options: RecordingOptions,
  remembered: readonly EndpointMemory[],
): Exporter {
  const {
    maxSeries,
    maxBodyBytes,
    staleAfterMs = STALE_AFTER_MS,
    targetLabels,
    valsets = 12,
    shards = 1,
    ignore = [],
    contract = false,
  } = options;
  const demo = demoConfig('http://127.0.0.1:1317', model);
  const config = options.withoutTokens === true ? { ...demo, tokens: [] } : demo;
  const [target] = config.targets;
  if (target?.bridge === undefined || target.crosschain === undefined) throw new Error('the demo has both endpoints');
  const { bridge } = target;
  const crosschain = { ...target.crosschain, ignore: { indexes: [...ignore], older_than: 0 } };
  const sourcesOf = ({ target: name, documents, problems = {} }: RecordedConfig): readonly StepContext[] => {
    if (name === undefined) return [];
    const base = {
      ...targetOptions({ ...config, problems }, target),
      target: name,
      staleAfterMs,
      ...(maxSeries !== undefined && { maxSeries }),
      ...(targetLabels && { targetLabels }),
    };
    const all: readonly StepContext[] = [
      { ...base, document: 'module_state', settings: bridge },
      ...(contract ? [{ ...base, document: 'external_contract', settings: {} } as const] : []),
      { ...base, document: 'rate_limiter_input', settings: crosschain },
    ];
    return all.filter(({ document }) => document === 'external_contract' || documents.includes(document));
  };
  let active = initial;
  let loadedAt = startedAt;
  let sources = sourcesOf(initial);
  const limits = { maxBodyBytes: maxBodyBytes ?? config.poll.max_body_size, staleAfterMs };
  const endpoints = recordedStates(sources, limits, instantAt(startedAt), remembered);

  const siblingOf = (source: StepContext) => (document: DocumentName) =>
    endpoints.states().find((own) => own.target === source.target && own.document === document);
  const poll = <Body>(
    source: StepContext,
    outcome: PollOutcome<Body>,
    body: () => Body,
    { queries }: Phase,
    seconds: number,
  ): void => {
    if (outcome === 'not polled') return;
    const at = instantAt(seconds);
    const before = endpoints.stateOf(source);
    const { additionalInput } = pollInput(source, before, siblingOf(source), at);
    const result = createPoll(source, outcome, body, model.height, at, additionalInput);
    endpoints.record(source, result, at);
    if (!result.outcome.ok) return;
    const respond = (path: string): QueryResponse => {
      const response = respondTo(model, path);
      return queries?.(path, response, seconds) ?? response;
    };
    endpoints.answer(source, (state) => answerQueries(source, state, respond, at));
  };
  const pollContract = (source: StepContext<'external_contract'>, outcome: ContractOutcome, at: Moment): void => {
    const { additionalInput } = pollInput(source, endpoints.stateOf(source), siblingOf(source), at);
    if (outcome === 'not polled' || !('hubSide' in additionalInput)) return;
    if ('fails' in outcome) return void endpoints.record(source, failedPoll(outcome.fails), at);
    const received = simulatedContractBody(additionalInput, model, at.at, outcome);
    if (received === undefined) return;
    endpoints.record(source, readPoll(received, source), at);
    endpoints.answer(source, (state) =>
      answerQueries(source, state, (path, request) => respondTo(model, path, request, outcome), at),
    );
  };
  return {
    endpoints,
    reload: (next, seconds) => {
      const isNew = next.url !== active.url;
      sources = sourcesOf(next);
      endpoints.reload(
        sources.map((source) => ({ ...source, isNew })),
        instantAt(seconds),
      );
      active = next;
      loadedAt = seconds;
    },
    poll: (phase, seconds) => {
      for (const source of sources) {
        if (source.document === 'module_state') {
          const bodyOf = () => withLatestValsets(model.moduleState(), valsets);
          poll(source, phase.bridge ?? UNCHANGED, bodyOf, phase, seconds);
        } else if (source.document === 'external_contract') {
          pollContract(source, phase.contract ?? {}, instantAt(seconds));
        } else {
          poll(source, phase.crosschain ?? UNCHANGED, () => model.rateLimiterInput({ window: 500n }), phase, seconds);
        }
      }
    },
    scrape: (phase, seconds, keep) => {
      return [
        ...seriesOfScrape(renderEndpoints(endpoints.states(), 'text', instantAt(seconds)), keep),
        // The process exports these, here with the simulated clock.
        ['bridge_exporter_build_info{version="0.1.0",revision="unknown",nodejs="v20.0.0"}', 1],
        ['bridge_exporter_config_hash', active.hash],
        ['bridge_exporter_config_last_reload_successful', phase.reloadFails ? 0 : 1],
        ['bridge_exporter_config_last_reload_success_timestamp_seconds', loadedAt],
        ['bridge_exporter_recorder_last_write_successful', phase.recorderFails ? 0 : 1],
        ['bridge_exporter_targets_hash', targetsHash(endpoints.states())],
        ['bridge_exporter_shards', shards],
        ...Array.from({ length: shards - (phase.lastShardDown ? 1 : 0) }, (_, index): [string, number] => [
          `bridge_exporter_shard_info{shard="${index + 1}"}`,
          1,
        ]),
      ];
    },
  };
}

const failedPoll = (reason: FailureReason, isNotServed = false): PollResult => ({
  outcome: { ok: false, error: { reason, message: 'in this test', isNotServed } },
  phaseSeconds: {},
});

const UNCHANGED = { respond: (body: unknown): unknown => body };

function createPoll<Body>(
  source: StepContext,
  outcome: Exclude<PollOutcome<Body>, string>,
  body: () => Body,
  height: number,
  at: Moment,
  additionalInput: AdditionalInput,
): PollResult {
  if ('fails' in outcome) return failedPoll(outcome.fails, outcome.isNotServed);
  const sentHeight = outcome.height === undefined ? height : outcome.height(height);
  const poll = pollOf(source, outcome.respond(body()), {
    height: sentHeight,
    at,
    source: 'recording',
    additionalInput,
  });
  return { ...poll, phaseSeconds: DURATIONS, servedPath: { dialect: 'neutral', path: '' } };
}

/** Keeps the latest validator sets and all that are not relayed, like a hub with a shorter signing window. */
export function withLatestValsets({ state }: { state: ModuleState }, maxValsets: number): { state: ModuleState } {
  const observed = Number(state.last_observed_valset.nonce);
  const valsets = state.valsets.filter(({ nonce }, index) => index < maxValsets || Number(nonce) >= observed);
  const kept = new Set(valsets.map(({ nonce }) => nonce));
  return {
    state: { ...state, valsets, valset_confirms: state.valset_confirms.filter(({ nonce }) => kept.has(nonce)) },
  };
}

/** The series of an exposition. Timestamps are relative to minute 0, at which the clock of promtool starts. */
function* seriesOfScrape(exposition: string, keep: Keep): Generator<[key: string, value: number]> {
  for (const line of exposition.split('\n')) {
    const name = /^\w+/.exec(line)?.[0];
    if (name === undefined || !keeps(keep, name)) continue;
    const end = line.lastIndexOf(' ');
    const value = Number(line.slice(end + 1));
    yield [line.slice(0, end), name.endsWith('_timestamp_seconds') ? value - START_SECONDS : value];
  }
}
