import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Moment } from '../../src/clock.js';
import { createEngine, createEndpoint } from '../../src/engine/engine.js';
import { createJobs, type PollJob } from '../../src/engine/jobs.js';
import type { QueryExchange } from '../../src/queries/query.js';
import { createModel } from '../../src/simulator/model.js';
import { createNetwork } from '../../src/sources/network.js';
import { atEnd } from '../support/at-end.js';
import { parseValidConfig } from '../support/config.js';
import { withStatus } from '../support/faults.js';
import { startTestSimulator } from '../support/test-simulator.js';

const START_SECONDS = 1_790_000_000;
/** Five blocks of the external chain. */
const LAG_SECONDS = 60;

/** Two nodes of the external chain, of which the second one is behind, and one of the hub. */
async function startExternalNodes(lagSeconds: number) {
  let now: Moment = { at: START_SECONDS, clockOffset: 0 };
  const options = { seed: 1, scenario: 'quiet', startTime: START_SECONDS - LAG_SECONDS, blockTimeMs: 2000 } as const;
  const models = Array.from(new Set([0, lagSeconds]), (lag) => {
    const model = createModel(options);
    model.advanceTime((LAG_SECONDS - lag) * 1000);
    return model;
  });
  const [model = createModel(options), other = model] = models;
  const [first, second] = [
    await startTestSimulator({ model, compresses: false }),
    await startTestSimulator({ model: other, compresses: false }),
  ];
  const network = createNetwork('test', () => now);
  atEnd(() => network.close());
  const config = parseValidConfig(`targets:
  - name: a
    bridge:
      url: ${first.url}
      validator_names: "off"
      external: {nodes: [{url: "${first.url}/external"}, {url: "${second.url}/external"}]}`);
  const queries: Promise<QueryExchange>[] = [];
  const engine = createEngine<PollJob>({
    source: {
      ...network,
      query: async (...request) => {
        const exchange = network.query(...request);
        queries.push(exchange);
        // An answer comes after the document.
        now = { ...now, at: now.at + 0.01 };
        return exchange;
      },
    },
    now: () => now,
  });
  const jobs = createJobs(config);
  engine.replace(jobs.map((job) => createEndpoint(job, now.at)));

  return {
    first,
    state: () => engine.states()[1],
    /** Polls both documents after some time. Returns the block of the contract, and the reason of a failed poll. */
    poll: async (seconds = 30): Promise<readonly [block: number, reason: string | undefined]> => {
      now = { ...now, at: now.at + seconds };
      for (const each of models) each.advanceTime(seconds * 1000);
      for (const job of jobs) {
        const { settled } = await engine.poll(job);
        await settled;
      }
      await Promise.all(queries);
      await nextTurn();
      for (const job of jobs) {
        if (job.nodes.length > 1) await network.probe(job);
      }
      const state = engine.states()[1];
      const past = state?.lastSuccess?.snapshot.past;
      const block = past !== undefined && 'blockSeconds' in past ? Number(past.height) : 0;
      return [block, state?.lastPoll?.ok === true ? undefined : state?.lastFailure?.error.reason];
    },
  };
}

it('shows the older block of a node that takes the place of another one, with its time, and loses no poll', async () => {
  const { poll, first, state } = await startExternalNodes(LAG_SECONDS);
  await poll();
  const [newest] = await poll();
  first.fault('external_contract', withStatus(503));
  const after = [];
  for (let index = 0; index < 5; index += 1) after.push(await poll());
  expect(after.map(([, reason]) => reason)).toEqual(Array.from(after, () => undefined));
  const blocks = after.map(([block]) => block);
  expect(blocks[0]).toBeLessThan(newest);
  expect(blocks.at(-1)).toBeGreaterThan(newest);
  expect(state()?.nodes?.map(({ isInUse }) => isInUse)).toEqual([false, true]);
});
