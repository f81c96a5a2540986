import { performance } from 'node:perf_hooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EndpointState } from '../../src/engine/endpoint-state.js';
import { createEndpoint, createEngine, type Engine } from '../../src/engine/engine.js';
import type { EndpointJob, ReceivedDocument } from '../../src/engine/source.js';
import { START } from '../support/polls.js';
import { sampleModel } from '../support/sample-endpoints.js';
import { bridgeContext, crosschainContext } from '../support/snapshots.js';

/* A large document is read and stepped in parts, and scrapes are answered between them. */

const MIN_BYTES_IN_PARTS = 4 * 2 ** 20;

const model = sampleModel();
const contexts = {
  module_state: [bridgeContext(), model.moduleState()],
  rate_limiter_input: [crosschainContext(), model.rateLimiterInput({ window: 500n })],
} as const;
type Kind = keyof typeof contexts;

/** An engine whose node sends a document, with white space up to a size. */
function startEngine(kind: Kind, bytes: number) {
  const [context, json] = contexts[kind];
  const job: EndpointJob = { context };
  const body = Buffer.from(JSON.stringify(json).padEnd(bytes));
  const received: ReceivedDocument = {
    ok: true,
    bytes: body,
    source: 'a',
    height: '7',
    receivedAt: START.at,
    seconds: 2,
  };
  const engine = createEngine({ source: { document: async () => received }, now: () => START });
  engine.replace([createEndpoint(job, START.at)]);
  return { engine, job };
}

/** Runs a task, and counts the turns of the event loop in which a scrape would get the state before it. */
async function countTurns(engine: Engine<EndpointJob>, task: Promise<unknown>, inTurn = (_turns: number) => {}) {
  const before = engine.states()[0];
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    if (isDone || engine.states()[0] !== before) return;
    turns += 1;
    inTurn(turns);
    setImmediate(count);
  };
  setImmediate(count);
  await task;
  isDone = true;
  return turns;
}

/** What a poll has found, without the body and durations. */
function foundIn({ lastSuccess, problems }: EndpointState) {
  if (lastSuccess === undefined) throw new Error('the poll was successful');
  const { kept: _kept, ...snapshot } = lastSuccess.snapshot;
  return { snapshot, problems };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(Object.keys(contexts) as Kind[])('a poll of %s', (kind) => {
  it('of 4 MB yields to scrapes after each part', async () => {
    const { engine, job } = startEngine(kind, MIN_BYTES_IN_PARTS);
    const turns = await countTurns(engine, engine.poll(job));
    const [state] = engine.states();
    // Families and problems are parts of their own.
    expect(turns).toBeGreaterThan(state?.lastSuccess?.snapshot.renderedFamilies.length ?? Infinity);
  });

  it('of less yields once, and finds the same', async () => {
    const large = startEngine(kind, MIN_BYTES_IN_PARTS);
    const small = startEngine(kind, 0);
    await large.engine.poll(large.job);
    expect(await countTurns(small.engine, small.engine.poll(small.job))).toBeLessThan(3);
    const [found, expected] = [large, small].map(({ engine }) => engine.states().map(foundIn));
    expect(found).toEqual(expected);
  });

  it('measures its parts, without the scrapes between them', async () => {
    const { engine, job } = startEngine(kind, MIN_BYTES_IN_PARTS);
    let elapsedMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
    await countTurns(engine, engine.poll(job), () => {
      elapsedMs += 1000;
    });
    expect(elapsedMs).toBeGreaterThan(0);
    expect(engine.states()[0]?.lastPoll?.phaseSeconds).toEqual({ fetch: 2, decode: 0, derive: 0 });
  });

  it('changes nothing if the endpoint is removed between the parts', async () => {
    const { engine, job } = startEngine(kind, MIN_BYTES_IN_PARTS);
    await countTurns(engine, engine.poll(job), (turns) => {
      if (turns === 10) engine.replace([]);
    });
    expect(engine.states()).toEqual([]);
  });
});
