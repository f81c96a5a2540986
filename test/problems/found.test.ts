import { describe, expect, it } from 'vitest';
import type { Subject } from '../../src/problems/problem.js';
import { joinTexts } from '../../src/problems/sentence.js';
import { isNodeBehind as isBehindByAnswers } from '../../src/queries/node-status.js';
import type { QueryStates } from '../../src/queries/query.js';
import { initialState, type EndpointState } from '../../src/engine/endpoint-state.js';
import { judgeTargets } from '../../src/engine/target-problems.js';
import { cctx as pendingCctx, outbound, rateLimiterInput, status as cctxStatus } from '../facts/crosschain/document.js';
import type { JsonObject } from '../support/json.js';
import { answeredQueries } from '../support/answered-queries.js';
import { batch, idleState, members, transfer, validators, vote } from '../items/bridge-state.js';
import {
  bridgeContext,
  bridgePoll,
  crosschainContext,
  crosschainPoll,
  type BridgeOptions,
} from '../support/snapshots.js';
import { step } from '../support/steps.js';

/* What each problem finds at its limits, and what is progress. */

const SECONDS_OF_BLOCK = 2;

/** A document at a minute. The hub makes a block every two seconds. */
interface Document {
  readonly minute: number;
  readonly state: object;
  /** By default, that of a hub that has not halted. */
  readonly height?: number;
  readonly isNodeBehind?: boolean;
  /** The answers of the node besides those before. */
  readonly queries?: QueryStates;
  /** The last event that the fourth validator has claimed, by the answer of the node. */
  readonly claimed?: number;
  /** The answers of the node about the blocks of the fourth validator, which may miss 500 of 1000. */
  readonly blocks?: {
    /** In the minutes until now. */
    readonly missed: readonly number[];
    readonly startHeight?: number;
    readonly isBonded?: boolean;
    readonly isTombstoned?: boolean;
    readonly minSigned?: number;
  };
}

interface ShownProblem {
  readonly name: string;
  readonly subject: Subject;
  readonly chains?: readonly string[] | undefined;
  /** In minutes of the clock. */
  readonly start: number;
  readonly text: string;
  readonly action: string;
}

const LOWEST_CHANGED = 'crosschain_lowest_pending_nonce_changed_timestamp_seconds';

const BASE_HEIGHT = 100_000;
const BLOCKS_OF_MINUTE = 60 / SECONDS_OF_BLOCK;
const heightAt = (minute: number): number => BASE_HEIGHT + (minute * 60) / SECONDS_OF_BLOCK;

function shownIn(state: EndpointState, at: number): readonly ShownProblem[] {
  return (state.lastSuccess?.snapshot.judgement.present ?? []).map(
    ({ problem, subject, chains, startAt, summary, details, action }) => ({
      name: `${problem.name}/${problem.severity}`,
      subject,
      chains,
      // Not -0.
      start: 0 + Math.round((startAt - at) / 6) / 10,
      action,
      text: joinTexts('; ', summary, details),
    }),
  );
}

const START_SECONDS = 1_700_000_000;

/** The problems after polls of these documents. One poll is enough for a problem to begin, unless `isSinglePoll` is false. */
function bridgeProblems(
  documents: readonly Document[],
  options: BridgeOptions = {},
  isSinglePoll = true,
): readonly ShownProblem[] {
  return shownIn(bridgeState(documents, options, isSinglePoll), START_SECONDS);
}

function bridgeState(documents: readonly Document[], options: BridgeOptions, isSinglePoll: boolean): EndpointState {
  const context = { ...bridgeContext({ block_time: SECONDS_OF_BLOCK * 1000, ...options }), isSinglePoll };
  let state = initialState(context, at(0).at);
  for (const {
    minute,
    state: own,
    height = heightAt(minute),
    isNodeBehind,
    queries: answers,
    claimed,
    blocks,
  } of documents) {
    const poll = bridgePoll(
      { ...COMPLETE, ...own },
      {
        ...options,
        height: String(height),
        atMs: minute * 60_000,
        ...(isNodeBehind !== undefined && { isNodeBehind }),
      },
    );
    const queries = new Map([
      ...state.queries,
      ...(answers ?? []),
      ...(claimed === undefined
        ? []
        : answeredQueries(at(minute), { claim_position: claimed }, validators[3]?.orchestrator)),
      ...(blocks === undefined ? [] : blockAnswers(minute, blocks)),
    ]);
    state = step({ ...state, queries }, poll, context, at(minute));
  }
  return state;
}

function blockAnswers(
  minute: number,
  { missed, startHeight = 1, isBonded = true, isTombstoned = false, minSigned = 0.5 }: NonNullable<Document['blocks']>,
): QueryStates {
  const counts = missed.map((each, index) => {
    const counted = minute - missed.length + 1 + index;
    return { at: at(counted).at, missed: each, height: heightAt(counted) };
  });
  const info = { address: '', startHeight: BigInt(startHeight), missed: missed.at(-1), isTombstoned, counts };
  const status = { operator: 'hubvaloper1a', isJailed: !isBonded, isBonded };
  return new Map([
    ...answeredQueries(at(minute), { slashing_params: { window: 1000, minSigned } }),
    ...answeredQueries(at(minute), { signing_info: info, staking_validator: status }, validators[3]?.orchestrator),
  ]);
}

const at = (minute: number) => ({ at: START_SECONDS + minute * 60, clockOffset: 0 });

/** The problems that the only document cannot judge. */
function notJudgedIn(state: object, options: BridgeOptions = {}): readonly string[] {
  const { lastSuccess } = bridgeState([{ minute: 0, state }], options, true);
  return lastSuccess?.snapshot.judgement.notJudgedHere ?? [];
}

/** Those whose name and severity contain this text. One state is that of a document at minute 0. */
function bridgeProblem(
  name: string,
  documents: object | readonly Document[],
  options: BridgeOptions = {},
  isSinglePoll = true,
): readonly ShownProblem[] {
  const all = Array.isArray(documents) ? (documents as readonly Document[]) : [{ minute: 0, state: documents }];
  return named(name, bridgeProblems(all, options, isSinglePoll));
}

/** The starts of a problem after documents with these states, a minute apart. */
const startsAfter = (name: string, states: readonly object[], options?: BridgeOptions): readonly number[] =>
  bridgeProblem(
    name,
    states.map((state, minute) => ({ minute, state })),
    options,
  ).map(({ start }) => start);

function named(text: string, problems: readonly ShownProblem[]): readonly ShownProblem[] {
  return problems.filter(({ name }) => name.includes(text));
}

const COMPLETE = {
  ...idleState,
  params: {
    ...idleState.params,
    signed_valsets_window: '50000',
    signed_batches_window: '50000',
    target_batch_timeout: '43200000',
    average_external_block_time: '12000',
  },
  valsets: idleState.valsets.map((valset) => ({ ...valset, height: String(BASE_HEIGHT - 100) })),
  valset_confirms: validators.map(({ eth_address }) => ({ nonce: '1', eth_address })),
  attestations: [
    { observed: true, height: String(BASE_HEIGHT - 90), votes: [0, 1, 2, 3].map(vote), claim: { event_nonce: '7' } },
  ],
  last_outgoing_batch_id: '9',
  last_outgoing_pool_id: '9',
};

/** The last event was observed ten hours ago. */
const OLD_EVENT = [{ ...COMPLETE.attestations[0], height: String(heightAt(-600)) }];

/** Signatures of a batch by the validators with these indexes, which have 40, 30, 20 and 10 % of the power. */
const signedBy = (nonce: string, ...indexes: readonly number[]) =>
  indexes.map((index) => ({ nonce, token_contract: '0xT', eth_signer: `0xa${index + 1}` }));

const TOKEN = { contract: '0xt', symbol: 'T', min_batch_fee: '4' };

const liveBatch = (nonce: string, minutesAgo = 5, minute = 0) =>
  batch(nonce, '60000', String(heightAt(minute - minutesAgo)));

/** Signed batches of two tokens, which were made so many minutes ago. */
const signedOfTwoTokens = (first: number, second: number) => ({
  batches: [
    liveBatch('8', first),
    { ...liveBatch('7', second), token_contract: '0xU', transactions: [transfer('5'), transfer('6')] },
  ],
  batch_confirms: [
    ...signedBy('8', 0, 1, 2, 3),
    ...signedBy('7', 0, 1, 2, 3).map((own) => ({ ...own, token_contract: '0xU' })),
  ],
  attestations: OLD_EVENT,
});

