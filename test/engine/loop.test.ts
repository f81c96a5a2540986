import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino, type Logger } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { judgeTargets } from '../../src/engine/target-problems.js';
import { createPollLoop, type PollLoop } from '../../src/engine/loop.js';
import type { Moment } from '../../src/clock.js';
import { failure } from '../../src/http/failure-reasons.js';
import type { NodeQuery, QueryRequest, QueryResult, QueryStates } from '../../src/queries/query.js';
import { knownValidators, validators } from '../../src/queries/validator-queries.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import type { DocumentRequest } from '../../src/engine/source.js';
import type { Received } from '../../src/engine/source.js';
import { idleState } from '../items/bridge-state.js';
import { parseValidConfig } from '../support/config.js';
import { failedFetch, fetchedBody } from '../support/polls.js';

const STARTED_AT: Moment = { at: 1_800_000_000, clockOffset: 0 };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A poll whose response a test sends. */
interface StartedPoll {
  readonly job: PollJob;
  readonly input: DocumentRequest;
  readonly end: (fetched: Received) => void;
}

/** The node serves only the document. */
const REFUSED: QueryResult = { ...failure('status', 'refused'), isRefused: true };

const started: StartedPoll[] = [];
const startedNames: { readonly job: PollJob; readonly end: (result: QueryResult) => void }[] = [];
const logged: string[] = [];
let loop: PollLoop;
let elapsedMs = 0;

const now = (): Moment => ({ at: STARTED_AT.at + elapsedMs / 1000, clockOffset: 0 });

function logOf(lines: string[]): Logger {
  return pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
}

beforeEach(() => {
  vi.useFakeTimers();
  elapsedMs = 0;
  for (const list of [started, startedNames, logged]) list.length = 0;
  const source = {
    document: async (job: PollJob, input: DocumentRequest) =>
      new Promise<Received>((end) => void started.push({ job, input, end })),
    query: async (job: PollJob, query: NodeQuery, request: QueryRequest) => {
      const result =
        query.name === validators.name
          ? await new Promise<QueryResult>((end) => void startedNames.push({ job, end }))
          : REFUSED;
      return { request, height: undefined, result };
    },
  };
  loop = createPollLoop({ source, log: logOf(logged), now });
});

afterEach(() => {
  loop.close();
  vi.useRealTimers();
});

/** Applies a configuration with one target for each name; `rest` is more of each bridge. */
async function configure(names: readonly string[], rest = '', poll = 'interval: 1h', staleAfter = '2h') {
  const targets = names.map((name) => `{name: ${name}, bridge: {url: "https://${name}.example"${rest}}}`);
  await configureYaml(`poll: {stale_after: ${staleAfter}, ${poll}}\ntargets: [${targets.join(', ')}]`);
}

async function configureYaml(yaml: string): Promise<void> {
  const config = parseValidConfig(yaml);
  loop.reconcile(createJobs(config), now().at);
  await vi.advanceTimersByTimeAsync(1);
}

/** A document is read and its step is taken in several turns of the event loop. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}

/** Ends the last poll that has started. */
async function endPoll(fetched: Received): Promise<void> {
  started.at(-1)?.end(fetched);
  await settle();
}

async function endNames(result: QueryResult): Promise<void> {
  startedNames.at(-1)?.end(result);
  await settle();
}

/** The interval passes. */
async function nextPoll(): Promise<void> {
  elapsedMs += HOUR_MS;
  await vi.advanceTimersByTimeAsync(HOUR_MS);
}

const NEUTRAL = { dialect: 'neutral', path: '/bridge/v1/module_state' };
const received = (body: string): Received =>
  fetchedBody({
    bytes: Buffer.from(body),
    source: '/x',
    height: '1000',
    receivedAt: now().at,
    servedPath: NEUTRAL,
  });
const success = (bodyBytes = 0): Received => received(JSON.stringify({ state: idleState }).padEnd(bodyBytes));
const FAILURE = failedFetch('timeout', '/x: slow');

const polledTargets = () => started.map(({ job }) => job.context.target);
const pollCounts = () => loop.states().map(({ target, polls }) => [target, polls]);
const alerts = () => judgeTargets(loop.states(), now()).flatMap(({ problems }) => problems.map(({ alert }) => alert));

