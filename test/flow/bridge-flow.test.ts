import { describe, expect, it } from 'vitest';
import type { BridgePast } from '../../src/facts/bridge/bridge-input.js';
import { bridgePast } from '../../src/facts/bridge/bridge-past.js';
import { trackBridge, type BridgeFlow } from '../../src/flow/bridge-flow.js';
import { defaultBridgeSettings } from '../../src/config/endpoint-config.js';
import { createModel } from '../../src/simulator/model.js';
import { Random } from '../../src/simulator/random.js';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { batch, state, transfer, valset } from '../facts/bridge/state.js';
import { fuzzRuns, fuzzTimeoutMs } from '../support/fuzz.js';
import type { JsonObject } from '../support/json.js';
import { bridgeContext, inputOf } from '../support/snapshots.js';
import { polledDocuments, START_SECONDS } from './polled-documents.js';

const usd = (id: number, contract = '0xa'): JsonObject => transfer(String(id), contract, '5');

const BASE = {
  params: { bridge_external_address: '0xc', average_block_time: '2000' },
  last_observed_nonce: '10',
  last_observed_external_height: '500',
  last_outgoing_batch_id: '7',
  last_outgoing_pool_id: '3',
  last_observed_valset: valset('1', {}),
  erc20_to_denoms: [{ erc20: '0xa', denom: 'usd' }],
};

const liveBatch = (nonce: number, transfers: JsonObject[], timeout = 1000, contract = '0xa'): JsonObject =>
  batch(String(nonce), contract, { batch_timeout: String(timeout), block: '100', transactions: transfers });

const claim = (nonce: number, type: string, fields: JsonObject = {}): JsonObject => ({
  observed: true,
  votes: ['v'],
  height: '1',
  claim: { '@type': `/x.${type}`, event_nonce: String(nonce), ...fields },
});

function bridgePolls(maxSeries = 200) {
  const { poll, fail, values } = polledDocuments({ ...bridgeContext(), maxSeries });
  const all = () => values(/^bridge_(?:batches_(?:executed|canceled)|transfers_executed)_total$/);
  return {
    poll: (document: JsonObject, { after = 30, height }: { after?: number; height?: number } = {}): void =>
      poll({ state: state(document) }, after, { height }),
    fail,
    all,
    /** Those that are not 0. */
    values: () => Object.fromEntries(Object.entries(all()).filter(([, value]) => value !== 0)),
  };
}

const LABELS = 'token_contract="0xa",denom="usd"';
const executed = (transfers: number, batches = 1) => ({
  [`bridge_batches_executed_total{${LABELS}}`]: batches,
  [`bridge_transfers_executed_total{${LABELS}}`]: transfers,
});
const canceled = (reason: string) => ({ [`bridge_batches_canceled_total{${LABELS},reason="${reason}"}`]: 1 });

const before = { ...BASE, batches: [liveBatch(7, [usd(1), usd(2)])] };
/** The batch was executed. */
const after = { ...BASE, last_observed_nonce: '11' };