describe('a batch', () => {
  it('lacks signatures below the threshold, and not at it', () => {
    const found = (...indexes: readonly number[]) =>
      bridgeProblem(
        'BridgeBatchUnsigned/critical',
        { batches: [liveBatch('9')], batch_confirms: signedBy('9', ...indexes) },
        { power_threshold: '0.6' },
      );
    expect(found(0, 2)).toEqual([]);
    expect(found(0, 3)).toMatchObject([
      {
        start: -5,
        text: expect.stringContaining(
          'batch 9 of 0xt lacks signatures; 2 validators with 50 % of the power have not signed it: hub1pyyyyyyyyyy, hub1zyyyyyyyyyy; it times out in about 8 d 6 h',
        ) as string,
      },
    ]);
  });

  it('that times out unsigned is no progress; one that is signed is, and so is one before which another was executed', () => {
    const first = { batches: [liveBatch('8', 25)], last_outgoing_batch_id: '8' };
    const startAfter = (second: object): readonly number[] =>
      startsAfter('BridgeBatchUnsigned/critical', [first, first, second, second]);
    const next = batch('9', '90000', String(heightAt(2)));
    expect(startAfter({ batches: [next], last_observed_external_height: '60001' })).toEqual([-25]);
    expect(startAfter({ batches: [next] })).toEqual([2]);
    expect(startAfter({ batches: [next], last_observed_external_height: undefined })).toEqual([2]);
    const signed = {
      batches: [liveBatch('8', 25), { ...next, transactions: [transfer('9')] }],
      batch_confirms: signedBy('8', 0, 1, 2, 3),
    };
    expect(startAfter(signed)).toEqual([2]);
  });

  it('that times out unsigned is no progress either when one odd answer has no batch', () => {
    const next = [batch('9', '90000', String(heightAt(2)))];
    const states = [
      ...[0, 1].map(() => ({ batches: [liveBatch('8', 25)] })),
      ...[next, next, [], next, next].map((batches) => ({ batches, last_observed_external_height: '60001' })),
    ];
    expect(startsAfter('BridgeBatchUnsigned/critical', states)).toEqual([-25]);
  });

  it('that times out unsigned is no progress when the next one is requested seven minutes later, and is an hour later', () => {
    const first = { batches: [liveBatch('8', 25)], last_outgoing_batch_id: '8' };
    const startAfter = (pause: number): readonly number[] => {
      const timedOut = { batches: [], last_observed_external_height: '60001' };
      const second = { ...timedOut, batches: [batch('9', '90000', String(heightAt(pause + 2)))] };
      const paused = Array.from({ length: pause }, () => timedOut);
      return startsAfter('BridgeBatchUnsigned/critical', [first, first, ...paused, second, second]);
    };
    expect(startAfter(7)).toEqual([-25]);
    expect(startAfter(60)).toEqual([62]);
  });

  it('that is unsigned after an outage begins a problem of its own', () => {
    const before = { batches: [batch('8', '4000', String(heightAt(-1)))], last_outgoing_batch_id: '8' };
    const after = {
      last_observed_external_height: '4100',
      batches: [{ ...batch('20', '9000', String(heightAt(699))), transactions: [transfer('55')] }],
    };
    const documents = [
      ...[0, 1].map((minute) => ({ minute, state: before })),
      ...[700, 701].map((minute) => ({ minute, state: after })),
    ];
    expect(bridgeProblem('BridgeBatchUnsigned/critical', documents)).toMatchObject([{ start: 699 }]);
  });

  it('is not overdue by the parameter of the hub for its block time, which can be three times too long, for alert and gauge', () => {
    const minuteAfter = (minute: number) => Math.round(BASE_HEIGHT + ((210 + minute) * 60) / 0.63);
    const state = {
      last_observed_external_height: '1000',
      attestations: [{ ...COMPLETE.attestations[0], height: String(BASE_HEIGHT) }],
      // Not over by 50 minutes at the true block time.
      batches: [batch('9', String(1000 + (260 * 60) / 12), String(BASE_HEIGHT))],
      batch_confirms: signedBy('9', 0, 1, 2, 3),
      params: { ...COMPLETE.params, average_block_time: '2000', bridge_chain_id: '1' },
    };
    const overdueAfter = (minutes: number, blockTime: number | 'auto') => {
      const documents = Array.from({ length: minutes + 1 }, (_, minute) => ({
        minute,
        height: minuteAfter(minute),
        state,
      }));
      const endpoint = bridgeState(documents, { block_time: blockTime, tokens: [TOKEN] }, false);
      const families = endpoint.lastSuccess?.snapshot.renderedFamilies;
      const gauge = families?.find(({ name }) => name === 'bridge_batches_overdue')?.text;
      return [
        shownIn(endpoint, START_SECONDS).filter(({ name }) => name.startsWith('BridgeBatchOverdue')).length,
        gauge?.trim().split(' ').at(-1) ?? '',
      ];
    };
    expect(overdueAfter(5, 2000)).toEqual([1, '1']);
    expect(overdueAfter(5, 'auto')).toEqual([0, '']);
    expect(overdueAfter(15, 'auto')).toEqual([0, '0']);
    expect(overdueAfter(60, 'auto')).toEqual([1, '1']);
  });

  it('is as old as its blocks after the hub has halted for more than an hour', () => {
    const documents = Array.from({ length: 85 }, (_, minute) => ({
      minute,
      height: minute < 6 ? heightAt(minute) : minute < 84 ? heightAt(6) : heightAt(6) + 3,
      state: minute < 84 ? {} : { batches: [batch('8', '60000', String(heightAt(6) + 1))] },
    }));
    const found = bridgeProblems(documents, { block_time: 'auto' });
    expect(found.find(({ name }) => name === 'BridgeBatchUnsigned/critical')?.start).toBeCloseTo(84, 0);
  });

  it('waits for a relayer where several tokens do', () => {
    const both = signedOfTwoTokens(120, 90);
    const name = 'BridgeBatchNotRelayed/warning';
    expect(bridgeProblem(name, both)).toMatchObject([{ start: -90 }]);
    expect(bridgeProblem(name, { ...both, batches: both.batches.slice(1) })).toEqual([]);
    const claim = { '@type': '/bridge.v1.MsgWithdrawClaim', event_nonce: '8', batch_nonce: '8', token_contract: '0xT' };
    const claimed = [...OLD_EVENT, { observed: false, height: String(BASE_HEIGHT), votes: [vote(0)], claim }];
    expect(bridgeProblem(name, { ...both, attestations: claimed }), 'it waits for votes').toEqual([]);
  });

  it('waits for a relayer since it is signed, and not since it was built', () => {
    const signed = signedOfTwoTokens(300, 290);
    const unsigned = { ...signed, batch_confirms: [] };
    const name = 'BridgeBatchNotRelayed/warning';
    expect(bridgeProblem(name, signed)[0]?.text).toMatch(/; 2 waiting;/);
    expect(startsAfter(name, [signed, signed])).toEqual([-290]);
    expect(startsAfter(name, [unsigned, unsigned, signed, signed])).toEqual([2]);
    expect(startsAfter(name, [{ ...unsigned, batches: [] }, signed])).toEqual([-290]);
  });

  it('past its timeout is locked if it pays enough, and no other one', () => {
    const poor = { ...batch('8', '500', String(heightAt(-60))), transactions: [transfer('3')] };
    const state = {
      batches: [batch('9', '500', String(heightAt(-60))), poor],
      batch_confirms: [...signedBy('9', 0, 1, 2, 3), ...signedBy('8', 0, 1, 2, 3)],
      last_observed_external_height: '500',
    };
    expect(
      bridgeProblem('BridgeBatchOverdue/critical', state, { tokens: [TOKEN], externalHeight: 1000 }),
    ).toMatchObject([
      {
        text: 'transfers are locked in batch 9 of T, which has timed out',
      },
    ]);
  });

  it('is near its timeout below a fifth of its lifetime', () => {
    const found = (timeout: number) =>
      bridgeProblem(
        'BridgeBatchTimeoutNear/warning',
        { batches: [batch('9', String(timeout), String(heightAt(-60)))], batch_confirms: signedBy('9', 0, 1, 2, 3) },
        { externalHeight: 1000, external_block_time: 12_000, tokens: [TOKEN] },
      );
    // 43200 s are 3600 blocks.
    expect(found(1720)).toEqual([]);
    expect(found(1719)).toHaveLength(1);
    expect(found(1000)).toEqual([]);
  });

  it.each([
    // A fifth of the lifetime are 144 minutes.
    ['BridgeBatchTimeoutNear/warning', '1100', -124, '1715', 19],
    ['BridgeBatchOverdue/critical', '900', -20, '990', 18],
  ])('has a history of its own: %s begins anew when the first batch is gone', (name, first, start, second, next) => {
    const [eight, nine] = [batch('8', first, String(heightAt(-60))), batch('9', second, String(heightAt(-60)))];
    const startAfter = (...states: readonly (readonly object[])[]) =>
      bridgeProblem(
        name,
        states.map((batches, index) => ({
          minute: 10 * index,
          state: { batches, batch_confirms: [...signedBy('8', 0, 1, 2, 3), ...signedBy('9', 0, 1, 2, 3)] },
        })),
        { externalHeight: 1000, external_block_time: 12_000, tokens: [TOKEN] },
      ).map((found) => found.start);
    expect(startAfter([eight], [nine, eight])).toEqual([start]);
    expect(startAfter([eight], [nine, eight], [nine])).toEqual([next]);
  });
});

describe('the newest validator set', () => {
  const [set] = COMPLETE.valsets;
  const unsignedFor = (...minutes: readonly number[]) =>
    bridgeProblem('BridgeValsetUnsigned/warning', {
      valsets: [
        set,
        ...minutes.map((age, index) => ({ ...set, nonce: String(index + 2), height: String(heightAt(-age)) })),
      ],
      valset_confirms: [
        ...COMPLETE.valset_confirms,
        ...minutes.map((_, index) => ({ nonce: String(index + 2), eth_address: '0xa3' })).slice(0, -1),
      ],
    });

  it('in the contract is unknown to the hub for a day', () => {
    const last_observed_valset = { ...idleState.last_observed_valset, nonce: '99' };
    const unknownAfter = (...minutes: readonly number[]) =>
      bridgeProblem('BridgeContractValsetMismatch', [
        { minute: 0, state: {} },
        ...minutes.map((minute) => ({ minute, state: { last_observed_valset } })),
      ]);
    expect(unknownAfter(1, 1438, 1439)).toMatchObject([{ subject: { kind: 'valset_unknown' }, start: 1 }]);
    expect(unknownAfter(1, 1440, 1443)).toEqual([]);
    // It was never known.
    expect(bridgeProblem('BridgeContractValsetMismatch', { last_observed_valset })).toEqual([]);
  });

  it('can be younger than the problem, if each set was replaced unsigned; then those who have not signed are those of the last set older than five minutes', () => {
    expect(unsignedFor(70, 40, 0.3)).toMatchObject([
      {
        start: -70,
        text: expect.stringMatching(
          /^the newest validator set lacks signatures; 3 sets in a row were not signed in time; 20 % of the power in the contract has signed set 3, the newest older than five minutes; 3 validators have not signed it: /,
        ),
      },
    ]);
    expect(unsignedFor(4, 0.3)).toMatchObject([
      {
        text: expect.stringMatching(
          / 2 sets in a row were not signed in time; 0 % of the power in the contract has signed it; 4 /,
        ),
      },
    ]);
  });
});

