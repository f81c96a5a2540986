import { expect, it } from 'vitest';
import type { Moment } from '../../src/clock.js';
import { createEngine } from '../../src/engine/engine.js';
import { initialState } from '../../src/engine/endpoint-state.js';
import { createJobs } from '../../src/engine/jobs.js';
import { enabledQueries } from '../../src/queries/node-queries.js';
import { createModel } from '../../src/simulator/model.js';
import { createNetwork } from '../../src/sources/network.js';
import { atEnd } from '../support/at-end.js';
import { parseValidConfig } from '../support/config.js';
import { withStatus } from '../support/faults.js';
import { startTestSimulator } from '../support/test-simulator.js';

const START_SECONDS = 1_790_000_000;
/** Five blocks of the external chain. */
const LAG_SECONDS = 60;

it('shows no older block of the contract after a switch, until the other node has reached the last one', async () => {
  let now: Moment = { at: START_SECONDS, clockOffset: 0 };
  const options = { seed: 1, scenario: 'healthy', startTime: START_SECONDS - 3600, blockTimeMs: 2000 } as const;
  const models = [0, LAG_SECONDS].map((lag) => {
    const model = createModel(options);
    model.advanceTime((3600 - lag) * 1000);
    return model;
  });
  const [first, second] = await Promise.all(models.map(async (model) => startTestSimulator({ model })));
  const network = createNetwork('test', () => now);
  atEnd(() => network.close());
  const config = parseValidConfig(`targets:
  - name: a
    bridge:
      url: ${first?.url}
      validator_names: "off"
      external: {nodes: [{url: "${first?.url}/external"}, {url: "${second?.url}/external"}]}`);
  const engine = createEngine({ source: network, now: () => now });
  const jobs = createJobs(config);
  engine.replace(
    jobs.map((job) => ({ job, state: { ...initialState(job.context, now.at), queries: enabledQueries(job.context) } })),
  );

  /** Polls both documents after 30 seconds. Returns the block of the contract, and the reason of a failed poll. */
  async function poll(): Promise<readonly [block: number, reason: string | undefined]> {
    now = { ...now, at: now.at + 30 };
    for (const model of models) model.advanceTime(30_000);
    for (const job of jobs) {
      // oxlint-disable-next-line no-await-in-loop -- the module state says where the contract is
      const { settled } = await engine.poll(job);
      // oxlint-disable-next-line no-await-in-loop -- as above
      await settled;
    }
    const contract = jobs.find(({ hubNodes }) => hubNodes !== undefined);
    if (contract !== undefined) await engine.probe(contract);
    const state = engine.states()[1];
    const past = state?.lastSuccess?.snapshot.past;
    const block = past !== undefined && 'blockSeconds' in past ? Number(past.height) : 0;
    return [block, state?.lastPoll?.ok === true ? undefined : state?.lastFailure?.error.reason];
  }

  const before = [await poll(), await poll()];
  expect(before.map(([, reason]) => reason)).toEqual([undefined, undefined]);
  first?.fault('external_contract', withStatus(503));
  const after = [];
  // oxlint-disable-next-line no-await-in-loop -- one poll after the other
  for (let index = 0; index < 5; index += 1) after.push(await poll());
  const blocks = [...before, ...after].map(([block]) => block);
  expect(blocks).toEqual(blocks.toSorted((a, b) => a - b));
  expect(after.map(([, reason]) => reason)).toEqual(['regression', undefined, undefined, undefined, undefined]);
  expect(blocks.at(-1)).toBeGreaterThan(blocks[1] ?? 0);
  expect(engine.states()[1]?.nodes?.map(({ isInUse }) => isInUse)).toEqual([false, true]);
});
