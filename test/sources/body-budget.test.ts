import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createEndpoint, createEngine } from '../../src/engine/engine.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import { createBodyBudget, createNetwork } from '../../src/sources/network.js';
import { startNode } from '../http/nodes.js';
import { atEnd } from '../support/at-end.js';
import { clock } from '../support/clock.js';
import { parseValidConfig } from '../support/config.js';
import { readerOf } from '../support/polls.js';
import { waitUntil } from '../support/wait-for.js';

const MIB = 2 ** 20;

describe('the memory of bodies', () => {
  it('is reserved before a request, of which at most 16 are sent at first', async () => {
    const held: ServerResponse[] = [];
    const { url } = await startNode({ respond: (_request, response) => void held.push(response) });
    const poll = pollsOf(`{url: "${url}"}`, 100);
    const received = poll.jobs.map(async (job) => poll.document(job));
    await waitUntil(() => held.length >= 16);
    await sleep(200);
    expect(held).toHaveLength(16);
    // Each request that ends lets another one begin.
    for (let index = 0; index < 100; index += 1) {
      await waitUntil(() => held.length > index);
      held[index]?.end('{"params":{}}');
    }
    expect(await Promise.all(received)).toHaveLength(100);
  });

  it('is not taken by nodes that hang for longer than the timeout of a poll', async () => {
    const { url } = await startNode({
      respond: (request, response) => {
        if (!request.url?.startsWith('/hang')) response.end('{"params":{}}');
      },
    });
    const hanging = pollsOf(`{url: "${url}/hang"}`, 20);
    const others = pollsOf(`{url: "${url}"}`, 80, hanging.network);
    let ended = 0;
    const all = hanging.jobs.map(async (job) => hanging.document(job).finally(() => (ended += 1)));
    const served = await Promise.all(others.jobs.map(async (job) => others.document(job)));
    expect(served.filter(({ ok }) => ok)).toHaveLength(80);
    expect(ended).toBeLessThan(20);
    await Promise.all(all);
  });

  it('is free after any poll, also of several nodes of which one sends something else and one nothing', async () => {
    const { url } = await startNode({
      respond: (request, response) => {
        if (request.url?.startsWith('/page') === true) response.end('x'.repeat(900_000));
        else response.destroy();
      },
    });
    const { network, jobs } = pollsOf(`{nodes: [{url: "${url}/page"}, {url: "${url}/broken"}]}`, 40);
    const engine = createEngine<PollJob>({ source: network, now: clock });
    engine.replace(jobs.map((job) => createEndpoint(job, clock().at)));
    for (const job of jobs) await engine.poll(job);
    expect(engine.states().map(({ lastFailure }) => lastFailure?.error.message)).toEqual(
      jobs.map(() => expect.stringMatching(/^all nodes failed: /)),
    );
  });

  it('is that of a quarter of the maximum, then of the last body and a quarter of it, and at most the maximum', async () => {
    const started = async (last: number | undefined): Promise<number> => {
      const reserve = createBodyBudget();
      let count = 0;
      for (let index = 0; index < 100; index += 1) void reserve(last, 10 * MIB).then(() => (count += 1));
      await new Promise(setImmediate);
      return count;
    };
    expect(await started(undefined)).toBe(16);
    expect(await started(MIB)).toBe(32);
    expect(await started(9 * MIB)).toBe(4);
  });

  it('is of the size of a body that was received, until it is released, and is given in the order of the calls', async () => {
    const reserve = createBodyBudget();
    const begun: string[] = [];
    const settled = async (): Promise<readonly string[]> => {
      await new Promise(setImmediate);
      return begun;
    };
    const first = await reserve(undefined, 10 * MIB);
    first.resize(38 * MIB);
    const [second, third] = ['second', 'third'].map(async (name) => {
      const reservation = await reserve(name === 'second' ? 8 * MIB : 0, 10 * MIB);
      begun.push(name);
      return reservation;
    });
    expect(await settled()).toEqual([]);
    first.release();
    first.release();
    expect(await settled()).toEqual(['second', 'third']);
    (await second)?.release();
    (await third)?.release();
    // A body that is larger than the limit is received alone.
    const large = await reserve(50 * MIB, 1);
    large.release();
  });
});

/** Polls of targets with these nodes: each one releases its memory as the engine does. */
function pollsOf(nodes: string, count: number, network = createNetwork('test', clock)) {
  atEnd(() => network.close());
  const targets = Array.from({ length: count }, (_, index) => `  - {name: t${index}, bridge: ${nodes}}`);
  const jobs = createJobs(parseValidConfig(`poll: {timeout: 4s}\ntargets:\n${targets.join('\n')}`));
  const document = async (job: PollJob) => {
    const received = await network.document(job, {}, readerOf(job));
    received.release?.();
    return received;
  };
  return { network, jobs, document };
}