/** The next event, claimed by the validators with these indexes. */
const claim = (indexes: readonly number[], fields: object = {}) => ({
  observed: false,
  height: String(heightAt(-20)),
  votes: indexes.map(vote),
  claim: { '@type': '/bridge.v1.MsgDepositClaim', event_nonce: '8', ...fields },
});
const withClaims = (...claims: readonly object[]) => ({ attestations: [...COMPLETE.attestations, ...claims] });

describe('the queue of a token', () => {
  it('is stuck from its minimum fee on', () => {
    const found = (...ids: readonly string[]) =>
      bridgeProblem(
        'BridgeBacklogStuck/critical',
        { unbatched_transfers: ids.map((id) => transfer(id)) },
        { tokens: [TOKEN] },
      );
    expect(found('1')).toEqual([]);
    expect(found('1', '2')).toMatchObject([{ subject: { token_contract: '0xt' } }]);
  });

  it('is not stuck while a live batch has higher fees, which has to be executed first', () => {
    const state = { unbatched_transfers: [transfer('5'), transfer('6')], batches: [liveBatch('9')] };
    expect(bridgeProblem('BridgeBacklogStuck/critical', state, { tokens: [TOKEN] })).toEqual([]);
  });

  it('begins anew with a batch of the token', () => {
    const waiting = [transfer('5'), transfer('6'), transfer('7')];
    const state = { unbatched_transfers: waiting };
    const states = [state, state, { ...state, batches: [liveBatch('9', 0, 2)] }];
    expect(startsAfter('BridgeBacklogStuck/critical', states, { tokens: [TOKEN] })).toEqual([2]);
  });

  it('begins anew when the transfer that pays most left, and a batch was built that no document had', () => {
    const before = { unbatched_transfers: [transfer('5'), transfer('6'), transfer('7')] };
    const startsWith = (change: object): readonly number[] => {
      const changed = { ...before, ...change };
      return startsAfter('BridgeBacklogStuck/critical', [before, before, changed, changed], { tokens: [TOKEN] });
    };
    const queue = { unbatched_transfers: [transfer('6'), transfer('7'), transfer('8')] };
    const built = { last_outgoing_batch_id: '1000' };
    expect(startsWith({ ...queue, ...built })).toEqual([2]);
    // The node is behind the one before.
    expect(startsWith({ ...queue, last_outgoing_batch_id: '1' })).toEqual([0]);
    expect(startsWith(built)).toEqual([0]);
    // The sender canceled it.
    expect(startsWith(queue)).toEqual([0]);
  });

  it('grows without a minimum fee by ten transfers in three hours', () => {
    const growing = (length: number, minute = 180) =>
      bridgeProblem('BridgeBacklogStuck/warning', [
        { minute: 0, state: { unbatched_transfers: [transfer('1')] } },
        { minute, state: { unbatched_transfers: Array.from({ length }, (_, id) => transfer(String(id + 1))) } },
      ]);
    expect(growing(10)).toEqual([]);
    expect(growing(11)).toMatchObject([
      { start: 0, text: 'the queue of 0xt grows, and no batch is built; 11 transfers waiting' },
    ]);
    expect(growing(11, 179)).toEqual([]);
  });

  it('is high above the limit, and not at it', () => {
    const state = { unbatched_transfers: [transfer('3')], batches: [liveBatch('9')] };
    expect(bridgeProblem('BridgeBacklogHigh/warning', state, { backlog_limit: 3 })).toEqual([]);
    expect(bridgeProblem('BridgeBacklogHigh/warning', state, { backlog_limit: 2 })).toHaveLength(1);
  });
});

describe('the oracle', () => {
  it('has stalled from a third of the power on; below, few claim an event', () => {
    const names = (...indexes: readonly number[]) =>
      bridgeProblems([{ minute: 0, state: withClaims(claim(indexes)) }]).map(({ name, start }) => [name, start]);
    expect(names(0)).toContainEqual(['BridgeOracleStalled/critical', -20]);
    expect(names(1)).toContainEqual(['BridgeOracleStalled/warning', -20]);
    expect(names(1)).not.toContainEqual(['BridgeOracleStalled/critical', -20]);
  });

  it('has conflicting claims, of which none can win above 34 % for others', () => {
    const found = (first: readonly number[], second: readonly number[]) =>
      bridgeProblems([{ minute: 0, state: withClaims(claim(first), claim(second, { amount: '2' })) }])
        .map(({ name }) => name)
        .filter((name) => name.startsWith('BridgeConflictingClaims'));
    expect(found([0, 2], [1])).toEqual(['BridgeConflictingClaims/warning']);
    expect(found([0], [1, 3])).toEqual(['BridgeConflictingClaims/critical', 'BridgeConflictingClaims/warning']);
    expect(found([0], [])).toHaveLength(1);
  });

  describe('is silent', () => {
    /** Half a day of documents in which all have signed the only batch, with these numbers of requested batches. */
    const silent = (requestedAt: (index: number) => number, options: BridgeOptions = {}, oddMinute?: number) =>
      bridgeProblem(
        'BridgeOracleSilent/critical',
        Array.from({ length: 13 * 12 }, (_, index) => ({
          minute: index * 5,
          state: {
            batches: [{ ...liveBatch('9', 0), transactions: [transfer('1')] }],
            batch_confirms: signedBy('9', 0, 1, 2, 3),
            last_outgoing_pool_id: String(requestedAt(index)),
            last_outgoing_batch_id: String(requestedAt(index)),
            ...(index * 5 === oddMinute && { last_observed_nonce: '6' }),
          },
        })),
        options,
      );
    const each = (minutes: number) => (index: number) => 101 + Math.floor((index * 5) / minutes);

    it('after half a day with withdrawals in every three hours, and not after a burst', () => {
      expect(silent(each(120), {}, 300), 'with one odd answer').toMatchObject([{ start: 0 }]);
      expect(silent(each(360))).toEqual([]);
      expect(silent((index) => 101 + Math.min(index, 11))).toEqual([]);
    });

    it('not on a quiet bridge whose only batch pays less than the minimum', () => {
      const withMinimum = (min_batch_fee: string) =>
        silent((index) => 10 + index, { tokens: [{ ...TOKEN, min_batch_fee }] });
      expect(withMinimum('1')).toHaveLength(1);
      expect(withMinimum('1000000')).toEqual([]);
    });
  });

  const foreign = { '@type': '/bridge.v1.MsgWithdrawClaim', batch_nonce: '99', token_contract: '0xT' };

  it('cannot be judged by its share of the power while that is unknown', () => {
    const withoutPower = members.map((member) => ({ ...member, power: '0' }));
    const valsets = COMPLETE.valsets.map((valset) => ({ ...valset, members: withoutPower }));
    const notJudged = (...claims: readonly object[]) => notJudgedIn({ ...withClaims(...claims), valsets });
    const names = ['BridgeClaimWithoutBatch', 'BridgeConflictingClaims'];
    expect(notJudged(claim([0], foreign), claim([1, 3], { amount: '2' }))).toEqual(expect.arrayContaining(names));
    for (const name of names) expect(notJudged()).not.toContain(name);
  });
});

describe('a validator set', () => {
  it('of the first event of a new contract, which the hub has not made, is none that the hub does not have', () => {
    const found = (observedNonce: string, claimedNonce: string) =>
      bridgeProblem('BridgeContractValsetMismatch', {
        ...withClaims(
          claim([0], { '@type': '/bridge.v1.MsgValsetUpdatedClaim', valset_nonce: claimedNonce, members: [] }),
        ),
        last_observed_valset: { nonce: observedNonce, members: [], height: '0' },
      });
    expect(found('0', '0')).toEqual([]);
    expect(found('0', '77')).toHaveLength(1);
    expect(found('1', '0')).not.toEqual([]);
  });
});