describe('the endpoints of a configuration', () => {
  it('are polled again one after the other, spread over the interval', async () => {
    await configure(['a', 'b', 'c', 'd']);
    for (const { end } of started.splice(0)) {
      end(FAILURE);
      await settle();
    }
    const secondPolls: string[][] = [];
    for (let quarter = 0; quarter < 4; quarter += 1) {
      await vi.advanceTimersByTimeAsync(HOUR_MS / 4);
      secondPolls.push(polledTargets());
      started.length = 0;
    }
    expect(secondPolls).toEqual([['d'], ['c'], ['b'], ['a']]);
  });

  it('have the same array of states until one of them changes', async () => {
    await configure(['a']);
    const states = loop.states();
    expect(loop.states()).toBe(states);
    await endPoll(success());
    expect(loop.states()).not.toBe(states);
  });

  it('are polled again at the path that worked last', async () => {
    await configure(['a']);
    await endPoll(success());
    await nextPoll();
    await endPoll(FAILURE);
    await nextPoll();
    expect(started.map(({ input }) => input.servedPath?.dialect)).toEqual([undefined, 'neutral', 'neutral']);
  });
});

it('no endpoint is polled after the loop is closed', async () => {
  await configure(['a', 'b']);
  await endPoll(success());
  loop.close();
  await nextPoll();
  expect(started).toHaveLength(2);
  expect(vi.getTimerCount()).toBe(0);
});

describe('a response with Retry-After', () => {
  const throttled = (retryAfterMs: number): Received => {
    const { ok, error } = failure('rate_limited', '/x: responded with status 429');
    return { ok, error: { ...error, retryAfterMs } };
  };

  it.each([
    ['as long as it asks', 3 * MINUTE_MS, 3, '2h', '; the next poll is in 3m (Retry-After)'],
    ['at most half of stale_after', 5 * HOUR_MS, 4, '8m', '; the next poll is in 4m (Retry-After)'],
    ['at most half of what counts as not polled', 5 * HOUR_MS, 5, '2h', '; the next poll is in 5m (Retry-After)'],
    ['for the interval if that is longer', MINUTE_MS / 2, 1, '2h', ''],
  ])('delays the next poll %s, and says so', async (_title, retryAfterMs, minutes, staleAfter, said) => {
    await configure(['a'], '', 'interval: 1m', staleAfter);
    await endPoll(throttled(retryAfterMs));
    expect(logged).toEqual([`poll failed: /x: responded with status 429${said}`]);
    // The interval is up to 10 % shorter.
    await vi.advanceTimersByTimeAsync(minutes * MINUTE_MS - (said === '' ? 0.1 * MINUTE_MS : 0) - 10);
    expect(started).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(0.1 * MINUTE_MS + 20);
    expect(started).toHaveLength(2);
  });
});

