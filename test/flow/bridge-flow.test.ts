import { describe, expect, it } from 'vitest';
import { batch, state, transfer, valset } from '../facts/bridge/state.js';
import type { JsonObject } from '../support/json.js';
import { bridgePolls } from './bridge-polls.js';

const usd = (id: number, amount = 5): JsonObject => transfer(String(id), '0xa', String(amount));

const BASE = {
  params: { bridge_external_address: '0xc', average_block_time: '2000' },
  last_observed_nonce: '10',
  last_observed_external_height: '500',
  last_outgoing_batch_id: '7',
  last_outgoing_pool_id: '3',
  last_observed_valset: valset('1', {}),
  erc20_to_denoms: [{ erc20: '0xa', denom: 'usd' }],
};

const liveBatch = (nonce: number, transfers: JsonObject[], timeout = 1000): JsonObject =>
  batch(String(nonce), '0xa', { batch_timeout: String(timeout), block: '100', transactions: transfers });

const event = (nonce: number, type: string, fields: JsonObject = {}, observed = true): JsonObject => ({
  observed,
  votes: ['v'],
  height: '1',
  claim: { '@type': `/x.${type}`, event_nonce: String(nonce), ...fields },
});

const LABELS = 'token_contract="0xa",denom="usd"';

describe('the flow of the bridge', () => {
  it('starts with 0 for the tokens of the first document and the reasons of gaps', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state({ ...BASE, unbatched_transfers: [usd(1), usd(2)], batches: [liveBatch(7, [usd(3)])] }));
    expect(endpoint.values()).toEqual({});
    expect(Array.from(endpoint.flow().tokens.keys())).toEqual(['other', '0xa']);
    expect(endpoint.flow().gaps).toEqual({ regression: 0, contract: 0, list: 0, stale: 0, inconsistent: 0, unseen: 0 });
  });

  it('keeps a transfer that has not changed as the same object', () => {
    const endpoint = bridgePolls();
    const keptTransfers = [5, 6].map((amount) => {
      endpoint.poll(state({ ...BASE, unbatched_transfers: [usd(1), usd(2, amount)] }));
      return endpoint.flow().baseline?.transfers;
    });
    const [first, second] = keptTransfers;
    expect(second?.get(1n)).toMatchObject({ contract: '0xa', amount: 5n });
    expect(second?.get(1n)).toBe(first?.get(1n));
    expect(second?.get(2n)).toMatchObject({ contract: '0xa', amount: 6n });
  });

  it('counts a withdrawal from its request to its execution, with its durations', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state(BASE), { height: 100 });
    endpoint.poll(state({ ...BASE, last_outgoing_pool_id: '4', unbatched_transfers: [usd(4)] }), { height: 115 });
    const batched = { ...BASE, last_outgoing_pool_id: '4', last_outgoing_batch_id: '8' };
    endpoint.poll(state({ ...batched, batches: [batch('8', '0xa', { block: '120', transactions: [usd(4)] })] }), {
      height: 130,
    });
    endpoint.poll(state({ ...batched, last_observed_nonce: '11' }), { height: 220, after: 200 });
    expect(endpoint.values()).toEqual({
      [`bridge_batches_executed_total{${LABELS}}`]: 1,
      [`bridge_transfers_executed_total{${LABELS}}`]: 1,
      [`bridge_token_withdrawn_amount_total{${LABELS}}`]: 5,
      // 100 blocks of 2 s.
      bridge_batch_duration_seconds_count: 1,
      bridge_batch_duration_seconds_sum: 200,
      bridge_transfer_duration_seconds_count: 1,
      bridge_transfer_duration_seconds_sum: 230,
    });
  });

  it('has no duration for a transfer of the first document, and a batch has one from its height on', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state({ ...BASE, batches: [liveBatch(7, [usd(1)])] }), { height: 110 });
    endpoint.poll(state({ ...BASE, last_observed_nonce: '11' }), { height: 130 });
    expect(endpoint.values()).toMatchObject({
      bridge_batch_duration_seconds_sum: 60,
      [`bridge_transfers_executed_total{${LABELS}}`]: 1,
    });
    expect(endpoint.values()).not.toHaveProperty('bridge_transfer_duration_seconds_count');
  });

  it.each(['-2000', `1${'0'.repeat(90)}`])(
    'has no duration of a batch by the impossible block time %s',
    (average_block_time) => {
      const endpoint = bridgePolls();
      const document = { ...BASE, params: { ...BASE.params, average_block_time } };
      endpoint.poll(state({ ...document, batches: [liveBatch(7, [usd(1)])] }), { height: 110 });
      endpoint.poll(state({ ...document, last_observed_nonce: '11' }), { height: 130 });
      expect(endpoint.values()).toMatchObject({ [`bridge_batches_executed_total{${LABELS}}`]: 1 });
      expect(endpoint.values()).not.toHaveProperty('bridge_batch_duration_seconds_sum');
    },
  );

  it.each([
    ['timeout', { last_observed_external_height: '600' }, 550],
    ['unknown', { last_observed_external_height: '600' }, 700],
  ])('counts a batch whose transfers return as canceled: %s', (reason, fields, timeout) => {
    const endpoint = bridgePolls();
    endpoint.poll(state({ ...BASE, batches: [liveBatch(7, [usd(1)], timeout)] }));
    endpoint.poll(state({ ...BASE, ...fields, last_observed_nonce: '11', unbatched_transfers: [usd(1)] }));
    expect(endpoint.values()).toEqual({
      [`bridge_batches_canceled_total{${LABELS},reason="${reason}"}`]: 1,
      'bridge_flow_gaps_total{reason="unseen"}': 1,
    });
  });

  it.each([
    ['superseded after one event, although it has timed out', '11', 'superseded'],
    ['unknown after two events, whose order is unknown', '12', 'unknown'],
  ])('counts a batch below an executed one of the same token as %s', (_title, nonce, reason) => {
    const endpoint = bridgePolls();
    const batches = [liveBatch(6, [usd(1)], 550), liveBatch(7, [usd(2)])];
    endpoint.poll(state({ ...BASE, batches }));
    const after = { last_observed_nonce: nonce, last_observed_external_height: '600' };
    endpoint.poll(state({ ...BASE, ...after, unbatched_transfers: [usd(1)] }));
    expect(endpoint.values()).toMatchObject({
      [`bridge_batches_canceled_total{${LABELS},reason="${reason}"}`]: 1,
      [`bridge_batches_executed_total{${LABELS}}`]: 1,
    });
  });

  it('counts a batch that has timed out, or that a batch in neither document has superseded, as canceled for an unknown reason', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state({ ...BASE, batches: [liveBatch(7, [usd(1)], 550)] }));
    const after = { last_observed_nonce: '11', last_observed_external_height: '600', last_outgoing_batch_id: '8' };
    endpoint.poll(state({ ...BASE, ...after, unbatched_transfers: [usd(1)] }));
    expect(endpoint.values()).toMatchObject({ [`bridge_batches_canceled_total{${LABELS},reason="unknown"}`]: 1 });
  });

  it('counts a canceled batch whose transfer is in a new batch at once, and the sender who takes another one back', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state({ ...BASE, batches: [liveBatch(7, [usd(1), usd(2)], 550)] }));
    const after = { last_observed_nonce: '11', last_observed_external_height: '600', last_outgoing_batch_id: '8' };
    endpoint.poll(state({ ...BASE, ...after, batches: [liveBatch(8, [usd(2)])] }));
    expect(endpoint.values()).toEqual({
      [`bridge_batches_canceled_total{${LABELS},reason="timeout"}`]: 1,
      [`bridge_transfers_canceled_total{${LABELS}}`]: 1,
      'bridge_flow_gaps_total{reason="unseen"}': 1,
    });
  });

  it('counts the amounts of deposits whose claim was pending or is observed', () => {
    const deposit = { token_contract: '0xB', amount: '9007199254740993' };
    const endpoint = bridgePolls();
    const pending = [event(11, 'MsgDepositClaim', deposit, false), event(12, 'MsgValsetUpdatedClaim', {}, false)];
    endpoint.poll(state({ ...BASE, attestations: pending }));
    const observed = event(14, 'MsgDepositClaim', { ...deposit, amount: '1' });
    endpoint.poll(state({ ...BASE, last_observed_nonce: '14', attestations: [observed] }));
    expect(endpoint.values()).toEqual({
      'bridge_flow_gaps_total{reason="unseen"}': 1,
      'bridge_token_deposited_amount_total{token_contract="0xb",denom=""}': 9_007_199_254_740_994,
    });
  });

  it('takes the observed claim of an event with conflicting claims, and has not seen which one was if both are gone', () => {
    const claim = (nonce: number, amount: string, votes: string[], observed = false): JsonObject => ({
      ...event(nonce, 'MsgDepositClaim', { token_contract: '0xa', amount }, observed),
      votes,
    });
    const endpoint = bridgePolls();
    const attestations = [claim(11, '1', ['a']), claim(11, '20', ['b', 'c']), claim(12, '300', ['a', 'b'])];
    endpoint.poll(state({ ...BASE, attestations }));
    const after = [claim(12, '300', ['a', 'b']), claim(12, '4000', ['c'], true)];
    endpoint.poll(state({ ...BASE, last_observed_nonce: '12', attestations: after }));
    expect(endpoint.values()).toEqual({
      [`bridge_token_deposited_amount_total{${LABELS}}`]: 4000,
      'bridge_flow_gaps_total{reason="unseen"}': 1,
    });
  });

  it('survives failed polls, and is exported while the chain series are withdrawn', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state({ ...BASE, unbatched_transfers: [usd(3)] }));
    endpoint.poll(state(BASE));
    endpoint.fail();
    endpoint.fail(400);
    expect(endpoint.values()).toEqual({ [`bridge_transfers_canceled_total{${LABELS}}`]: 1 });
  });

  it('counts nothing between documents with the same rows in another order', () => {
    const endpoint = bridgePolls();
    const batches = [liveBatch(6, [usd(2)]), liveBatch(7, [usd(3)])];
    endpoint.poll(state({ ...BASE, batches, unbatched_transfers: [usd(1)] }));
    endpoint.poll(state({ ...BASE, batches: batches.toReversed(), unbatched_transfers: [usd(1)] }));
    expect(endpoint.values()).toEqual({});
  });

  it('says that something was not seen when only the counter of the hub has increased', () => {
    for (const counter of ['last_outgoing_batch_id', 'last_outgoing_pool_id', 'last_observed_nonce']) {
      const endpoint = bridgePolls();
      const fields = { ...BASE, batches: [liveBatch(7, [usd(3)])], unbatched_transfers: [usd(1)] };
      endpoint.poll(state(fields));
      endpoint.poll(state({ ...fields, [counter]: '11' }));
      expect(endpoint.flow().gaps['unseen'], counter).toBe(1);
    }
  });

  it('says that something was not seen, and counts the rest', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state({ ...BASE, unbatched_transfers: [usd(1), usd(2)] }));
    // Batch 8 came and went, perhaps with one of the transfers.
    const attestations = [event(12, 'MsgDepositClaim', { token_contract: '0xa', amount: '9' })];
    const after = { last_outgoing_batch_id: '9', last_observed_nonce: '12', attestations };
    endpoint.poll(state({ ...BASE, ...after, batches: [liveBatch(9, [usd(2)])] }));
    expect(endpoint.values()).toEqual({
      [`bridge_token_deposited_amount_total{${LABELS}}`]: 9,
      'bridge_flow_gaps_total{reason="unseen"}': 1,
    });
  });

  it('counts no batch as executed whose transfers can have been in a batch that came and went', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state({ ...BASE, batches: [liveBatch(7, [usd(1)])] }));
    endpoint.poll(state({ ...BASE, last_outgoing_batch_id: '8', last_observed_nonce: '12' }));
    expect(endpoint.values()).toEqual({ 'bridge_flow_gaps_total{reason="unseen"}': 1 });
  });

  it('counts no transfer above the highest id of the hub, neither when it is there nor when it is gone', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state(BASE));
    for (let poll = 0; poll < 3; poll += 1) endpoint.poll(state({ ...BASE, unbatched_transfers: [usd(9)] }));
    endpoint.poll(state(BASE));
    endpoint.poll(state(BASE));
    expect(endpoint.values()).toEqual({ 'bridge_flow_gaps_total{reason="inconsistent"}': 1 });
  });

  it('gives a denom to a token once it has one, and keeps it', () => {
    const endpoint = bridgePolls();
    const { erc20_to_denoms, ...withoutDenoms } = BASE;
    endpoint.poll(state({ ...withoutDenoms, unbatched_transfers: [usd(3)] }));
    expect(endpoint.flow().tokens.get('0xa')?.name).toBe('');
    endpoint.poll(state({ ...withoutDenoms, erc20_to_denoms }));
    endpoint.poll(state(withoutDenoms));
    expect(endpoint.flow().tokens.get('0xa')?.name).toBe('usd');
  });

  it('has a series for the first tokens, and one for all that come later', () => {
    const endpoint = bridgePolls({ maxSeries: 3 });
    const of = (id: number, token: string): JsonObject => transfer(String(id), token, '1');
    endpoint.poll(state({ ...BASE, erc20_to_denoms: [], unbatched_transfers: [of(1, '0xa')] }));
    const later = [of(1, '0xa'), of(4, '0xb'), of(5, '0xc'), of(6, '0xd'), of(7, '0xa')];
    endpoint.poll(state({ ...BASE, erc20_to_denoms: [], last_outgoing_pool_id: '7', unbatched_transfers: later }));
    endpoint.poll(state({ ...BASE, erc20_to_denoms: [], last_outgoing_pool_id: '7' }));
    expect(endpoint.values()).toEqual({
      'bridge_transfers_canceled_total{token_contract="0xa",denom=""}': 2,
      'bridge_transfers_canceled_total{token_contract="0xb",denom=""}': 1,
      'bridge_transfers_canceled_total{token_contract="other",denom="other"}': 2,
    });
  });
});