describe('the flow of the bridge', () => {
  it('starts with 0 for the tokens of the first document, and counts a batch and its transfers when it is executed', () => {
    const endpoint = bridgePolls();
    endpoint.poll(before);
    expect(endpoint.all()).toEqual({
      ...executed(0, 0),
      ...Object.fromEntries(
        ['timeout', 'superseded', 'unknown'].flatMap((reason) =>
          Object.keys(canceled(reason)).map((series) => [series, 0]),
        ),
      ),
    });
    endpoint.poll(after);
    expect(endpoint.values()).toEqual(executed(2));
  });

  it('stays while polls fail, and while the chain series are withdrawn', () => {
    const endpoint = bridgePolls();
    endpoint.poll(before);
    endpoint.poll(after);
    endpoint.fail();
    endpoint.fail(400);
    expect(endpoint.values()).toEqual(executed(2));
  });

  it.each([
    ['timeout', { last_observed_external_height: '600' }, 550],
    ['unknown', { last_observed_external_height: '600' }, 700],
  ])('counts a batch whose transfers return as canceled: %s', (reason, fields, timeout) => {
    const endpoint = bridgePolls();
    endpoint.poll({ ...BASE, batches: [liveBatch(7, [usd(1)], timeout)] });
    endpoint.poll({ ...after, ...fields, unbatched_transfers: [usd(1)] });
    expect(endpoint.values()).toEqual(canceled(reason));
  });

  it.each([
    ['superseded after one event, although it has timed out', '11', 'superseded'],
    ['unknown after two events, whose order is unknown', '12', 'unknown'],
  ])('counts a batch below an executed one of the same token as %s', (_title, nonce, reason) => {
    const endpoint = bridgePolls();
    endpoint.poll({ ...BASE, batches: [liveBatch(6, [usd(1)], 550), liveBatch(7, [usd(2)])] });
    const late = { last_observed_nonce: nonce, last_observed_external_height: '600' };
    endpoint.poll({ ...BASE, ...late, unbatched_transfers: [usd(1)] });
    expect(endpoint.values()).toEqual({ ...canceled(reason), ...executed(1) });
  });

  it('counts a canceled batch of which a transfer is in a new batch at once', () => {
    const endpoint = bridgePolls();
    endpoint.poll({ ...BASE, batches: [liveBatch(7, [usd(1), usd(2)], 550)] });
    const late = { last_observed_external_height: '600', last_outgoing_batch_id: '8' };
    endpoint.poll({ ...after, ...late, batches: [liveBatch(8, [usd(2)])] });
    expect(endpoint.values()).toEqual(canceled('timeout'));
  });

  it('gives a denom to a token once it has one, and keeps it', () => {
    const endpoint = bridgePolls();
    const { erc20_to_denoms: _denoms, ...withoutDenoms } = BASE;
    const tokenOf = () => Object.keys(endpoint.all())[0];
    endpoint.poll({ ...withoutDenoms, unbatched_transfers: [usd(3)] });
    expect(tokenOf()).toContain('denom=""');
    endpoint.poll(BASE);
    endpoint.poll(withoutDenoms);
    expect(tokenOf()).toContain('denom="usd"');
  });

  it('has a series for the first tokens, and one for all that come later, which starts with 0', () => {
    const endpoint = bridgePolls(3);
    const of = (nonce: number, contract: string): JsonObject =>
      liveBatch(nonce, [usd(nonce, contract)], 1000, contract);
    const batches = [of(4, '0xb'), of(5, '0xc'), of(6, '0xd'), of(7, '0xa')];
    endpoint.poll({ ...BASE, erc20_to_denoms: [], batches: [of(7, '0xa')] });
    endpoint.poll({ ...BASE, erc20_to_denoms: [], batches });
    expect(endpoint.all()).toMatchObject({ 'bridge_batches_executed_total{token_contract="other",denom="other"}': 0 });
    endpoint.poll({ ...BASE, erc20_to_denoms: [], last_observed_nonce: '14' });
    expect(Object.entries(endpoint.values()).filter(([series]) => series.includes('batches'))).toEqual([
      ['bridge_batches_executed_total{token_contract="0xa",denom=""}', 1],
      ['bridge_batches_executed_total{token_contract="0xb",denom=""}', 1],
      ['bridge_batches_executed_total{token_contract="other",denom="other"}', 2],
    ]);
  });
});

