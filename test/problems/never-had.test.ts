import { describe, expect, it } from 'vitest';
import { initialState } from '../../src/engine/endpoint-state.js';
import { batch, idleState, transfer, vote } from '../items/bridge-state.js';
import { bridgeContext, bridgePoll } from '../support/snapshots.js';
import { step } from '../support/steps.js';
import { record } from './recording.js';

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

/** The rows with a null in one of them, which the number chooses. */
function withNullIn(rows: unknown, number: number): unknown {
  if (!Array.isArray(rows) || rows.length === 0) return rows;
  const index = number % rows.length;
  return rows.map((row: unknown, each) => {
    if (each !== index || typeof row !== 'object' || row === null) return row;
    const fields = Object.keys(row);
    return { ...row, [fields[number % fields.length] ?? '']: null };
  });
}

it('a node whose rows have nulls, in most documents and in another row each time, is told once in eight hours', () => {
  const begins: string[] = [];
  let [poll, firing] = [0, new Set<string>()];
  const respond = ({ state }: { state: object }) => {
    poll += 1;
    // Of a generator with a period of 64 polls.
    const random = (poll * 13 + 5) % 64;
    const rows = Object.entries(state).map(([name, value], list) => {
      const isNulled = (random + list * 7) % 64 < 40;
      return [name, isNulled ? withNullIn(value, poll * 31 + list) : value] as const;
    });
    return { state: Object.fromEntries(rows) };
  };
  record([{ minutes: 8 * 60, bridge: { respond } }], {
    valsets: 3,
    observe: ([target], minute) => {
      const unjudged = (target?.problems ?? []).filter(
        ({ alert, state }) => alert === 'BridgeProblemUnjudged' && state === 'firing',
      );
      const now = new Set(unjudged.map(({ severity }) => severity));
      for (const severity of now) if (!firing.has(severity)) begins.push(`${severity} at minute ${minute}`);
      firing = now;
    },
  });
  expect(begins).toEqual([expect.stringMatching(/^warning/)]);
});
