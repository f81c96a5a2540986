import { describe, expect, it } from 'vitest';
import { initialState, type EndpointState } from '../../src/engine/endpoint-state.js';
import { joinTexts } from '../../src/problems/sentence.js';
import { batch, idleState, transfer, validators, vote } from '../items/bridge-state.js';
import { START } from '../support/polls.js';
import { bridgeContext, bridgePoll, type BridgeOptions } from '../support/snapshots.js';
import { step } from '../support/steps.js';

/* That batches are executed, what they have paid, and what that says about others. */

const DAY_MINUTES = 24 * 60;
const HEIGHT = 100_000;

/** A bridge of which each document is a minute after the one before. The external height is 1000. */
function createBridge(options: BridgeOptions = {}) {
  const settings = { block_time: 2000, external_block_time: 12_000, ...options };
  const context = { ...bridgeContext(settings), isSinglePoll: true };
  let state = initialState(context, START.at);
  let [minute, nonce, event] = [0, 10, 7];

  const next = (own: object, minutes = 1): EndpointState => {
    minute += minutes;
    const height = String(HEIGHT + minute * 30);
    const document = {
      ...idleState,
      params: { ...idleState.params, target_batch_timeout: '43200000', average_external_block_time: '12000' },
      last_observed_nonce: String(event),
      attestations: [{ observed: true, height, votes: [0, 1, 2, 3].map(vote), claim: { event_nonce: String(event) } }],
      last_outgoing_batch_id: String(nonce),
      last_outgoing_pool_id: '999999',
      ...own,
    };
    const poll = bridgePoll(document, { ...settings, height, atMs: minute * 60_000, externalHeight: 1000 });
    state = step(state, poll, context, { ...START, at: START.at + minute * 60 });
    return state;
  };

  const claim = (observed: boolean, batchNonce: number, contract: string, amount = '1') => ({
    observed,
    height: String(HEIGHT),
    votes: [0, 1, 2, 3].map(vote),
    claim: {
      '@type': 'MsgWithdrawClaim',
      event_nonce: String(event),
      batch_nonce: String(batchNonce),
      token_contract: contract,
      amount,
    },
  });

  /** The documents of a batch that is claimed as executed, and then gone. */
  const execute = (fee: string, contract = '0xT', seen: 'pending' | 'observed' = 'pending'): void => {
    nonce += 1;
    const batches = [live(String(nonce), fee, contract)];
    const { attestations } = idleState;
    const observed = { ...attestations[0], claim: { event_nonce: String(event) } };
    event += 1;
    const pending = seen === 'pending' ? [claim(false, nonce, contract)] : [];
    next({ batches, last_observed_nonce: String(event - 1), attestations: [observed, ...pending] });
    next(seen === 'observed' ? { attestations: [claim(true, nonce, contract)] } : {});
  };

  return {
    next,
    claim,
    execute,
    executeTen: (contract = '0xT') => {
      for (const fee of ['900', '100', '901', '121', '902', '903', '904', '905', '906', '907']) execute(fee, contract);
    },
    takeEvent: () => (event += 1),
  };
}

const live = (nonce: string, fee: string, contract = '0xT', timeout = '60000') => ({
  ...batch(nonce, timeout, String(HEIGHT)),
  token_contract: contract,
  transactions: [
    {
      ...transfer(String(Number(nonce) * 10)),
      erc20_token: { contract, amount: '1' },
      erc20_fee: { contract, amount: fee },
    },
  ],
});

/** Signed by all. */
function signed(...batches: readonly ReturnType<typeof live>[]) {
  const batch_confirms = batches.flatMap(({ batch_nonce: nonce, token_contract }) =>
    validators.map(({ eth_address }) => ({ nonce, token_contract, eth_signer: eth_address })),
  );
  return { batches, batch_confirms };
}

const seriesOf = (state: EndpointState, name: string): readonly string[] =>
  (state.lastSuccess?.snapshot.renderedFamilies ?? [])
    .filter((family) => family.name === name)
    .flatMap(({ text }) => text.trimEnd().split('\n'));

const learnedIn = (state: EndpointState): readonly string[] =>
  seriesOf(state, 'bridge_token_learned_min_batch_fees_amount').map((line) => line.replace(/^.*token_contract=/, ''));

const relayableIn = (state: EndpointState): number =>
  Number(seriesOf(state, 'bridge_relayable_batches')[0]?.split(' ').at(-1));

const problemsIn = (state: EndpointState, name: string): readonly string[] =>
  (state.lastSuccess?.snapshot.judgement.present ?? [])
    .filter(({ problem }) => problem.name === name)
    .map(({ problem, summary, details }) => `${problem.severity}: ${joinTexts('; ', summary, details)}`);

