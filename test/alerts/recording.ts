import { trustedDigits } from '../../src/json/scalars.js';
import type { FailureReason } from '../../src/http/errors.js';
import { readBody, type PollResult, type DocumentSource } from '../../src/poll/collect.js';
import { renderExposition } from '../../src/exposition/exposition.js';
import { endpointKeyOf, documentSourceBase } from '../../src/poll/jobs.js';
import { demoConfig } from '../../src/simulator/demo.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import type { ModuleState } from '../../src/simulator/responses.js';
import type { RateLimiterInput } from '../../src/simulator/responses.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { createSnapshots } from '../../src/poll/snapshots.js';

/** Of the default configuration, which is what the alerts reckon with. */
const STALE_AFTER_MS = 300_000;
/** Unix seconds of minute 0. */
const BEGAN = 1_790_000_000;

const SECONDS = { fetch: 0.05, decode: 0.004, derive: 0.002 };

/** What befalls the polls of an endpoint: they fail, are not made, or bring other news than the model's. */
export type Fate<Body> =
  | { readonly fails: FailureReason }
  | 'is not asked'
  | { readonly answers: (body: Body) => unknown; readonly height?: (height: number) => number | undefined };

/** A stretch of time. What is left out goes on as before, in health. */
export interface Stretch {
  readonly minutes: number;
  /** From here on; it stays. */
  readonly scenario?: ScenarioName;
  /** Polls of the stretch alone, as are the others below. */
  readonly bridge?: Fate<{ state: ModuleState }>;
  readonly crosschain?: Fate<RateLimiterInput>;
  /** Every answer is of the height at the beginning of the stretch, as from a cache or a node that does not follow. */
  readonly frozen?: boolean;
  /** No exporter runs; another one starts with the next stretch. */
  readonly exporterDown?: boolean;
}

export interface RecordingOptions {
  readonly scenario?: ScenarioName;
  readonly seed?: number;
  readonly blockTimeMs?: number;
  readonly sampleSeconds?: number;
  readonly maxSeries?: number;
  readonly maxBodyBytes?: number;
  /** Validator sets in the answers; a shorter history than the model's own makes a recording several times faster. */
  readonly valsets?: number;
  /** Names of the families to keep; what no rule reads only costs time. */
  readonly keep: ReadonlySet<string>;
}

/** Values of a series at every sample; absent where it was not exposed. */
export interface Recorded {
  readonly sampleSeconds: number;
  readonly samples: number;
  readonly series: ReadonlyMap<string, readonly (number | undefined)[]>;
}

/**
 * What Prometheus would have scraped: the simulated chain is polled and read by the exporter's own code at every sample, at a
 * clock that nobody waits for.
 */
export function record(stretches: readonly Stretch[], options: RecordingOptions): Recorded {
  const { sampleSeconds = 60, blockTimeMs = 20_000, seed = 7, scenario = 'healthy', keep } = options;
  const model = createModel({ seed, scenario, startTime: BEGAN, blockTimeMs });
  const blocks = (sampleSeconds * 1000) / blockTimeMs;
  if (!Number.isInteger(blocks)) throw new Error(`${sampleSeconds} s are no whole number of blocks`);
  const series = new Map<string, (number | undefined)[]>();
  let exporter: Exporter | undefined;
  let sample = 0;
  for (const [index, stretch] of stretches.entries()) {
    if (stretch.scenario) model.setScenario(stretch.scenario);
    const before = stretches[index - 1];
    if (before?.frozen) model.advance((before.minutes * 60_000) / blockTimeMs);
    const last = sample + (stretch.minutes * 60) / sampleSeconds;
    for (; sample < last; sample += 1) {
      const seconds = sample * sampleSeconds;
      if (sample > 0 && !stretch.frozen) model.advance(blocks);
      exporter = stretch.exporterDown ? undefined : (exporter ?? createExporter(model, seconds, options));
      if (exporter === undefined) continue;
      exporter.poll(stretch, seconds);
      for (const [key, value] of exporter.scrape(seconds, keep)) {
        const values = series.get(key) ?? [];
        series.set(key, values);
        values[sample] = value;
      }
    }
  }
  return { sampleSeconds, samples: sample, series };
}

