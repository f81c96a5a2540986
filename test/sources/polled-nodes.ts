import type { Moment } from '../../src/clock.js';
import { pino } from 'pino';
import { createEngine, type Sink } from '../../src/engine/engine.js';
import { initialState, type EndpointState } from '../../src/engine/endpoint-state.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import { createPollLog } from '../../src/engine/poll-log.js';
import { enabledQueries } from '../../src/queries/node-queries.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { createMemory, withMemory, type EndpointMemory } from '../../src/engine/state-file.js';
import { formatPlainData, parsePlainData } from '../../src/engine/state-file.js';
import { createNetwork, type Network } from '../../src/sources/network.js';
import { renderedPollFamilies } from '../../src/exposition/exporter-metrics.js';
import { atEnd } from '../support/at-end.js';
import { parseValidConfig } from '../support/config.js';
import { startTestSimulator } from '../support/test-simulator.js';

/* Polls of several nodes over HTTP, in virtual time: by default 30 s between two polls, and probes every minute. */

export const INTERVAL_SECONDS = 30;
const START_SECONDS = 1_790_000_000;

export interface NodesOptions {
  /** By default one with small documents. */
  readonly scenario?: ScenarioName;
  readonly count?: number;
  /** Whether the only node is configured as `url`. */
  readonly isUrl?: boolean;
  /** How far each node is behind the first, in seconds. */
  readonly lagSeconds?: readonly number[];
  /** Further settings of the document. */
  readonly settings?: string;
  /** Limits of problems. */
  readonly problems?: string;
  /** Of a poll, in real time. */
  readonly timeout?: string;
  /** Whether another target polls one more node of the first chain alone. */
  readonly withReference?: boolean;
  readonly sinks?: readonly Sink[];
}

export async function startPolledNodes({
  scenario = 'quiet',
  count = 2,
  isUrl = false,
  lagSeconds = [],
  settings = 'node_queries: "off", validator_names: "off"',
  problems = '{}',
  timeout = '10s',
  withReference = false,
  sinks = [],
}: NodesOptions = {}) {
  let now: Moment = { at: START_SECONDS, clockOffset: 0 };
  const models = new Map<number, Model>();
  /** Of the chain before the first poll. */
  const historySeconds = Math.max(0, ...lagSeconds);
  /** Nodes with the same lag serve the same chain. */
  const modelOf = (lag: number): Model => {
    const model =
      models.get(lag) ??
      createModel({ seed: 1, scenario, startTime: START_SECONDS - historySeconds, blockTimeMs: 2000 });
    if (!models.has(lag)) model.advanceTime((historySeconds - lag) * 1000);
    models.set(lag, model);
    return model;
  };
  const nodes: Simulator[] = [];
  for (let index = 0; index < count; index += 1) {
    nodes.push(await startTestSimulator({ model: modelOf(lagSeconds[index] ?? 0), compresses: false }));
  }
  const lines: string[] = [];
  const log = pino(
    { base: null, timestamp: false },
    { write: (line: string) => void lines.push(JSON.parse(line).msg) },
  );
  const createSource = (): Network => {
    const created = createNetwork('test', () => now);
    atEnd(() => created.close());
    return created;
  };
  let network = createSource();
  const engine = createEngine<PollJob>({
    source: {
      document: async (...request) => network.document(...request),
      query: async (...request) => network.query(...request),
    },
    now: () => now,
    sinks: [createPollLog(log), ...sinks],
  });
  const jobFor = (urls: readonly string[]): PollJob => {
    const list = urls.map((url) => `{url: "${url}"}`).join(', ');
    const nodeSettings = isUrl ? `url: "${urls[0]}"` : `nodes: [${list}]`;
    const config = parseValidConfig(
      `poll: {timeout: ${timeout}}\nproblems: ${problems}\ntargets: [{name: a, bridge: {${nodeSettings}, ${settings}}}]`,
    );
    const [job] = createJobs(config);
    if (job === undefined) throw new Error('the configuration has an endpoint');
    return job;
  };
  let job = jobFor(nodes.map(({ url }) => url));
  const reference = withReference ? await startTestSimulator({ model: modelOf(0), compresses: false }) : undefined;
  const referenceJobs = reference === undefined ? [] : [jobFor([reference.url])];
  const alone = referenceJobs.map((each) => ({ ...each, context: { ...each.context, target: 'reference' } }));
  const endpointOf = (each: PollJob) => ({
    job: each,
    state: { ...initialState(each.context, now.at), queries: enabledQueries(each.context) },
  });
  engine.replace([job, ...alone].map(endpointOf));
  const stateAt = (index: number) => (): EndpointState => {
    const endpoint = engine.endpoints()[index];
    if (endpoint === undefined) throw new Error('there is no such endpoint');
    return endpoint.state;
  };
  const state = stateAt(0);
  let polls = 0;

  function advance(seconds: number): void {
    now = { ...now, at: now.at + seconds };
    for (const model of models.values()) model.advanceTime(seconds * 1000);
  }

  /** The letter of the node in use. */
  const inUse = (): string => 'ABC'[state().nodes?.findIndex((node) => node.isInUse) ?? -1] ?? '';

  return {
    nodes,
    lines,
    state,
    /** The endpoint that polls one node alone. */
    reference: stateAt(1),
    inUse,
    now: () => now,
    /** Lets time pass without polls. */
    advance,
    /** Continues in another process, after some time, with what a state file has. */
    restart: (seconds = 0) => {
      const memory = parsePlainData(formatPlainData(createMemory(state()))) as EndpointMemory;
      network = createSource();
      advance(seconds);
      const { state: initial } = endpointOf(job);
      engine.replace([{ job, state: withMemory(initial, memory) }]);
    },
    source: (index: number) => new URL(nodes[index]?.url ?? '').host,
    /** Applies a list of nodes, as a reload does. */
    reload: (urls: readonly string[]) => {
      job = jobFor(urls);
      engine.replace([{ job, state: state() }]);
    },
    /** Polls once, after some time. */
    poll: async (seconds = INTERVAL_SECONDS): Promise<EndpointState> => {
      polls += 1;
      advance(seconds);
      if (polls % 2 === 0 || seconds >= 60) await network.probe(job);
      for (const each of [job, ...alone]) {
        const { settled } = await engine.poll(each);
        await settled;
      }
      return state();
    },
    metrics: () =>
      renderedPollFamilies(state())
        .map(({ text }) => text)
        .join('')
        .split('\n')
        .filter((line) => line.startsWith('bridge_exporter_node_')),
  };
}

export type PolledNodes = Awaited<ReturnType<typeof startPolledNodes>>;

/** Polls this often, and returns the letter of the node in use after each poll, with a star where the poll has failed. */
export async function pollTimes(polled: PolledNodes, times: number, seconds = INTERVAL_SECONDS): Promise<string> {
  let letters = '';
  for (let index = 0; index < times; index += 1) {
    const { lastPoll } = await polled.poll(seconds);
    letters += polled.inUse() + (lastPoll?.ok === true ? '' : '*');
  }
  return letters;
}