describe('a reload', () => {
  it('continues the polls of unchanged endpoints, and starts and stops others', async () => {
    await configure(['a', 'b']);
    await configure(['b', 'c']);
    expect(polledTargets()).toEqual(['a', 'b', 'c']);
    started[0]?.end(success());
    started[1]?.end(success());
    await settle();
    expect(pollCounts()).toEqual([
      ['b', 1],
      ['c', 0],
    ]);
  });

  it('polls at once and keeps what was found when the password changes', async () => {
    const auth = (password: string): string => `, basic_auth: {username: u, password: ${password}}`;
    await configure(['a'], auth('hunter2'));
    await endPoll(success());
    await configure(['a'], auth('hunter3'));
    expect(started).toHaveLength(2);
    expect(JSON.stringify(started[1]?.job.nodes[0]?.basic_auth)).toBe(
      JSON.stringify(started[0]?.job.nodes[0]?.basic_auth),
    );
    expect(started[1]?.job.nodes[0]?.basic_auth).not.toBe(started[0]?.job.nodes[0]?.basic_auth);
    expect(started[1]?.input.servedPath).toEqual(NEUTRAL);
    expect(pollCounts()).toEqual([['a', 1]]);
  });

  it('keeps what is remembered between polls, and nothing that is counted, when the URL changes', async () => {
    await configure(['a']);
    await endPoll(success());
    const firstPollAt = now().at;
    elapsedMs += 60_000;
    await configureYaml(`poll: {stale_after: 2h, interval: 1h}
targets: [{name: a, bridge: {url: "https://other.example"}}]`);
    expect(pollCounts()).toEqual([['a', 0]]);
    expect(loop.endpoints()[0]?.state.lastSuccess).toBeUndefined();
    expect(loop.endpoints()[0]?.state.restored?.past).toMatchObject({ at: firstPollAt });
    await endPoll(success());
    const { state } = loop.endpoints()[0] ?? {};
    expect(state?.problems.remembered.size).toBeGreaterThan(0);
    expect(state?.restored).toBeUndefined();
  });

  it('keeps its state when a node is added, moved or removed, as long as one node stays', async () => {
    const nodes = (...hosts: readonly string[]) =>
      `targets: [{name: a, bridge: {nodes: [${hosts.map((host) => `{url: "https://${host}.example"}`).join(', ')}]}}]`;
    await configure(['a']);
    await endPoll(success());
    for (const hosts of [['b', 'a'], ['a', 'b', 'c'], ['c', 'b'], ['b']]) {
      await configureYaml(nodes(...hosts));
      expect(started.at(-1)?.job.nodes.map(({ url }) => url.origin)).toEqual(
        hosts.map((host) => `https://${host}.example`),
      );
      expect(pollCounts(), hosts.join()).toEqual([['a', 1]]);
    }
    await configureYaml(nodes('d', 'e'));
    expect(pollCounts()).toEqual([['a', 0]]);
  });

  it('has no nodes any more when one of several stays', async () => {
    await configureYaml(
      'targets: [{name: a, bridge: {nodes: [{url: "https://a.example"}, {url: "https://b.example"}]}}]',
    );
    const nodes = [
      { source: 'a.example', isInUse: true },
      { source: 'b.example', isInUse: false },
    ];
    await endPoll({ ...success(), nodes });
    expect(loop.states()[0]?.nodes).toEqual(nodes);
    await configure(['a']);
    expect(loop.states()[0]?.nodes).toBeUndefined();
  });

  it('probes the nodes of an endpoint with several nodes every minute, after its first poll', async () => {
    const probed: string[] = [];
    const source = {
      document: async (job: PollJob, input: DocumentRequest) =>
        new Promise<Received>((end) => void started.push({ job, input, end })),
      probe: async (job: PollJob) => {
        probed.push(job.context.target);
      },
    };
    const probing = createPollLoop({ source, log: logOf(logged), now });
    const config = parseValidConfig(`targets:
  - {name: one, bridge: {url: "https://a.example"}}
  - {name: two, bridge: {nodes: [{url: "https://a.example"}, {url: "https://b.example"}]}}`);
    probing.reconcile(createJobs(config), now().at);
    await vi.advanceTimersByTimeAsync(1);
    expect(probed).toEqual([]);
    for (const { end } of started) end(FAILURE);
    await settle();
    await vi.advanceTimersByTimeAsync(1);
    expect(probed).toEqual(['two']);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(probed).toEqual(['two', 'two']);
    probing.close();
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    expect(probed).toHaveLength(2);
  });

  it('keeps what is remembered also when the URL changes twice without a poll in between', async () => {
    await configure(['a']);
    await endPoll(success());
    const [polled] = loop.endpoints();
    for (const host of ['typo', 'other']) {
      await configureYaml(`targets: [{name: a, bridge: {url: "https://${host}.example"}}]`);
    }
    const { state } = loop.endpoints()[0] ?? {};
    expect(state?.restored?.past).toMatchObject({ at: now().at });
    expect(new Set(state?.problems.remembered.keys())).toEqual(new Set(polled?.state.problems.remembered.keys()));
    expect(state?.problems.remembered.size).toBeGreaterThan(0);
  });

  it('discards the result of a poll with the previous settings', async () => {
    await configure(['a']);
    await configure(['a'], ', power_threshold: 0.5');
    started[0]?.end(success());
    await settle();
    expect(pollCounts()).toEqual([['a', 0]]);
    started[1]?.end(success());
    await settle();
    expect(pollCounts()).toEqual([['a', 1]]);
  });

  it('keeps the states, the problems and the start of an endpoint whose interval changes', async () => {
    await configure(['a']);
    await endPoll(FAILURE);
    const [before] = loop.endpoints();
    elapsedMs += 60_000;
    await configure(['a'], '', 'interval: 30m');
    expect(loop.endpoints()[0]?.state).toEqual(before?.state);
  });

  it.each([
    ['the URL', 'name: a, bridge: {url: "https://other.example"}'],
    ['the dialect', 'name: a, bridge: {url: "https://a.example", dialect: neutral}'],
    ['a label', 'name: a, labels: {network: mainnet}, bridge: {url: "https://a.example"}'],
    ['the limit of series', 'name: a, bridge: {url: "https://a.example"}', 'limits: {max_series_per_family: 100}'],
  ])('forgets what was found when %s changes', async (_what, target, limits = '') => {
    await configure(['a']);
    await endPoll(success());
    elapsedMs += 60_000;
    await configureYaml(`${limits}\ntargets: [{${target}}]`);
    expect(loop.endpoints()[0]).toMatchObject({ state: { addedAt: now().at, polls: 0 } });
    expect(loop.states()[0]?.lastSuccess).toBeUndefined();
  });

  it('judges the size of the last response by the new limit, before the next poll has ended', async () => {
    await configure(['a'], '', 'interval: 1m, max_body_size: 4MiB');
    for (let minute = 1; minute <= 7; minute += 1) {
      await endPoll(success(3.5 * 2 ** 20));
      elapsedMs = minute * 60_000;
      await vi.advanceTimersByTimeAsync(70_000);
    }
    expect(alerts()).toContain('BridgeResponseNearLimit');
    await configure(['a'], '', 'interval: 1m, max_body_size: 64MiB');
    expect(pollCounts()).toEqual([['a', 7]]);
    expect(alerts()).not.toContain('BridgeResponseNearLimit');
  });
});