describe('nothing is counted', () => {
  it.each<readonly [string, JsonObject, { after?: number }]>([
    ['with another contract', { params: { bridge_external_address: '0xd' } }, {}],
    ['without the contract, which can be another one', { params: null }, {}],
    ['with a lower batch id', { last_outgoing_batch_id: '6' }, {}],
    ['with a lower event nonce', { last_observed_nonce: '9' }, {}],
    ['with a lower transfer id', { last_outgoing_pool_id: '2' }, {}],
    ['after more than stale_after', {}, { after: 301 }],
    ['without the queue', { unbatched_transfers: null }, {}],
    ['with a batch that cannot be read', { batches: [null] }, {}],
    ['with an id that cannot be read', { unbatched_transfers: [{ ...usd(4), id: 'x' }] }, {}],
    ['without claims', { attestations: null }, {}],
    ['without an event', { last_observed_nonce: '10' }, {}],
    [
      'after an event of another type',
      { attestations: [claim(11, 'MsgDepositClaim', { token_contract: '0xa', amount: '1' })] },
      {},
    ],
    [
      'of a batch that is claimed as executed and whose transfers are back',
      {
        unbatched_transfers: [usd(1)],
        attestations: [claim(11, 'MsgWithdrawClaim', { token_contract: '0xa', batch_nonce: '7' })],
      },
      {},
    ],
  ])('%s', (_title, fields, options) => {
    const endpoint = bridgePolls();
    endpoint.poll(before);
    endpoint.poll({ ...after, ...fields }, options);
    expect(endpoint.values()).toEqual({});
  });

  it('across a document that cannot be read, after which the flow goes on', () => {
    const endpoint = bridgePolls();
    endpoint.poll(before);
    for (let poll = 0; poll < 3; poll += 1) endpoint.poll({ ...after, batches: null });
    endpoint.poll({ ...after, last_outgoing_batch_id: '8', batches: [liveBatch(8, [usd(3)])] });
    expect(endpoint.values()).toEqual({});
    endpoint.poll({ ...after, last_outgoing_batch_id: '8', last_observed_nonce: '12' });
    expect(endpoint.values()).toEqual(executed(1));
  });

  it('twice by nodes in turn of which one is behind', () => {
    const endpoint = bridgePolls();
    for (let poll = 0; poll < 5; poll += 1) {
      endpoint.poll(before);
      endpoint.poll(after);
    }
    expect(endpoint.values()).toEqual(executed(2));
  });

  it('as canceled by a node that does not have the newest batch yet', () => {
    const endpoint = bridgePolls();
    const behind = { ...BASE, unbatched_transfers: [usd(3)] };
    const ahead = { ...BASE, last_outgoing_batch_id: '8', batches: [liveBatch(8, [usd(3)])] };
    for (const document of [behind, ahead, behind, ahead, behind]) endpoint.poll(document);
    expect(endpoint.values()).toEqual({});
  });

  it('twice by a hub that was rolled back', () => {
    const endpoint = bridgePolls();
    endpoint.poll(before, { height: 100 });
    endpoint.poll(after, { height: 110 });
    // The third document of a lower height is accepted.
    for (let poll = 0; poll < 3; poll += 1) endpoint.poll(before, { height: 90 });
    endpoint.poll(after, { height: 120 });
    expect(endpoint.values()).toEqual(executed(2));
  });

  it('of a hub with another contract before its second document', () => {
    const endpoint = bridgePolls();
    endpoint.poll(before);
    const other = {
      ...BASE,
      params: { bridge_external_address: '0xd' },
      last_observed_nonce: '1',
      last_outgoing_batch_id: '1',
      last_outgoing_pool_id: '1',
    };
    endpoint.poll({ ...other, batches: [liveBatch(1, [usd(1)])] });
    expect(endpoint.values()).toEqual({});
    endpoint.poll({ ...other, last_observed_nonce: '2' });
    expect(endpoint.values()).toEqual(executed(1));
  });
});

/** The counts of a flow with the names of the books of the simulator. */
function countsOf(flow: BridgeFlow | undefined): Record<string, number> {
  const all = Array.from(flow?.tokens ?? [], ([contract, counts]): [string, number][] => [
    [`batches_executed ${contract}`, counts.batchesExecuted],
    [`transfers_executed ${contract}`, counts.transfersExecuted],
    [`batches_canceled ${contract}`, counts.timeout + counts.superseded + counts.unknown],
  ]);
  return Object.fromEntries(all.flat().filter(([, count]) => count > 0));
}

it('equals the books of a chain through all scenarios, also when polls fail', { timeout: fuzzTimeoutMs(5000) }, () => {
  const model = createModel({ seed: 5, scenario: 'healthy', startTime: START_SECONDS, blockTimeMs: 10_000 });
  const random = new Random(5, 'failed polls');
  let [flow, past, seconds]: [BridgeFlow | undefined, BridgePast | undefined, number] = [undefined, undefined, 0];
  const poll = (): void => {
    const { state: full } = model.moduleState();
    // Without lists that are not read, for speed.
    const json = { state: { ...full, valsets: [], valset_confirms: [], batch_confirms: [] } };
    const input = inputOf('module_state', json, {
      settings: defaultBridgeSettings,
      height: BigInt(model.height),
      at: START_SECONDS + seconds,
      past,
    });
    [flow, past] = [trackBridge(flow, input, { staleAfterMs: 300_000, maxSeries: 200 }), bridgePast(input)];
  };
  const booksOf = (): Record<string, number> => {
    const books: Record<string, number> = {};
    for (const [key, count] of model.counts) {
      const name = key.toLowerCase().split(' ').slice(0, 2).join(' ');
      books[name] = (books[name] ?? 0) + Number(count);
    }
    return books;
  };
  poll();
  const first = booksOf();
  for (const scenario of scenarioNames.filter((name) => name !== 'mainnet')) {
    model.setScenario(scenario);
    for (let minute = 0; minute < fuzzRuns(0.075) * 60; minute += 0.5) {
      model.advanceTime(30_000);
      seconds += 30;
      if (!random.chance(0.1)) poll();
    }
  }
  poll();
  const last = Object.entries(booksOf()).map(([key, count]) => [key, count - (first[key] ?? 0)] as const);
  const expected = Object.fromEntries(last.filter(([, count]) => count > 0));
  expect(Object.keys(expected).some((key) => key.startsWith('batches_executed'))).toBe(true);
  expect(countsOf(flow)).toEqual(expected);
});