describe('a validator', () => {
  const watch = ['0xa4'];

  it('is jailed within hours, counted from the deadline of a batch or a validator set', () => {
    const found = (window: number) =>
      bridgeProblem(
        'BridgeOrchestratorDeadlineNear',
        {
          params: { ...COMPLETE.params, signed_batches_window: String(window) },
          batches: [liveBatch('9', 60)],
          batch_confirms: signedBy('9', 0, 1, 2),
        },
        { watch },
      ).map(({ name, subject, start }) => [name.split('/')[1], subject.watched, start]);
    const blocksOf = (hours: number): number => (hours * 3600) / SECONDS_OF_BLOCK;
    expect(found(blocksOf(25))).toEqual([]);
    expect(found(blocksOf(25) - 1)).toEqual([['warning', 'true', 0]]);
    expect(found(blocksOf(13) - 1)).toEqual([
      ['critical', 'true', 0],
      ['warning', 'true', -60],
    ]);
    // The deadline has passed.
    expect(found(blocksOf(1) - 1)).toEqual([]);
  });

  it('has a deadline by the blocks that the hub makes, from the second document on, not by a wrong parameter', () => {
    // 14 hours by the parameter.
    const params = { ...COMPLETE.params, signed_batches_window: String((14 * 3600) / SECONDS_OF_BLOCK) };
    const state = { params, batches: [liveBatch('9', 60)], batch_confirms: signedBy('9', 0, 1, 2) };
    const found = (ratio: number) =>
      bridgeProblems(
        [0, 1, 2].map((minute) => ({ minute, state, height: heightAt(0) + ratio * BLOCKS_OF_MINUTE * minute })),
        { watch, block_time: 'auto' },
      ).map(({ name }) => name);
    expect(found(1)).not.toContain('BridgeOrchestratorDeadlineNear/critical');
    expect(found(3)).toContain('BridgeOrchestratorDeadlineNear/critical');
  });

  it('has a next deadline, also while a batch is live whose deadline has passed', () => {
    const params = { ...COMPLETE.params, signed_batches_window: String((9 * 3600) / SECONDS_OF_BLOCK) };
    const batches = [liveBatch('8', 600), liveBatch('9', 60)];
    const batch_confirms = [...signedBy('8', 0, 1, 2), ...signedBy('9', 0, 1, 2)];
    const found = bridgeProblems([{ minute: 0, state: { params, batches, batch_confirms } }], { watch });
    expect(found.map(({ name }) => name)).toContain('BridgeOrchestratorDeadlineNear/critical');
  });

  it('has a time by which it must sign, and others have hours; a node that is behind proves neither', () => {
    const state = {
      params: { ...COMPLETE.params, signed_batches_window: '9000' },
      batches: [liveBatch('9', 60)],
      batch_confirms: signedBy('9', 0),
    };
    const textsOf = (options: BridgeOptions): readonly string[] =>
      bridgeProblem('BridgeOrchestratorDeadlineNear/critical', state, { watch, ...options }).map(({ text }) => text);
    expect(textsOf({})).toEqual([
      expect.stringMatching(/^your validator hub1\w+ must sign batch 9 or be jailed; by 02:13 UTC$/),
      expect.stringMatching(
        /^validators with a third of the power must sign within 12 hours or be jailed; 2 validators with 50 % of the power: hub1/,
      ),
    ]);
    expect(textsOf({ isNodeBehind: true })).toEqual([]);
  });

  it('of others does not begin to fire from a node that is behind or stands still; your own does, and what fired stays', () => {
    // Three minutes before the documents, twelve hours are left: the alerts fire at minute 12.
    const window = ((12 * 60 + 57) * 60) / SECONDS_OF_BLOCK;
    const state = {
      params: { ...COMPLETE.params, signed_batches_window: String(window) },
      batches: [liveBatch('9', 60)],
      batch_confirms: signedBy('9', 0),
    };
    const deadlines = (minutes: number, documentAt: (minute: number) => Partial<Document>) => {
      const documents = Array.from({ length: minutes + 1 }, (_, minute) => ({ minute, state, ...documentAt(minute) }));
      const [judged] = judgeTargets([bridgeState(documents, { watch }, false)], at(minutes));
      return (judged?.problems ?? [])
        .filter(
          (each) => each.state === 'firing' && each.severity === 'critical' && each.alert.endsWith('DeadlineNear'),
        )
        .map(({ subject }) => (subject.watched === 'true' ? 'own' : 'others'));
    };
    const both = ['own', 'others'];
    const behindFrom = (first: number) => (minute: number) => ({ isNodeBehind: minute >= first });
    const standingFrom = (first: number) => (minute: number) => ({ height: heightAt(Math.min(minute, first)) });
    for (const from of [behindFrom, standingFrom]) {
      expect(deadlines(11, from(99))).toEqual([]);
      expect(deadlines(12, from(99))).toEqual(both);
      expect(deadlines(30, from(2))).toEqual(['own']);
      expect(deadlines(30, from(14))).toEqual(both);
    }
    expect(deadlines(30, (minute) => ({ isNodeBehind: minute >= 2 && minute < 30 }))).toEqual(both);
  });

  it('is named with its address if another validator has the same name', () => {
    const state = { batches: [liveBatch('9', 60)], batch_confirms: signedBy('9', 0) };
    const params = { ...COMPLETE.params, signed_batches_window: '9000' };
    const textWith = (...names: readonly string[]): string | undefined =>
      bridgeProblems([{ minute: 0, state: { ...state, params } }], {
        watch,
        validators: names.map((name, index) => ({ address: `0xa${4 - index}`, name })),
      }).find(({ name }) => name === 'BridgeOrchestratorDeadlineNear/critical')?.text;
    expect(textWith('Alpha', 'Beta')).toMatch(/^your validator Alpha must sign /);
    expect(textWith('Alpha', 'Alpha\u200b')).toMatch(/^your validator Alpha hub1\S+ must sign /);
  });

  it('is jailed for each signature on its own: one that is given in time does not count for the next', () => {
    const params = { ...COMPLETE.params, signed_batches_window: '10000' };
    const documents = Array.from({ length: 40 }, (_, index) => {
      const minute = index / 2;
      const nonces = Array.from({ length: 3 }, (_batch, earlier) => Math.floor(minute) - earlier);
      const batches = nonces.map((nonce) => batch(String(nonce + 100), '60000', String(heightAt(nonce))));
      // It takes two minutes to sign a batch.
      const batch_confirms = signedBy(String((nonces[2] ?? 0) + 100), 0, 1, 2, 3);
      return { minute, state: { params, batches, batch_confirms } };
    });
    const found = bridgeProblems(documents, { watch }).filter(({ name }) => name.endsWith('DeadlineNear/critical'));
    expect(found).toMatchObject([
      { subject: { watched: 'true' }, start: 18 },
      { subject: { watched: 'false' }, start: 18 },
    ]);
  });

  it('is not late as long as it signs any batch: of many it signs one a minute, the newest first', () => {
    const nonces = Array.from({ length: 90 }, (_, index) => String(100 + index));
    const batches = nonces.map((nonce, index) => batch(nonce, '60000', String(heightAt(index - 90))));
    const ofOthers = nonces.flatMap((nonce) => signedBy(nonce, 0, 1, 2));
    const found = (signedAt: (minute: number) => readonly string[]) =>
      bridgeProblems(
        [0, 20, 30, 40, 60, 79].map((minute) => ({
          minute,
          state: { batches, batch_confirms: [...ofOthers, ...signedAt(minute).flatMap((nonce) => signedBy(nonce, 3))] },
        })),
        { watch },
      ).filter(({ name, subject }) => name.includes('MissingConfirms') && subject.watched === 'true');
    const newest = (count: number): readonly string[] => nonces.slice(90 - count);
    expect(found(() => [])).toMatchObject([{ start: -90, text: expect.stringContaining(' 90 live') as string }]);
    // It has signed this one at some time before the first poll.
    expect(found(() => newest(1))).toMatchObject([{ start: 0 }]);
    expect(found(newest)).toMatchObject([{ start: 79, text: expect.stringContaining(' 11 live') as string }]);
    expect(found((minute) => newest(Math.min(minute, 30)))).toMatchObject([{ start: 30 }]);
    expect(found((minute) => nonces.slice(0, Math.min(minute, 30)))).toMatchObject([{ start: 30 }]);
  });

  it('is late also when batches that it has signed are executed', () => {
    const state = (minute: number) => {
      const batches = [liveBatch('8', 80), liveBatch('9', 70)].slice(minute < 5 ? 0 : 1);
      return { batches, batch_confirms: [...signedBy('8', 0, 1, 2, 3), ...signedBy('9', 0, 1, 2)] };
    };
    const documents = Array.from({ length: 20 }, (_, minute) => ({ minute, state: state(minute) }));
    expect(bridgeProblem('MissingConfirms', documents, { watch })).toMatchObject([{ start: -70 }]);
  });

  it('misses votes until it votes again, and others together from 15 % of the power on', () => {
    const found = (voters: readonly number[]) =>
      bridgeProblem(
        'BridgeOrchestratorMissingVotes/warning',
        { attestations: [{ ...COMPLETE.attestations[0], votes: voters.map(vote) }] },
        { watch },
      ).map(({ subject }) => subject.watched);
    expect(found([0, 1, 2, 3])).toEqual([]);
    expect(found([0, 1, 2])).toEqual(['true']);
    expect(found([0, 1])).toEqual(['true', 'false']);
  });

  it('is part of one problem when two thirds of the power do the same: the cause is not its own', () => {
    const state = {
      attestations: [{ ...COMPLETE.attestations[0], votes: [vote(1)] }],
      batches: [liveBatch('9', 70)],
      params: { ...COMPLETE.params, signed_batches_window: '10000' },
    };
    const found = bridgeProblems([{ minute: 0, state }], { watch }).filter(({ name }) => /Orchestrator/.test(name));
    const own = 'your validator hub1ryyyyyyyyyy must sign batch 9 or be jailed';
    const others = 'validators with a third of the power must sign within';
    const together = 'validators with two thirds of the power or more';
    expect(found.map(({ name, text }) => `${name}: ${text.split(';')[0]}`)).toEqual([
      // It is jailed whatever the cause is.
      `BridgeOrchestratorDeadlineNear/critical: ${own}`,
      `BridgeOrchestratorDeadlineNear/critical: ${others} 12 hours or be jailed`,
      `BridgeOrchestratorDeadlineNear/warning: ${own}`,
      `BridgeOrchestratorDeadlineNear/warning: ${others} 24 hours or be jailed`,
      `BridgeOrchestratorMissingConfirms/warning: ${together} do not sign`,
      `BridgeOrchestratorMissingVotes/warning: ${together} vote for no event`,
    ]);
    const affected = found.filter(({ subject, name }) => subject.watched === 'true' || !name.includes('Deadline'));
    expect(new Set(affected.map(({ action }) => action.slice(0, 52)))).toEqual(
      new Set(['So many validators at once have a common cause, such']),
    );
  });

  const votesOf = (...indexes: readonly number[]) => ({ ...COMPLETE.attestations[0], votes: indexes.map(vote) });

  it.each<[string, (nonce: number) => Omit<Document, 'minute'>]>([
    [
      'the node says that its last claim moves',
      (claimed) => ({ state: { attestations: [votesOf(0, 1, 2)] }, claimed }),
    ],
    [
      'its last vote in the documents moves',
      (nonce) => ({
        state: { attestations: [{ ...votesOf(3), claim: { event_nonce: String(nonce) } }, votesOf(0, 1, 2)] },
      }),
    ],
  ])('that catches up misses no votes: %s', (_, document) => {
    const found = (nonceAt: (minute: number) => number) =>
      bridgeProblem(
        'BridgeOrchestratorMissingVotes',
        Array.from({ length: 8 }, (_each, minute) => ({ minute, ...document(nonceAt(minute)) })),
        { watch },
        false,
      );
    expect(found(() => 2)).toHaveLength(1);
    expect(found((minute) => Math.max(2, minute - 1))).toEqual([]);
  });

  const without = {
    valsets: [{ ...COMPLETE.valsets[0], nonce: '2', members: idleState.last_observed_valset.members.slice(0, 3) }],
  };

  it('is behind with its claims since it is in the validator set again', () => {
    const documents = Array.from({ length: 8 }, (_, minute) => ({
      minute,
      state: minute < 5 ? without : {},
      claimed: 2,
    }));
    expect(bridgeProblem('OrchestratorLagging', documents, { watch }, false)).toMatchObject([{ start: 5 }]);
  });

  it('is told three days before its funds are gone at the rate at which it spends them, also when they are filled up', () => {
    const HOURS_OF_DAY = 24;
    const whole = 1000 * HOURS_OF_DAY;
    /** The days of the starts, in ten days with a tenth of the funds spent each day. */
    const toldOn = (filledUp: Readonly<Record<number, number>>, isPolled: (day: number) => boolean = () => true) => {
      let balance = whole;
      const documents = Array.from({ length: (10 * HOURS_OF_DAY) / 3 }, (_, index) => {
        const hour = index * 3;
        const minute = hour * 60;
        const queries = answeredQueries(
          at(minute),
          { orchestrator_balance: BigInt(balance) },
          validators[3]?.orchestrator,
        );
        balance = Math.max(0, balance - 300) + (filledUp[hour] ?? 0);
        return { minute, state: {}, queries };
      });
      const polled = documents.filter(({ minute }) => isPolled(minute / 60 / HOURS_OF_DAY));
      return bridgeProblem('FundsLow', polled, { watch }).map(({ start }) => Math.round(start / 60 / HOURS_OF_DAY));
    };
    expect(toldOn({})).toEqual([7]);
    expect(toldOn({ 48: 2400 }), 'filled up by a day on the third day').toEqual([8]);
    expect(toldOn({ 180: whole / 2 }), 'filled up after it was told').toEqual([]);
    const daily = Object.fromEntries(Array.from({ length: 10 }, (_, day) => [day * HOURS_OF_DAY, 800]));
    expect(toldOn(daily), 'a third is filled up each day').toEqual([]);
    expect(
      toldOn({}, (day) => day < 1 || day > 6),
      'the exporter was down for five days',
    ).toEqual([7]);
  });

  it('is judged while its node says that it is catching up at the tip, and by the age of the block when it was sent', () => {
    const own = (blockSeconds: number) =>
      answeredQueries(at(0), {
        latest_block: { height: 1n, epochSeconds: at(0).at - blockSeconds },
        syncing: { isSyncing: true },
      });
    const found = (blockSeconds: number, minute: number) => {
      const queries = own(blockSeconds);
      const missed = Array.from({ length: 6 }, (_, each) => each * BLOCKS_OF_MINUTE);
      const isBehind = isBehindByAnswers(queries, at(minute));
      const document = { minute, state: {}, queries, blocks: { missed }, isNodeBehind: isBehind };
      return bridgeProblems([document], { watch })
        .map(({ name }) => name)
        .filter((name) => /Behind|SignsNoBlocks/.test(name));
    };
    const signsNone = ['BridgeWatchedValidatorSignsNoBlocks/critical', 'BridgeWatchedValidatorSignsNoBlocks/warning'];
    expect(found(5, 0)).toEqual(signsNone);
    expect(found(290, 4), 'sent four minutes ago').toEqual(signsNone);
    expect(found(310, 0)).toEqual(['BridgeNodeBehind/critical', 'BridgeNodeBehind/warning']);
  });

  describe('that misses blocks', () => {
    const missing = (blocks: NonNullable<Document['blocks']>, isNodeBehind = false) =>
      bridgeProblem('BridgeWatchedValidatorMissingBlocks', [{ minute: 0, state: {}, blocks, isNodeBehind }], { watch });
    const severities = (...parameters: Parameters<typeof missing>) =>
      missing(...parameters).map(({ name }) => name.split('/')[1]);

    it('has used 30 % of those that it may miss, and 70 %, while more are missed', () => {
      expect(severities({ missed: [148, 149] })).toEqual([]);
      expect(severities({ missed: [149, 150] })).toEqual(['warning']);
      expect(severities({ missed: [345, 349] })).toEqual(['warning']);
      expect(severities({ missed: [340, 350] })).toEqual(['critical', 'warning']);
    });

    it('is jailed within two hours at the rate of the last minutes, which takes a while to be known', () => {
      const rising = (first: number, ...more: readonly number[]) =>
        severities({ missed: [first, ...more.map((each) => first + each)] });
      // 500 may be missed.
      expect(rising(0, 10, 20, 30, 40)).toEqual([]);
      expect(rising(0, 10, 20, 30, 40, 50)).toEqual(['critical']);
      expect(rising(0, 3, 6, 9, 12, 15), '162 minutes are left').toEqual([]);
      expect(rising(160, 5), '67 minutes are left').toEqual(['critical', 'warning']);
    });

    it('has recovered when the number does not rise any more, and begins anew with a jailing', () => {
      expect(severities({ missed: [300, 400, 400] })).toEqual(['critical', 'warning']);
      expect(severities({ missed: [400, 400, 404] })).toEqual(['warning']);
      expect(severities({ missed: [300, ...Array.from({ length: 11 }, () => 400)] })).toEqual(['warning']);
      expect(severities({ missed: [499, 0, 1] })).toEqual([]);
      expect(severities({ missed: [20, 0, 350] })).toEqual(['critical', 'warning']);
    });

    it('is judged while it is bonded, and has been for a window; a node that is behind proves nothing', () => {
      const missed = [300, 400];
      expect(severities({ missed, isBonded: false })).toEqual([]);
      expect(severities({ missed, startHeight: BASE_HEIGHT - 1000 })).toEqual([]);
      expect(severities({ missed, startHeight: BASE_HEIGHT - 1001 })).toEqual(['critical', 'warning']);
      expect(severities({ missed }, true)).toEqual([]);
    });

    it('may miss the window less its rounded minimum, which can be nothing', () => {
      expect(severities({ missed: [0, 0], minSigned: 1 })).toEqual([]);
      expect(severities({ missed: [0, 1], minSigned: 1 })).toEqual(['critical', 'warning']);
      const allowed = (minSigned: number) =>
        /of the (\d+)/.exec(missing({ missed: [0, 400], minSigned })[0]?.text ?? '')?.[1];
      expect([0.4996, 0.5].map(allowed)).toEqual(['500', '500']);
    });

    it('signs no blocks when all blocks between answers were missed, or all but those whose misses left the window', () => {
      const signsNone = (
        missed: readonly number[],
        own: Partial<NonNullable<Document['blocks']>> = {},
        isBehind = false,
      ) =>
        bridgeProblem('SignsNoBlocks', [{ minute: 0, state: {}, blocks: { missed, ...own }, isNodeBehind: isBehind }], {
          watch,
        }).map(({ name, start, text }) => [name.split('/')[1], start, text]);
      const all = (minutes: number, ofEach = BLOCKS_OF_MINUTE) =>
        Array.from({ length: minutes + 1 }, (_, minute) => 5 + minute * ofEach);
      expect(signsNone(all(0))).toEqual([]);
      const text = expect.stringContaining(
        'your validator hub1ryyyyyyyyyy signs no blocks; none or hardly any of the last 60 blocks; it has missed 65 of the 500',
      );
      expect(signsNone([5, ...all(2)])).toEqual([
        ['critical', -2, text],
        ['warning', -2, text],
      ]);
      expect(signsNone(all(4, BLOCKS_OF_MINUTE - 3))).toMatchObject([
        ['critical', -4, expect.any(String)],
        ['warning', -4, expect.any(String)],
      ]);
      expect(signsNone(all(4, BLOCKS_OF_MINUTE - 4))).toEqual([]);
      expect(signsNone([...all(4), 130]), 'it signs again').toEqual([]);
      expect(signsNone(all(4), { startHeight: BASE_HEIGHT - 50 }), 'also in its first window').toHaveLength(2);
      expect(signsNone(all(4), { isBonded: false })).toEqual([]);
      expect(signsNone(all(4), {}, true), 'the node is behind').toEqual([]);
    });

    it('is not known to do so when the node has not answered for an hour, and the problem does not end', () => {
      const status = { staking_validator: { operator: '', isJailed: false, isBonded: true } };
      const documents = [0, 1, 10, 20, 30, 40, 50, 60, 70].map((minute) => {
        const answers = minute > 1 ? [] : blockAnswers(minute, { missed: [300, 320] });
        const statuses = answeredQueries(at(minute), status, validators[3]?.orchestrator);
        return { minute, state: {}, queries: new Map([...answers, ...statuses]) };
      });
      const shown = named('Watched', bridgeProblems(documents, { watch }, false));
      expect(shown.map(({ name, start, text }) => [name, start, text.split(';')[0]])).toEqual([
        ['BridgeWatchedValidatorMissingBlocks/critical', 0, expect.any(String)],
        ['BridgeWatchedValidatorMissingBlocks/warning', 0, expect.any(String)],
        [
          'BridgeWatchedValidatorUnknown/warning',
          1,
          'the node does not answer whether your validator hub1ryyyyyyyyyy misses blocks',
        ],
      ]);
    });

    it('ends without an answer about another own validator, whose problem does not end', () => {
      const own = [validators[2]?.orchestrator ?? '', validators[3]?.orchestrator ?? ''];
      const documents: Document[] = [];
      const answers = new Map<string, object>();
      const jailedAfter = (...polls: readonly (readonly [minute: number, ...isJailed: (boolean | undefined)[]])[]) => {
        for (const [minute, ...isJailed] of polls) {
          for (const [index, jailed] of isJailed.entries()) {
            const answer = { at: at(minute).at, value: { operator: '', isJailed: jailed, isBonded: true } };
            if (jailed !== undefined) answers.set(own[index] ?? '', answer);
          }
          const [[name, query] = []] = answeredQueries(at(minute), { staking_validator: undefined });
          const queries = new Map([[name, { ...query, answers: new Map(answers) }]]);
          documents.push({ minute, state: {}, queries: queries as unknown as QueryStates });
        }
        return named('Jailed', bridgeProblems(documents, { watch: own }, false)).map(
          ({ subject }) => subject.orchestrator,
        );
      };
      expect(jailedAfter([0, true], [1, true], [2, true])).toEqual([own[0]]);
      expect(jailedAfter([3, false], [4, false], [6, false])).toEqual([]);
      expect(jailedAfter([7, true, true], [8, true, true], [9, true, true])).toEqual(own);
      const later = [30, 60, 70, 80].map((minute) => [minute, undefined, false] as const);
      expect(jailedAfter(...later)).toEqual([own[0]]);
    });

    it('cannot be unjailed when it is tombstoned', () => {
      const action = (isTombstoned: boolean) =>
        bridgeProblem(
          'BridgeWatchedValidatorJailed',
          [{ minute: 0, state: {}, blocks: { missed: [0], isBonded: false, isTombstoned } }],
          { watch },
        )[0]?.action;
      expect(action(false)).toContain('then unjail with');
      expect(action(true)).toContain('it can never be unjailed');
    });
  });

  it('has left the validator set when it was in it', () => {
    const found = (documents: readonly Document[]) =>
      bridgeProblem('BridgeWatchedValidatorInactive', documents, { watch });
    expect(found([{ minute: 0, state: {} }])).toEqual([]);
    // The hub may create the next set with it.
    expect(found([{ minute: 0, state: without }])).toEqual([]);
    expect(found([0, 5, 10].map((minute) => ({ minute, state: without })))).toMatchObject([
      { name: 'BridgeWatchedValidatorInactive/warning', start: 0 },
    ]);
    const gone = { ...without, orchestrator_addresses: COMPLETE.orchestrator_addresses.slice(0, 3) };
    for (const state of [without, gone]) {
      expect(found([0, 3].map((minute) => ({ minute, state: minute === 0 ? {} : state })))).toMatchObject([
        {
          name: 'BridgeWatchedValidatorInactive/critical',
          start: 0,
          subject: { address: '0xa4' },
          text: expect.stringContaining(state === gone ? 'matches no registration' : ''),
        },
      ]);
    }
  });

  it('has a wrong address when no registration has it, from the first document on', () => {
    const found = (state: object, ...watched: readonly string[]) =>
      bridgeProblem('BridgeWatchedValidatorInactive', { ...state }, { watch: [...watched] });
    expect(found({}, '0xa4', '0xb1')).toMatchObject([
      {
        name: 'BridgeWatchedValidatorInactive/warning',
        subject: { address: '0xb1' },
        start: 0,
        text: 'your validator 0xb1 matches no registration: correct the address in watch',
        action: expect.stringMatching(/^Replace the entry of watch by /),
      },
    ]);
    const [first, ...others] = COMPLETE.orchestrator_addresses;
    const withUnreadable = (row: object) => ({ orchestrator_addresses: [{ ...first, ...row }, ...others] });
    // An address that cannot be read may be the one.
    for (const row of [{ sender: 7 }, { orchestrator: null }]) {
      const notJudged = notJudgedIn(withUnreadable(row), { watch: ['0xb1', '0xa4'] });
      expect(notJudged).toContain('BridgeWatchedValidatorInactive');
    }
    expect(found(withUnreadable({ sender: 7 }), '0xa4')).toEqual([]);
  });
});

