import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Moment } from '../../src/clock.js';
import type { Config } from '../../src/config/config.js';
import type { DocumentName } from '../../src/document-types.js';
import { initialState, type EndpointState } from '../../src/engine/endpoint-state.js';
import { answerOf, POLL_MS, startRecordedChain, useSimulatedTime } from '../recorder/every-poll.js';
import type { Fetch, Respond } from '../recorder/recorded-loop.js';
import { getItems } from '../../src/engine/kept-body.js';
import { readPoll, step } from '../support/steps.js';

/*
 * What the daemon has found with some documents at some times is found again by the same steps without a daemon.
 */

useSimulatedTime();

/** A poll of the daemon: what was fetched, and what was known of the endpoint afterwards. */
interface Polled extends Fetch {
  readonly at: Moment;
  readonly after: EndpointState;
}

interface History {
  readonly config: Config;
  readonly directory: string;
  readonly polls: readonly Polled[];
}

/** Polls of a bridge, its contract and a rate limiter, some of which fail, and some of which are of a node that is behind. */
async function polledByDaemon(): Promise<History> {
  const { model, config, directory, daemon } = await startRecordedChain();
  const ok = answerOf(model);
  const none: Respond = () => undefined;
  const replaced =
    (body: string, height: number): Respond =>
    (document, input, at) => {
      const { call } = ok(document, input, at) ?? { call: undefined };
      return { body: Buffer.from(body), height, call };
    };
  const html = replaced('<html>', 1);
  const behind: Respond = (document, input, at) => {
    const answer = ok(document, input, at);
    return document === 'module_state' ? answer && { ...answer, height: 9 } : answer;
  };
  const invalid: Respond = (document, input, at) => {
    const answer = ok(document, input, at);
    const body =
      answer?.body.toString().replaceAll('"height":"', '"height":"x').replaceAll('PendingOutbound', 'New') ?? '';
    return document === 'external_contract' ? answer : answer && { ...answer, body: Buffer.from(body) };
  };
  const polls: Polled[] = [];
  for (const answer of [ok, ok, none, ok, html, ok, behind, behind, ok, invalid, ok, behind, behind, behind, ok, ok]) {
    if (polls.length > 12) model.setScenario('stuck');
    const known = daemon.fetches.length;
    // oxlint-disable-next-line no-await-in-loop -- polls follow each other
    await daemon.poll(answer);
    const endpoints = daemon.loop.endpoints();
    for (const fetch of daemon.fetches.slice(known)) {
      const after = endpoints.find(({ job }) => job === fetch.job)?.state;
      if (after?.lastPoll === undefined) throw new Error('the step of the poll was not taken');
      polls.push({ ...fetch, at: { at: after.lastPoll.at, clockOffset: daemon.now().clockOffset }, after });
    }
    daemon.advance(POLL_MS);
    model.advanceTime(POLL_MS);
  }
  await daemon.close();
  return { config, directory, polls };
}

/** What was found, without the times of the polls. */
const foundIn = ({ lastSuccess, lastPoll, lastFailure, ...state }: EndpointState) => ({
  snapshot: lastSuccess && { ...lastSuccess.snapshot, kept: undefined },
  items: lastSuccess && getItems(lastSuccess.snapshot),
  servedPath: lastSuccess?.servedPath,
  ok: lastPoll?.ok,
  error: lastFailure?.error,
  problems: state.problems,
  counters: [state.polls, state.failures, state.regressions, state.invalidValues, state.unknownValues],
});

/** `structuredClone` for states, which have functions. */
function copyOf(value: unknown): unknown {
  if (value instanceof Map) return new Map(Array.from(value, ([key, entry]) => [key, copyOf(entry)]));
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null || value instanceof Set) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copyOf(entry)]));
}

/** `toEqual`, which takes seconds for all states. */
function expectEqual(value: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(value, expected)) expect(value).toEqual(expected);
}

describe('what the daemon has found by its polls', () => {
  it('is found by the same steps without a daemon, which change nothing but what they return', async () => {
    const { polls } = await polledByDaemon();
    const endpoints = new Map<DocumentName, EndpointState>();
    for (const { job, received, at, after } of polls) {
      const { context } = job;
      // The first document steps with the answers to the queries sent with it.
      const before = endpoints.get(context.document) ?? {
        ...initialState(context, after.addedAt),
        queries: after.queries,
      };
      const copy = copyOf(before);
      const { additionalInput } = after.lastSuccess?.snapshot ?? {};
      const poll = readPoll(received.ok ? { ...received, additionalInput } : received, context);
      const found = step(before, poll, context, at);
      expectEqual(copyOf(before), copy);
      expectEqual(step(before, poll, context, at), found);
      expectEqual(foundIn(found), foundIn(after));
      expect(found.lastSuccess?.at).toEqual(after.lastSuccess?.at);
      endpoints.set(context.document, { ...found, queries: after.queries });
    }
    // Documents of all kinds, and polls of all kinds.
    expect(endpoints.size).toBe(3);
    expect(endpoints.get('module_state')).toMatchObject({
      polls: 16,
      regressions: 5,
      failures: { timeout: 1, not_json: 1, regression: 4 },
    });
    expect(endpoints.get('module_state')?.invalidValues.size).toBeGreaterThan(1);
    expect(endpoints.get('rate_limiter_input')?.unknownValues.size).toBe(1);
  });
});