describe('a gap of the flow', () => {
  const before = { ...BASE, unbatched_transfers: [usd(2)], batches: [liveBatch(7, [usd(1)])] };
  /** Both transfers are gone and another one is there. */
  const after = { ...BASE, last_observed_nonce: '11', last_outgoing_pool_id: '4', unbatched_transfers: [usd(4)] };

  it.each([
    ['contract', { params: { bridge_external_address: '0xd' } }, {}],
    ['regression', { last_outgoing_batch_id: '6' }, {}],
    ['regression', { last_observed_nonce: '9' }, {}],
    ['regression', { last_outgoing_pool_id: '2', unbatched_transfers: [] }, {}],
    ['stale', {}, { after: 301 }],
    ['list', { unbatched_transfers: null }, {}],
    ['list', { batches: [null] }, {}],
    ['list', { unbatched_transfers: [{ ...usd(4), id: 'x' }] }, {}],
    ['list', { attestations: null }, {}],
    ['list', { params: null }, {}],
    ['inconsistent', { last_observed_nonce: '10' }, {}],
    ['inconsistent', { last_outgoing_pool_id: '1000000' }, {}],
    ['inconsistent', { last_observed_nonce: '99999999999999999999' }, {}],
    ['inconsistent', { unbatched_transfers: [usd(3), usd(4)] }, {}],
    ['inconsistent', { unbatched_transfers: [usd(4), usd(5)] }, {}],
    ['inconsistent', { batches: [liveBatch(6, [usd(4)])] }, {}],
    ['inconsistent', { batches: [liveBatch(8, [usd(4)])] }, {}],
    ['inconsistent', { attestations: [event(11, 'MsgDepositClaim', { token_contract: '0xa', amount: '1' })] }, {}],
    [
      'inconsistent',
      {
        unbatched_transfers: [usd(1), usd(4)],
        attestations: [event(11, 'MsgWithdrawClaim', { token_contract: '0xa', batch_nonce: '7' })],
      },
      {},
    ],
  ])('%s counts nothing else', (reason, fields, options) => {
    const endpoint = bridgePolls();
    endpoint.poll(state(before));
    endpoint.poll(state({ ...after, ...fields }), options);
    expect(endpoint.values()).toEqual({ [`bridge_flow_gaps_total{reason="${reason}"}`]: 1 });
  });

  it('is counted once for an interruption by several documents, after which the flow goes on', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state(before));
    for (let poll = 0; poll < 3; poll += 1) endpoint.poll(state({ ...after, batches: null }));
    endpoint.poll(state(after));
    expect(endpoint.gaps()).toEqual({ list: 1 });
    endpoint.poll(state({ ...after, unbatched_transfers: [] }));
    expect(endpoint.values()).toEqual({
      [`bridge_transfers_canceled_total{${LABELS}}`]: 1,
      'bridge_flow_gaps_total{reason="list"}': 1,
    });
  });

  it('by two nodes of different heights counts nothing twice', () => {
    const endpoint = bridgePolls();
    for (let poll = 0; poll < 5; poll += 1) {
      endpoint.poll(state(before));
      endpoint.poll(state(after));
    }
    expect(endpoint.values()).toMatchObject({
      [`bridge_batches_executed_total{${LABELS}}`]: 1,
      // Back, and forth again.
      'bridge_flow_gaps_total{reason="regression"}': 8,
    });
  });

  it('is every interval of a hub that was rolled back, until it is past what was counted', () => {
    const endpoint = bridgePolls();
    const at = (id: number): JsonObject =>
      state({ ...BASE, last_outgoing_pool_id: String(id), unbatched_transfers: [usd(id)] });
    for (const id of [8, 8, 4, 5, 6, 8, 9]) endpoint.poll(at(id));
    expect(endpoint.values()).toMatchObject({
      [`bridge_transfers_canceled_total{${LABELS}}`]: 1,
      'bridge_flow_gaps_total{reason="regression"}': 4,
    });
  });

  it('by a node that has not executed the last block, and does not send its height, counts nothing twice', () => {
    const endpoint = bridgePolls();
    // A sender takes back his transfer, which changes no number of the hub.
    const canceled = { ...before, unbatched_transfers: [] };
    endpoint.poll(state(before));
    for (let poll = 0; poll < 4; poll += 1) {
      endpoint.poll(state(canceled));
      endpoint.poll(state(before));
    }
    expect(endpoint.values()).toEqual({
      [`bridge_transfers_canceled_total{${LABELS}}`]: 1,
      'bridge_flow_gaps_total{reason="inconsistent"}': 4,
    });
  });

  it('by a document that contradicts the one before counts nothing that only this one has', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state(before));
    const forged = liveBatch(6, [transfer('0', '0xa', '1000000')]);
    endpoint.poll(state({ ...before, batches: [...before.batches, forged] }));
    endpoint.poll(state({ ...before, last_observed_nonce: '11' }));
    expect(endpoint.values()).toEqual({ 'bridge_flow_gaps_total{reason="inconsistent"}': 1 });
    endpoint.poll(state({ ...after, unbatched_transfers: [usd(2), usd(4)], last_observed_nonce: '12' }));
    expect(endpoint.values()).toMatchObject({
      [`bridge_batches_executed_total{${LABELS}}`]: 1,
      [`bridge_token_withdrawn_amount_total{${LABELS}}`]: 5,
    });
  });

  it('by a chain that has truly made a large step ends with the second document after it', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state(before));
    const later = { ...BASE, last_outgoing_pool_id: '1000000', last_observed_nonce: '11' };
    for (let poll = 0; poll < 2; poll += 1) endpoint.poll(state({ ...later, unbatched_transfers: [usd(1_000_000)] }));
    endpoint.poll(state(later));
    expect(endpoint.values()).toEqual({
      [`bridge_transfers_canceled_total{${LABELS}}`]: 1,
      'bridge_flow_gaps_total{reason="inconsistent"}': 1,
    });
  });

  it.each([
    [
      'the flow goes on',
      { params: { bridge_external_address: '0xd' } },
      { [`bridge_transfers_canceled_total{${LABELS}}`]: 1 },
    ],
    ['nothing is counted without a contract', { params: {} }, {}],
  ])('by an odd document and then another contract with lower ids: %s', (_title, fields, counted) => {
    const endpoint = bridgePolls();
    endpoint.poll(state(before));
    endpoint.poll(state({ ...after, batches: null }));
    const other = {
      ...BASE,
      last_observed_nonce: '1',
      last_outgoing_batch_id: '0',
      last_outgoing_pool_id: '1',
      ...fields,
    };
    for (let poll = 0; poll < 2; poll += 1) endpoint.poll(state({ ...other, unbatched_transfers: [usd(1)] }));
    endpoint.poll(state(other));
    expect(endpoint.values()).toEqual({ ...counted, 'bridge_flow_gaps_total{reason="list"}': 1 });
  });

  it('by an odd document leaves no times at which transfers were first seen', () => {
    const endpoint = bridgePolls();
    endpoint.poll(state(BASE));
    const requested = { ...BASE, last_outgoing_pool_id: '4', last_outgoing_batch_id: '8' };
    const batches = [liveBatch(8, [usd(4)])];
    endpoint.poll(state({ ...requested, batches }));
    endpoint.poll(state({ ...requested, batches: null }));
    endpoint.poll(state({ ...requested, batches }));
    endpoint.poll(state({ ...requested, last_observed_nonce: '11' }));
    expect(endpoint.values()).toMatchObject({ [`bridge_transfers_executed_total{${LABELS}}`]: 1 });
    expect(endpoint.values()).not.toHaveProperty('bridge_transfer_duration_seconds_sum');
  });
});