describe('the names of validators', () => {
  const named = (name: string): QueryResult => ({
    ok: true,
    value: { names: new Map([['qqqq', name]]), contacts: new Map(), operators: new Map() },
  });
  const queries = (): QueryStates => loop.states()[0]?.queries ?? new Map();
  /** The name with which the last document was derived. */
  const usedName = (): string | undefined => {
    const { additionalInput = {} } = loop.states()[0]?.lastSuccess?.snapshot.kept?.context ?? {};
    return 'names' in additionalInput ? additionalInput.names.get('qqqq') : undefined;
  };

  it('are read after a successful poll, at most once an hour, and sent with the next poll', async () => {
    await configure(['a'], '', 'interval: 10m');
    await endPoll(FAILURE);
    expect(startedNames).toHaveLength(0);
    const names: (string | undefined)[] = [];
    for (let minute = 10; minute <= 60; minute += 10) {
      elapsedMs = minute * 60_000;
      await vi.advanceTimersByTimeAsync(11 * 60_000);
      await endPoll(success());
      if (minute === 10) await endNames(named('Alpha'));
      names.push(usedName());
    }
    expect(startedNames).toHaveLength(1);
    // The first document steps again with them.
    expect(names).toEqual(['Alpha', 'Alpha', 'Alpha', 'Alpha', 'Alpha', 'Alpha']);
    elapsedMs = 70 * 60_000;
    await vi.advanceTimersByTimeAsync(11 * 60_000);
    await endPoll(success());
    expect(startedNames.map(({ job }) => job.nodes[0]?.url.origin)).toEqual(['https://a.example', 'https://a.example']);
  });

  it('are kept by a reload, unless the address of the node changes or they are switched off', async () => {
    await configure(['a']);
    await endPoll(success());
    await endNames(named('Alpha'));
    await configure(['a'], ', power_threshold: 0.5');
    await endPoll(success());
    expect(usedName()).toBe('Alpha');
    await configure(['a'], ', validator_names: "off"');
    await endPoll(success());
    expect(usedName()).toBeUndefined();
    await configure(['a'], ', power_threshold: 0.5');
    await endPoll(success());
    expect(usedName()).toBeUndefined();
    expect(startedNames).toHaveLength(2);
  });

  it('are not those of an address that was replaced while they were being read', async () => {
    await configure(['a']);
    await endPoll(success());
    await configureYaml('targets: [{name: a, bridge: {url: "https://other.example"}}]');
    await endNames(named('of the previous node'));
    expect(knownValidators(queries()).names.size).toBe(0);
  });
});
