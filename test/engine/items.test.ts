import { describe, expect, it } from 'vitest';
import { initialState, type EndpointState } from '../../src/engine/endpoint-state.js';
import { getItems, prepareItems } from '../../src/engine/poll-body.js';
import type { PollResult } from '../../src/engine/step.js';
import { bridgeContext, bridgePoll } from '../support/snapshots.js';
import { START } from '../support/polls.js';
import { step } from '../support/steps.js';

const CONTEXT = bridgeContext();
const coin = { contract: '0xaa', amount: '7' };
const POLL = bridgePoll({ unbatched_transfers: [{ id: '1', erc20_token: coin, erc20_fee: coin }], batches: [] });

function stateAfter(poll: PollResult): EndpointState {
  const state = initialState(CONTEXT, START.at);
  return step(state, poll, CONTEXT, START);
}

function snapshotIn({ lastSuccess }: EndpointState) {
  if (lastSuccess === undefined) throw new Error('the poll was successful');
  return lastSuccess.snapshot;
}

describe('the items of a document', () => {
  it('are derived once from its kept body', async () => {
    const state = stateAfter(POLL);
    await prepareItems([state]);
    const items = getItems(snapshotIn(state));
    expect(items).toMatchObject({ transfers: { total: 1, rows: [{ id: '1' }] } });
    expect(getItems(snapshotIn(state))).toBe(items);
  });

  it('are those of the last successful poll also after a failed one', () => {
    const state = stateAfter(POLL);
    const failed: PollResult = {
      outcome: { ok: false, error: { reason: 'timeout', message: 'slow' } },
      phaseSeconds: {},
    };
    const after = step(state, failed, CONTEXT, START);
    expect(getItems(snapshotIn(after))).toBe(getItems(snapshotIn(state)));
  });
});
