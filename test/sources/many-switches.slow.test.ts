import { expect, it } from 'vitest';
import { isDocument, type EndpointState } from '../../src/engine/endpoint-state.js';
import { reset } from '../support/faults.js';
import { startPolledNodes, type PolledNodes } from './polled-nodes.js';

/* A switch every 20 polls, compared with the books of the simulator and with an endpoint that polls one node alone. */

const POLLS_PER_SWITCH = 20;

const flowOf = ({ lastSuccess }: EndpointState) => {
  const snapshot = lastSuccess?.snapshot;
  return isDocument('module_state', snapshot) ? snapshot.flow : undefined;
};

const executedIn = (state: EndpointState) =>
  (['batchesExecuted', 'transfersExecuted'] as const).map((name) =>
    Array.from(flowOf(state)?.tokens.values() ?? []).reduce((sum, counts) => sum + counts[name], 0),
  );

/** What the chain of the first node has executed. */
const booksOf = ({ nodes }: PolledNodes) =>
  ['batches_executed ', 'transfers_executed '].map((name) =>
    Array.from(nodes[0]?.model.counts ?? []).reduce(
      (sum, [key, count]) => sum + (key.startsWith(name) ? Number(count) : 0),
      0,
    ),
  );

function failOnly({ nodes }: PolledNodes, failing: number): void {
  for (const [index, node] of nodes.entries()) node.fault('module_state', index === failing ? reset : undefined);
}

it.each([
  ['both are at the same height', 0, 200],
  ['one of them is 50 blocks behind', 100, 400],
])(
  'counts nothing twice and loses two polls of a switch at most when the node changes every 20 polls and %s',
  async (_title, lag, polls) => {
    const polled = await startPolledNodes({ scenario: 'healthy', lagSeconds: [0, lag], withReference: true });
    let [highest, failed, longest] = [0, 0, 0];
    let first = [0, 0];
    for (let poll = 0; poll < polls; poll += 1) {
      if (poll % POLLS_PER_SWITCH === 0) failOnly(polled, (poll / POLLS_PER_SWITCH + 1) % 2);
      const { lastPoll, lastSuccess } = await polled.poll();
      if (poll === 0) first = booksOf(polled);
      const height = Number(lastSuccess?.snapshot.height ?? 0);
      // The third lower height is accepted.
      expect(height, `poll ${poll}`).toBeGreaterThanOrEqual(highest - lag / 2);
      highest = Math.max(highest, height);
      failed = lastPoll?.ok === true ? 0 : failed + 1;
      longest = Math.max(longest, failed);
    }
    expect(polled.state().nodeSwitches).toBe(polls / POLLS_PER_SWITCH - 1);
    expect(longest).toBeLessThanOrEqual(lag === 0 ? 0 : 2);
    // The last documents are of the node that is behind.
    failOnly(polled, 1);
    await polled.poll();
    const executed = booksOf(polled).map((count, index) => count - (first[index] ?? 0));
    expect(executed[0]).toBeGreaterThan(polls / 10);
    expect(executedIn(polled.state())).toEqual(executed);
    expect(executedIn(polled.reference())).toEqual(executed);
  },
);