describe('the learned minimum', () => {
  it('is half of the second-lowest fees of ten executed batches, whose claims were seen pending or observed', () => {
    for (const seen of ['pending', 'observed'] as const) {
      const bridge = createBridge();
      for (let number = 0; number < 9; number += 1) bridge.execute(String(121 + number), '0xT', seen);
      expect(learnedIn(bridge.next({})), 'nine').toEqual([]);
      bridge.execute('100', '0xT', seen);
      expect(learnedIn(bridge.next({}))).toEqual(['"0xt"} 60']);
    }
  });

  it('is forgotten a day after the last execution, and what is older than fourteen days is not in it', () => {
    const bridge = createBridge();
    bridge.executeTen();
    expect(learnedIn(bridge.next({}, DAY_MINUTES - 5))).toEqual(['"0xt"} 60']);
    expect(learnedIn(bridge.next({}, 10))).toEqual([]);
    bridge.execute('500');
    expect(learnedIn(bridge.next({}))).toEqual(['"0xt"} 60']);
    for (let day = 0; day < 14; day += 1) {
      bridge.next({}, DAY_MINUTES);
      bridge.execute('2000');
    }
    expect(learnedIn(bridge.next({}))).toEqual(['"0xt"} 1000']);
  });

  it('and the tokens that are executed are not forgotten while nothing is executed', () => {
    const bridge = createBridge();
    bridge.executeTen();
    bridge.executeTen('0xU');
    const waiting = signed(live('500', '500'), live('501', '500', '0xU'));
    bridge.next({ ...waiting, last_outgoing_batch_id: '501' });
    const state = bridge.next({ ...waiting, last_outgoing_batch_id: '501' }, 20 * DAY_MINUTES);
    expect(problemsIn(state, 'BridgeBatchNotRelayed').map((text) => text.split(':')[0])).toEqual([
      'critical',
      'warning',
    ]);
  });

  it('is learned of batches that were executed, and of no others', () => {
    const bridge = createBridge();
    bridge.executeTen();
    const batches = [live('500', '1')];
    // It vanishes without a claim, as at an upgrade.
    bridge.next({ batches, last_outgoing_batch_id: '500' });
    bridge.next({ last_outgoing_batch_id: '500' });
    // It is claimed, and its transfer returns to the queue.
    bridge.takeEvent();
    const claimed = { attestations: [bridge.claim(false, 500, '0xT')], last_outgoing_batch_id: '500' };
    bridge.next({ ...claimed, batches, last_observed_nonce: '17' });
    bridge.next({ unbatched_transfers: batches[0]?.transactions ?? [], last_outgoing_batch_id: '500' });
    // Validators claim different things, and nobody has seen which claim was observed.
    bridge.takeEvent();
    const disputed = [bridge.claim(false, 500, '0xT'), bridge.claim(false, 499, '0xT')];
    bridge.next({ attestations: disputed, batches, last_observed_nonce: '18', last_outgoing_batch_id: '500' });
    bridge.next({ last_outgoing_batch_id: '500' });
    expect(learnedIn(bridge.next({ last_outgoing_batch_id: '500' }))).toEqual(['"0xt"} 60']);
  });

  it('counts a batch once, also when a node with an older state answers', () => {
    const bridge = createBridge();
    for (let number = 0; number < 8; number += 1) bridge.execute(String(121 + number));
    bridge.execute('100');
    const again = {
      batches: [live('19', '100')],
      attestations: [bridge.claim(false, 19, '0xT')],
      last_observed_nonce: '15',
    };
    for (let turn = 0; turn < 5; turn += 1) {
      bridge.next(again);
      bridge.next({});
    }
    expect(learnedIn(bridge.next({}))).toEqual([]);
  });
});