interface Exporter {
  readonly poll: (stretch: Stretch, seconds: number) => void;
  readonly scrape: (seconds: number, keep: ReadonlySet<string>) => [key: string, value: number][];
}

function createExporter(model: Model, startedAt: number, options: RecordingOptions): Exporter {
  const { maxSeries, maxBodyBytes, valsets = 12 } = options;
  const config = demoConfig({ url: 'http://127.0.0.1:1317', tokens: model.tokens });
  const [target] = config.targets;
  if (target?.bridge === undefined || target.crosschain === undefined) throw new Error('the demo has both endpoints');
  const base = { ...documentSourceBase(config, target), ...(maxSeries !== undefined && { maxSeries }) };
  const bridge: DocumentSource = { ...base, document: 'module_state', settings: target.bridge };
  const crosschain: DocumentSource = { ...base, document: 'rate_limiter_input', settings: target.crosschain };
  const snapshots = createSnapshots([bridge, crosschain].map(endpointKeyOf), {
    maxBodyBytes: maxBodyBytes ?? config.poll.maxBodyBytes,
    staleAfterMs: STALE_AFTER_MS,
  });
  const at = (seconds: number) => ({ epochSeconds: BEGAN + seconds, monotonicMs: seconds * 1000 });

  const poll = <Body>(reading: DocumentSource, fate: Fate<Body>, body: () => Body, seconds: number): void => {
    if (fate === 'is not asked') return;
    snapshots.record(endpointKeyOf(reading), outcomeOf(reading, fate, body, model.height), at(seconds));
  };
  return {
    poll: (stretch, seconds) => {
      poll(bridge, stretch.bridge ?? AS_IT_IS, () => withLatestValsets(model.moduleState(), valsets), seconds);
      poll(crosschain, stretch.crosschain ?? AS_IT_IS, () => model.rateLimiterInput({ window: 500n }), seconds);
    },
    scrape: (seconds, keep) => [
      ...linesOf(renderExposition(snapshots, 'text', at(seconds)), keep),
      // The process tells these; they have to be of the clock of the recording.
      ['bridge_exporter_build_info{version="0.1.0",nodejs="v20.0.0"}', 1],
      ['process_start_time_seconds', startedAt],
    ],
  };
}

const AS_IT_IS = { answers: (body: unknown): unknown => body };

function outcomeOf<Body>(
  reading: DocumentSource,
  fate: Exclude<Fate<Body>, string>,
  body: () => Body,
  height: number,
): PollResult {
  if ('fails' in fate) {
    return { result: { ok: false, error: { reason: fate.fails, message: 'in this test' } }, seconds: {} };
  }
  const told = fate.height === undefined ? height : fate.height(height);
  const bytes = Buffer.from(JSON.stringify(fate.answers(body())));
  const outcome = readBody(reading, 'recording', bytes, told === undefined ? undefined : trustedDigits(String(told)));
  return { ...outcome, seconds: SECONDS };
}

/** As a hub with a shorter signing window would have pruned them: what is not relayed stays. */
function withLatestValsets({ state }: { state: ModuleState }, most: number): { state: ModuleState } {
  const observed = Number(state.last_observed_valset.nonce);
  const valsets = state.valsets.filter(({ nonce }, newer) => newer < most || Number(nonce) >= observed);
  const kept = new Set(valsets.map(({ nonce }) => nonce));
  return {
    state: { ...state, valsets, valset_confirms: state.valset_confirms.filter(({ nonce }) => kept.has(nonce)) },
  };
}

/** Instants count from minute 0, where promtool's clock starts. */
function* linesOf(exposition: string, keep: ReadonlySet<string>): Generator<[key: string, value: number]> {
  for (const line of exposition.split('\n')) {
    const name = /^\w+/.exec(line)?.[0];
    if (name === undefined || !keep.has(name)) continue;
    const end = line.lastIndexOf(' ');
    const value = Number(line.slice(end + 1));
    yield [line.slice(0, end), name.endsWith('_timestamp_seconds') ? value - BEGAN : value];
  }
}