describe('a change', () => {
  const changed = (first: object, second: object) =>
    bridgeProblem('Changed', [
      { minute: 0, state: first },
      { minute: 1, state: first },
      { minute: 2, state: second },
      { minute: 4, state: second },
    ]);

  it('names the parameter with both values', () => {
    const text = 'bridge parameters changed; signed_valsets_window (50000 → 60000)';
    const found = changed({}, { params: { ...COMPLETE.params, signed_valsets_window: '60000' } });
    expect(found).toMatchObject([{ name: 'BridgeParamsChanged/info', start: 2, text }]);
  });

  it('of the contract is critical, of admins a warning, and a field that is missing in some documents is none', () => {
    const withContract = (contract: string) => ({
      params: { ...COMPLETE.params, bridge_external_address: contract, admins: ['a'] },
    });
    expect(changed(withContract('0x1'), withContract('0x2'))).toMatchObject([
      { name: 'BridgeParamsChanged/critical', action: expect.stringContaining('a node of this chain') as string },
    ]);
    const other = { params: { ...withContract('0x1').params, admins: ['a', 'b'] } };
    expect(changed(withContract('0x1'), other)).toMatchObject([{ name: 'BridgeParamsChanged/warning' }]);
    const without = { params: { ...COMPLETE.params, admins: ['a'] } };
    expect([changed(withContract('0x1'), without), changed(without, withContract('0x1'))]).toEqual([[], []]);
  });

  it('is none with one odd answer, which rolls nothing back either', () => {
    const odd = { params: { ...COMPLETE.params, signed_valsets_window: '60000' }, last_observed_nonce: '9' };
    const states = [{}, {}, odd, {}, {}];
    expect(bridgeProblems(states.map((state, index) => ({ minute: 2 * index, state })))).toEqual([]);
  });

  it('of the blacklist is found for an hour', () => {
    const [before, after] = [{ external_blacklist: [] }, { external_blacklist: ['0x1'] }];
    expect(changed(before, after)).toMatchObject([{ name: 'BridgeBlacklistChanged/info' }]);
    const until = (minute: number) =>
      bridgeProblem(
        'Changed',
        [0, 1, 2, 4, minute - 2, minute].map((each) => ({ minute: each, state: each < 2 ? before : after })),
      );
    expect(until(61)).toHaveLength(1);
    expect(until(64)).toEqual([]);
  });
});