describe('a batch of a token without min_batch_fee', () => {
  it('is not relayable below what was learned; a fee that cannot be read withdraws nothing, and a configured minimum wins', () => {
    const count = (fee: unknown, options: BridgeOptions = {}) => {
      const bridge = createBridge(options);
      bridge.executeTen();
      return relayableIn(bridge.next({ ...signed(live('500', fee as string)), last_outgoing_batch_id: '500' }));
    };
    expect([count('59'), count('60'), count('121'), count({})]).toEqual([0, 1, 1, 1]);
    const tokens = [{ contract: '0xt', symbol: 'T', min_batch_fee: '200' }];
    expect([count('199', { tokens }), count('200', { tokens })]).toEqual([0, 1]);
  });

  const near = (nonce: string, fee: string, contract = '0xT') => live(nonce, fee, contract, '1700');
  const past = (nonce: string, fee: string, contract = '0xT') => live(nonce, fee, contract, '900');
  const after = (learn: readonly string[], execute: readonly string[], batches: readonly ReturnType<typeof live>[]) => {
    const bridge = createBridge();
    for (const contract of learn) bridge.executeTen(contract);
    for (const contract of execute) bridge.execute('1', contract);
    return bridge.next({ ...signed(...batches), last_outgoing_batch_id: '900' });
  };

  it.each([
    [
      'BridgeBatchTimeoutNear',
      near,
      'warning: signed batches time out soon; batch 500 of 0xt in about 2 h 20 min, at 00:54 UTC',
    ],
    ['BridgeBatchOverdue', past, 'critical: transfers are locked in batch 500 of 0xt, which has timed out'],
  ] as const)('is in %s when it pays what others have paid, and not when it is too poor', (name, of, text) => {
    const found = (fee: string) => problemsIn(after(['0xT'], [], [of('500', fee)]), name);
    expect(found('59')).toEqual([]);
    // One of the executed batches has paid as much, which others may not do again.
    expect(found('120')).toEqual([]);
    expect(found('121')).toEqual([expect.stringContaining(text)]);
  });

  it.each([
    ['BridgeBatchTimeoutNear', near],
    ['BridgeBatchOverdue', past],
  ] as const)(
    'is in %s with nothing learned when one of another token is, and both were executed lately',
    (name, of) => {
      const two = [of('500', '5'), of('501', '5', '0xU')];
      const severities = (execute: readonly string[], batches = two) =>
        problemsIn(after([], execute, batches), name).map((text) => text.split(':')[0]);
      expect(severities([])).toEqual([]);
      expect(severities(['0xT'])).toEqual([]);
      expect(severities(['0xT', '0xU'], [of('500', '5'), of('501', '5')])).toEqual([]);
      expect(severities(['0xT', '0xU'])).toEqual(['warning']);
    },
  );

  it('of a token that nobody relays is no reason that relayers are late, where others are executed', () => {
    const found = (execute: readonly string[]) => {
      const bridge = createBridge();
      for (const contract of execute) bridge.execute('1', contract);
      const waiting = { ...signed(live('500', '5'), live('501', '5', '0xDust')), last_outgoing_batch_id: '501' };
      bridge.next(waiting);
      return problemsIn(bridge.next(waiting, 180), 'BridgeBatchNotRelayed').length;
    };
    expect(found(['0xT', '0xU'])).toBe(0);
    expect(found(['0xT', '0xDust'])).toBe(1);
    expect(found([]), 'nothing is known').toBe(1);
  });

  it('stays known to pay enough when nothing has been executed for more than a day', () => {
    const bridge = createBridge();
    bridge.executeTen();
    bridge.executeTen('0xU');
    const waiting = signed(live('500', '500'), live('501', '500', '0xU'), live('502', '5'));
    bridge.next({ ...waiting, last_outgoing_batch_id: '502' });
    const state = bridge.next({ ...waiting, last_outgoing_batch_id: '502' }, 2 * DAY_MINUTES);
    expect(learnedIn(state)).toEqual([]);
    expect(problemsIn(state, 'BridgeBatchNotRelayed').map((text) => text.split(',')[1])).toEqual([
      ' and none is executed; 2 waiting; the first times out in about 8 d 4 h',
      ' and none is executed; 3 waiting; the first times out in about 8 d 4 h',
    ]);
  });
});

describe('BridgeBatchNotRelayed', () => {
  const waiting = [live('500', '5'), live('501', '5', '0xU')];
  const third = live('499', '5', '0xV');

  const startIn = (state: EndpointState): number | undefined =>
    state.lastSuccess?.snapshot.judgement.present.find(({ problem }) => problem.name === 'BridgeBatchNotRelayed')
      ?.startAt;

  /** Whether the problem begins anew with the second document in which the batch of a third token is gone. */
  const hasProgress = (own: object, hasEvent: boolean): boolean => {
    const bridge = createBridge();
    const all = { ...signed(...waiting, third), last_outgoing_batch_id: '501' };
    bridge.next(all);
    const start = startIn(bridge.next(all, 180));
    expect(start).toBeDefined();
    if (hasEvent) bridge.takeEvent();
    bridge.next({ ...signed(...waiting), last_outgoing_batch_id: '501', ...own });
    return startIn(bridge.next({ ...signed(...waiting), last_outgoing_batch_id: '501' })) !== start;
  };

  const deposit = { '@type': 'MsgDepositClaim', event_nonce: '8', token_contract: '0xV', amount: '1' };

  const observed = { attestations: [{ observed: true, height: '1', votes: [], claim: deposit }] };

  it.each<[string, object, hasEvent: boolean, isNew?: boolean]>([
    ['begins anew when a batch is executed, also if nobody has seen the claim', {}, true, true],
    ['goes on when a batch is gone without an event, as at an upgrade', {}, false],
    ['goes on when a batch is canceled', { unbatched_transfers: third.transactions }, true],
    ['goes on when more batches are gone than there were events', { batches: [waiting[0]] }, true],
    ['goes on when the event was a deposit', observed, true],
    ['goes on when the hub of this node has not created the batch', { last_outgoing_batch_id: '498' }, true],
  ])('%s', (_title, own, hasEvent, isNew = false) => {
    expect(hasProgress(own, hasEvent)).toBe(isNew);
  });
});
