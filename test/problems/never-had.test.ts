import { describe, expect, it } from 'vitest';
import { initialState } from '../../src/engine/endpoint-state.js';
import { batch, idleState, transfer, vote } from '../items/bridge-state.js';
import { bridgeContext, bridgePoll } from '../support/snapshots.js';
import { step } from '../support/steps.js';

const START_SECONDS = 1_700_000_000;
const MINUTES = 60;

/** The names of the problems that are unjudged after any of these documents, which follow each other by a minute. */
function unjudgedIn(documents: readonly object[]): readonly string[] {
  const context = bridgeContext({ block_time: 2000 });
  let state = initialState(context, START_SECONDS);
  const names = documents.flatMap((document, minute) => {
    const poll = bridgePoll(document, { atMs: minute * 60_000 });
    state = step(state, poll, context, { at: START_SECONDS + minute * 60, clockOffset: 0 });
    return state.lastSuccess?.snapshot.judgement.unjudged.map(({ problem: { name } }) => name) ?? [];
  });
  return Array.from(new Set(names)).toSorted();
}

/** A node without a height, and older than the last validator set of the contract and the list of blocked addresses. */
const older = Object.fromEntries(
  Object.entries(idleState).filter(([name]) => name !== 'last_observed_valset' && name !== 'external_blacklist'),
);

/** Batches, transfers and a pending event are there for 15 minutes, and none for as long. */
const documents = Array.from({ length: MINUTES }, (_, minute) => {
  if (minute % 30 < 15) return { ...older, batches: [], unbatched_transfers: [] };
  const claim = {
    observed: false,
    height: '500',
    votes: [vote(0)],
    claim: { '@type': '/b.MsgDepositClaim', event_nonce: '8' },
  };
  return {
    ...older,
    batches: [batch('8', '600', '500')],
    unbatched_transfers: [transfer('1')],
    attestations: [...idleState.attestations, claim],
  };
});

describe('a field that no document of a node has had', () => {
  it.each(['orchestrator_addresses', 'valsets'])(
    'makes no problem unjudged, also not one that reads it only while something waits: %s',
    (missing) => {
      const without = (state: object) => Object.fromEntries(Object.entries(state).filter(([name]) => name !== missing));
      expect(unjudgedIn(documents.map(without))).toEqual([]);
    },
  );

  it('hides neither a field that the node had before, nor one that is missing in a row', () => {
    const after = (change: object) =>
      unjudgedIn(documents.map((own, minute) => (minute < 40 ? own : { ...own, ...change })));
    expect(after({ orchestrator_addresses: null })).toContain('BridgeOracleStalled');
    expect(after({ unbatched_transfers: [{ id: '9' }] })).not.toEqual([]);
  });
});