describe('the state', () => {
  it('is of another contract, and not rolled back, when its nonces begin anew after a migration', () => {
    const found = (contract: string) =>
      bridgeProblem(
        'BridgeStateRolledBack/critical',
        Array.from({ length: 60 }, (_, index) => {
          const isAfter = index > 1;
          return {
            minute: index * 5,
            state: {
              last_observed_nonce: isAfter ? '3' : '1000',
              params: { ...COMPLETE.params, bridge_external_address: isAfter ? contract : '0x1' },
            },
          };
        }),
      );
    expect(found('0x1')).toHaveLength(1);
    expect(found('0x2')).toEqual([]);
  });

  it('stands still since the first document with its height, also after one odd answer with another height', () => {
    // Two documents of a lower height fail.
    const heights = [100, 100, 100, 101, 100, 100, 100, 100];
    const found = bridgeProblem(
      'BridgeHeightStalled',
      heights.map((height, minute) => ({ minute, state: {}, height })),
    );
    expect(found).toMatchObject([{ start: 1 }]);
  });

  it.each([
    [101, 'where the upgrade v2 is planned'],
    [100, 'where the upgrade v2 is planned'],
    [102, undefined],
    [99, undefined],
  ])('stands where an upgrade is planned at height %i, and says so', (planned, text) => {
    const documents = [0, 1, 2].map((minute) => {
      const queries = answeredQueries(at(minute), { upgrade_plan: [{ name: 'v2\n', height: BigInt(planned) }] });
      return { minute, state: {}, height: 100, queries: new Map(queries) };
    });
    const [found] = bridgeProblem('BridgeHeightStalled', documents, {}, false);
    expect(found?.text).toBe(
      text === undefined ? 'the hub height does not advance from 100' : `the hub height stands at 100, ${text}`,
    );
    expect(found?.action.includes('version of the upgrade')).toBe(text !== undefined);
  });

  it('is neither rolled back nor changed when the first document was odd', () => {
    const odd = { params: { ...COMPLETE.params, signed_valsets_window: '60000' }, last_observed_nonce: '90' };
    const states = [odd, ...['7', '7', '8', '8'].map((last_observed_nonce) => ({ last_observed_nonce }))];
    for (const length of [2, 3, 5]) {
      const documents = states.slice(0, length).map((state, index) => ({ minute: 2 * index, state }));
      expect(bridgeProblems(documents), `${length} documents`).toEqual([]);
    }
  });

  it('was not rolled back while a node that was restored from a backup catches up faster than the chain', () => {
    /** From minute 12 on, the state of five hours before, whose blocks come so many times as fast. */
    const found = (times: number, blockSeconds: number) => {
      const params = { ...COMPLETE.params, average_block_time: String(blockSeconds * 1000) };
      const blocks = (minutes: number) => BASE_HEIGHT + (minutes * 60) / blockSeconds;
      return bridgeProblem(
        'BridgeStateRolledBack/critical',
        Array.from({ length: 30 }, (_, minute) => ({
          minute,
          state: { params, last_observed_nonce: minute < 12 ? '7' : '5' },
          height: minute < 12 ? blocks(minute) : blocks(-300 + (minute - 12) * times),
        })),
        { block_time: blockSeconds * 1000 },
      ).map(({ subject }) => subject.kind);
    };
    for (const blockSeconds of [SECONDS_OF_BLOCK, 15]) {
      expect(found(10, blockSeconds)).toEqual([]);
      expect(found(1, blockSeconds)).toEqual(['height', 'observed_nonce']);
    }
  });
});

describe('a cross-chain transaction', () => {
  const cctx = (chain: string, nonce: number, createdMinute: number) =>
    pendingCctx(`0x${chain}_${nonce}`, [outbound(chain, { amount: '1', tss_nonce: String(nonce), hash: '' })], {
      cctx_status: cctxStatus({ created_timestamp: String(START_SECONDS + createdMinute * 60) }),
    });
  interface Lists {
    readonly missed?: readonly JsonObject[];
    readonly pending?: readonly JsonObject[];
    readonly hidden?: number;
    /** The minute of the height, if the hub has halted since then. */
    readonly haltedAt?: number;
    /** How old the newest block of the node is, by its answer to a query. */
    readonly blockMinutes?: number;
    readonly isOutboundEnabled?: boolean;
    /** Whether the node is asked for these, as it is by default. */
    readonly isQueried?: boolean;
  }

  function stateAfter(documents: readonly (Lists & { readonly minute: number })[]): EndpointState {
    const context = { ...crosschainContext(), isSinglePoll: true };
    let state = initialState(context, at(0).at);
    for (const { minute, missed = [], pending = [], hidden = 0, haltedAt = minute, ...answers } of documents) {
      const { blockMinutes = 0, isOutboundEnabled = true, isQueried = true } = answers;
      const queries = answeredQueries(at(minute), {
        latest_block: { height: '1', epochSeconds: at(minute).at - blockMinutes * 60 },
        crosschain_flags: { isInboundEnabled: true, isOutboundEnabled },
      });
      const body = rateLimiterInput({
        height: String(heightAt(haltedAt)),
        cctxs_missed: missed,
        cctxs_pending: pending,
        total_pending: String(missed.length + pending.length + hidden),
      });
      const before = isQueried ? { ...state, queries } : state;
      state = step(
        before,
        crosschainPoll(body, { at: at(minute), isNodeBehind: blockMinutes > 5 }),
        context,
        at(minute),
      );
    }
    return state;
  }

  const problemsOf = (documents: Parameters<typeof stateAfter>[0]): readonly ShownProblem[] =>
    shownIn(stateAfter(documents), START_SECONDS).filter(({ name }) => !name.includes('HeightStalled'));

  const cctxProblems = (name: string, documents: Parameters<typeof problemsOf>[0]) =>
    named(name, problemsOf(documents));

  /** When the chain of a transaction is stuck, after documents of so many minutes. */
  const stuckAfter = (minutes: number, lists: (minute: number) => Lists = () => ({})): readonly number[] =>
    cctxProblems(
      'CrosschainBacklogStuck/critical',
      Array.from({ length: minutes }, (_, minute) => ({ minute, pending: [cctx('1', 5, 0)], ...lists(minute) })),
    ).map(({ start }) => start);

  it('is too old above the age limit of its chain, far above it critically', () => {
    const names = (age: number, chain = '1') =>
      problemsOf([{ minute: 0, pending: [cctx(chain, 1, -age)] }]).map(({ name }) => name);
    expect(names(30)).toEqual([]);
    expect(names(31)).toEqual(['CrosschainOldestPendingTooOld/warning']);
    expect(names(121)).toEqual(['CrosschainOldestPendingTooOld/critical', 'CrosschainOldestPendingTooOld/warning']);
    expect(names(119, '8332')).toEqual([]);
    expect(names(239, '8332')).toEqual(['CrosschainOldestPendingTooOld/warning']);
    expect(names(241, '8332')).toHaveLength(2);
  });

  it('is judged when others have no time of creation, of which its details have the number', () => {
    const withStatus = (cctx_status: JsonObject) => ({ ...cctx('1', 2, 0), cctx_status });
    const found = (...statuses: readonly JsonObject[]) =>
      cctxProblems('CrosschainOldestPendingTooOld/warning', [
        { minute: 0, pending: [cctx('1', 1, -31), ...statuses.map(withStatus)] },
      ]).map(({ text }) => text);
    const missing = { status: 'PendingOutbound', lastUpdate_timestamp: '0' };
    expect(found(missing)).toEqual([
      expect.stringMatching(/^a transaction on chain .*; 2 transactions pending on the chain; .*; 1 not judged/),
    ]);
    // An invalid value withdraws all.
    expect(found({ ...missing, created_timestamp: 'x' })).toEqual([]);
    const unjudged = (pending: readonly JsonObject[]) => {
      const { lastSuccess } = stateAfter([{ minute: 0, pending }]);
      return lastSuccess?.snapshot.judgement.notJudgedHere.includes('CrosschainOldestPendingTooOld');
    };
    expect(unjudged([withStatus(missing)])).toBe(true);
    expect(unjudged([withStatus(missing), cctx('1', 1, 0)])).toBe(false);
    expect(unjudged([])).toBe(false);
  });

  it('is too old since its own limit, after an older one was finished', () => {
    const [older, old] = [cctx('1', 1, -40), cctx('1', 2, -35)];
    const found = problemsOf([
      { minute: 0, pending: [older, old] },
      { minute: 3, pending: [old] },
      { minute: 4, pending: [old] },
    ]);
    expect(found).toMatchObject([{ name: 'CrosschainOldestPendingTooOld/warning', start: -5 }]);
  });

  it('is as old as it was when the newest block was made of a node that is behind', () => {
    const found = (age: number) =>
      cctxProblems('CrosschainOldestPendingTooOld', [
        { minute: 0, pending: [cctx('1', 1, -age)], blockMinutes: 180 },
      ]).map(({ name, start }) => [name, start]);
    expect(found(209)).toEqual([]);
    expect(found(211)).toEqual([['CrosschainOldestPendingTooOld/warning', -1]]);
  });

  it('is of a node that has been behind since its block was five minutes old, which is the only age in the headline', () => {
    const found = problemsOf([{ minute: 0, pending: [cctx('1', 1, 0)], blockMinutes: 180 }]);
    expect(found.filter(({ name }) => name.startsWith('BridgeNodeBehind'))).toMatchObject([
      { name: 'BridgeNodeBehind/critical', start: 0 },
      {
        start: -175,
        text: 'the node of rate_limiter_input is behind the chain; its newest block is 3 h old, and so is all data of the document',
      },
    ]);
  });

  it('is dated by a wrong clock when the newest block of the node is more than a minute in the future', () => {
    const found = (seconds: number) =>
      cctxProblems('ClockBehind', [{ minute: 0, pending: [], blockMinutes: -seconds / 60 }]);
    expect(found(60)).toEqual([]);
    expect(found(61)).toMatchObject([
      {
        name: 'BridgeClockBehind/warning',
        text: 'the clock of the exporter is behind the newest block of rate_limiter_input; by 61 s; ages are too short by the same time',
      },
    ]);
  });

  it('does not stand still for as long as the hub has halted', () => {
    const haltedFor = (halt: number) => (minute: number) => ({
      haltedAt: minute < 10 || minute >= 10 + halt ? minute : 10,
    });
    expect(stuckAfter(70, haltedFor(60))).toEqual([]);
    expect(stuckAfter(94, haltedFor(60))).toEqual([]);
    expect(stuckAfter(95, haltedFor(60))).toEqual([94]);
    // A few minutes are no halt.
    expect(stuckAfter(36, haltedFor(5))).toEqual([35]);
    expect(stuckAfter(46, (minute) => ({ haltedAt: Math.min(minute, 40) }))).toEqual([35]);
  });

  it('does not stand still while the hub has halted and its node does not answer, as the missing blocks show', () => {
    const stuck = (blockMinutesInGap: number) =>
      cctxProblems(
        'CrosschainBacklogStuck/critical',
        [...Array(11).keys(), ...Array.from({ length: 60 }, (_, minute) => 70 + minute)].map((minute) => ({
          minute,
          pending: [cctx('1', 5, 0)],
          haltedAt: minute < 70 ? minute : minute - 60 + blockMinutesInGap,
        })),
      );
    // The block of the first document after the halt may have taken ten seconds.
    expect(stuck(0)).toMatchObject([{ start: 35 + 60 }]);
    expect(stuck(60)).toMatchObject([{ start: 35 }]);
  });

  it('does not stand still for as long as the hub has halted and outbounds were off, each time, and once for both together', () => {
    const isIn = (minute: number, ...spans: readonly (readonly [number, number])[]) =>
      spans.find(([from, until]) => minute >= from && minute < until);
    type Spans = readonly (readonly [number, number])[];
    const after = (halts: Spans, offs: Spans) =>
      stuckAfter(140, (minute) => ({
        haltedAt: isIn(minute, ...halts)?.[0] ?? minute,
        isOutboundEnabled: isIn(minute, ...offs) === undefined,
      }));
    // A span lasts from its first to its last document.
    const twice = [
      [10, 31],
      [40, 51],
    ] as const;
    expect(after(twice, [])).toEqual([35 + 20 + 10]);
    expect(after([], twice)).toEqual([35 + 20 + 10]);
    expect(after([[15, 26]], [[10, 31]])).toEqual([35 + 20]);
  });

  it('does not get older while outbounds are off, once they are on again', () => {
    const names = (until: number) =>
      problemsOf(
        Array.from({ length: until + 1 }, (_, minute) => ({
          minute,
          pending: [cctx('1', 5, 0)],
          isOutboundEnabled: minute < 10 || minute >= 60,
        })),
      ).map(({ name }) => name);
    const [stuck, old] = ['CrosschainBacklogStuck/critical', 'CrosschainOldestPendingTooOld/warning'];
    expect(names(59)).toEqual([stuck, 'CrosschainOutboundDisabled/warning']);
    expect(names(62)).toEqual([]);
    expect(names(80)).toEqual([old]);
    expect(names(85)).toEqual([stuck, old]);
  });

  it('stands still for the age limit and five minutes, also across a truncated list', () => {
    const truncatedAt = (truncated: number) => (minute: number) =>
      minute === truncated ? { pending: [], hidden: 3 } : {};
    expect([stuckAfter(35), stuckAfter(36)]).toEqual([[], [35]]);
    expect([stuckAfter(41, truncatedAt(20)), stuckAfter(41, truncatedAt(40))]).toEqual([[35], [35]]);
  });

  it('stands still also across documents of a node that is behind, and its earlier nonces', () => {
    const polls = (isBehind: boolean) =>
      Array.from({ length: 42 }, (_, minute) =>
        minute < 20 || minute > 35
          ? { minute, pending: [cctx('1', 5, minute)] }
          : { minute, pending: [cctx('1', minute < 28 ? 2 : 3, minute)], ...(isBehind && { blockMinutes: 180 }) },
      );
    /** The starts of the problem, and by the gauge since when the lowest nonce is the present one. */
    const stuck = (isBehind: boolean) => {
      const documents = polls(isBehind);
      const { lastSuccess } = stateAfter(documents);
      const gauge = lastSuccess?.snapshot.renderedFamilies.find(({ name }) => name === LOWEST_CHANGED)?.text;
      return [
        cctxProblems('CrosschainBacklogStuck/critical', documents).map(({ start }) => start),
        (Number(gauge?.trim().split(' ').at(-1)) - START_SECONDS) / 60,
      ];
    };
    expect(stuck(true)).toEqual([[35], 0]);
    expect(stuck(false)).toEqual([[], 36]);
    // An odd list moves nothing, and two that agree do.
    const withOdd = (count: number) =>
      stuckAfter(42, (minute) => (minute >= 20 && minute < 20 + count ? { pending: [cctx('1', 4, minute)] } : {}));
    expect([withOdd(1), withOdd(2)]).toEqual([[35], []]);
    // The node that is behind reaches the nonce at which it fell behind.
    const reached = Array.from({ length: 61 }, (_, minute) => {
      const pending = [cctx('1', 100 + (minute < 20 ? minute : minute - 41), minute)];
      return { minute, pending, ...(minute >= 20 && { blockMinutes: 41 }) };
    });
    expect(problemsOf(reached).map(({ name }) => name)).not.toContain('CrosschainBacklogStuck/critical');
  });

  it('is too many from more than the limit on, listed or not', () => {
    const pending = [cctx('56', 1, 0), cctx('1', 1, 0), cctx('1', 2, 0)];
    const textWith = (hidden: number) =>
      problemsOf([{ minute: 0, pending, hidden }]).find(({ name }) => name.startsWith('CrosschainBacklogHigh'))?.text;
    expect(textWith(997)).toBeUndefined();
    expect(textWith(998)).toBe('more than 1000 cross-chain transactions are pending; 1001 at present');
  });

  it('cannot be judged as missed beyond the 1000 that are remembered', () => {
    const old = Array.from({ length: 999 }, (_, index) => cctx('1', index, -500));
    const [next, last] = [cctx('56', 1, 0), cctx('56', 2, 0)];
    const judged = (...missed: readonly JsonObject[]) => {
      const documents = [old, old, [...old, next], missed].map((each, index) => ({ minute: 3 * index, missed: each }));
      const { unjudged = [] } = stateAfter(documents).lastSuccess?.snapshot.judgement ?? {};
      const found = cctxProblems('CrosschainCctxsMissed', documents).map(({ subject }) => subject);
      return [found, unjudged.map(({ problem }) => problem.name)];
    };
    expect(judged(...old, next)).toEqual([[{ chain_id: '56' }], []]);
    expect(judged(...old, next, last)).toEqual([[{ chain_id: '56' }], ['CrosschainCctxsMissed']]);
  });

  it('is one problem with those of other chains when half of the chains, and three, have it', () => {
    const others = ['10', '137', '8453'].map((chainId) => cctx(chainId, 7, 0));
    const missedOn = (...chainIds: readonly string[]) =>
      cctxProblems('CrosschainCctxsMissed', [
        { minute: 0, pending: others },
        { minute: 1, pending: others },
        ...Array.from({ length: chainIds.length + 2 }, (_, index) => ({
          minute: 3 * index + 3,
          pending: others,
          missed: chainIds.slice(0, index + 1).map((chainId) => cctx(chainId, 1, 0)),
        })),
      ]);
    expect(missedOn('1', '56')).toMatchObject([{ subject: { chain_id: '1' } }, { subject: { chain_id: '56' } }]);
    expect(missedOn('1', '56', '137')).toMatchObject([
      {
        subject: {},
        chains: ['1', '56', '137'],
        start: 9,
        text: expect.stringMatching(
          /^cross-chain transactions on half of the chains or more are missed; on 3 of 5 chains: .*1.*, .*56.*, .*137/,
        ),
        action: expect.stringMatching(/check the signers .* isOutboundEnabled/),
      },
    ]);
    const quiet = (number: number) => Array.from({ length: number }, (_, id) => cctx(`7${id}`, 7, 0));
    const missed = ['1', '56', '137'].map((chainId) => cctx(chainId, 1, 0));
    const quietAtFirst = (minute: number, later = quiet(3)) =>
      cctxProblems('CrosschainCctxsMissed', [
        { minute: 0, pending: quiet(4) },
        { minute: minute - 3, pending: later },
        { minute, pending: later, missed },
      ]);
    expect(quietAtFirst(6, quiet(4)), '3 of 7').toHaveLength(3);
    expect(quietAtFirst(6), '3 of 7, one of which has nothing pending at present').toHaveLength(3);
    expect(quietAtFirst(24 * 60 + 3), '3 of 6, and one with nothing pending for a day').toMatchObject([
      { text: expect.stringContaining('on 3 of 6 chains') },
    ]);
  });

  it('is missed when it was not in the first documents', () => {
    const old = cctx('1', 1, -500);
    const found = (missed: readonly JsonObject[]) =>
      cctxProblems('CrosschainCctxsMissed', [
        { minute: 0, missed: [old] },
        { minute: 1, missed: [old] },
        { minute: 3, missed },
      ]);
    expect(found([old])).toEqual([]);
    for (const lists of [
      [[old], [], [old], [old]],
      [[], [old], [old], [old]],
    ]) {
      const withOddAnswer = lists.map((missed, index) => ({ minute: 3 * index, missed }));
      expect(cctxProblems('CrosschainCctxsMissed', withOddAnswer)).toEqual([]);
    }
    expect(found([old, cctx('1', 2, 0)])).toMatchObject([
      {
        start: 3,
        text: 'cross-chain transactions on chain 1 are missed; 1 at present; 0.000000000000000001 ETH in them',
      },
    ]);
  });

  it('freezes its chain when little of the lookahead is left, but not on Bitcoin', () => {
    const names = (distance: number, chain = '1') =>
      problemsOf([{ minute: 0, missed: [cctx(chain, 100, -5)], pending: [cctx(chain, 100 + distance, -1)] }])
        .map(({ name }) => name)
        .filter((name) => name.startsWith('CrosschainFreezeNear'));
    expect(names(30)).toEqual([]);
    expect(names(31)).toEqual(['CrosschainFreezeNear/warning']);
    expect(names(49)).toEqual(['CrosschainFreezeNear/critical', 'CrosschainFreezeNear/warning']);
    expect(names(48)).toEqual(['CrosschainFreezeNear/warning']);
    expect(names(90, '8332')).toEqual([]);
  });

  it('has frozen its chain for as long as it is frozen, not since it was near', () => {
    const frozenAt = (minute: number) =>
      problemsOf([
        ...[0, 8, 16, 24].map((before) => ({
          minute: before,
          missed: [cctx('1', 100, -30)],
          pending: [cctx('1', 155, -5)],
        })),
        { minute, missed: [cctx('1', 100, -30)], pending: [cctx('1', 155, -5), cctx('1', 160, 10)] },
      ]).find(({ name }) => name === 'CrosschainFreezeNear/critical');
    expect(frozenAt(30)).toMatchObject({
      start: 0,
      text: 'missed nonce 100 freezes chain 1; it is frozen; 2 transactions pending on the chain; 0.000000000000000002 ETH in them',
    });
  });

  it('is on a hub that was not rolled back while its node, whose status is not queried, catches up', () => {
    /** From minute 30 on, the state of five hours before, whose blocks come so many times as fast, after a halt of the hub of so many minutes. */
    const found = (times: number, haltMinutes = 0) =>
      cctxProblems(
        'BridgeStateRolledBack/critical',
        Array.from({ length: 50 + haltMinutes }, (_, minute) => {
          const after = minute - 30 - haltMinutes;
          return { minute, haltedAt: after < 0 ? Math.min(minute, 30) : -300 + after * times, isQueried: false };
        }),
      ).map(({ subject }) => subject.kind);
    expect(found(10)).toEqual([]);
    expect(found(1)).toEqual(['height']);
    // The time of the halt is not that of its blocks.
    expect(found(1, 40)).toEqual(['height']);
  });
});
