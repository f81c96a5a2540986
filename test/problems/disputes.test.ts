import { describe, expect, it } from 'vitest';
import { disputedClaims, disputedThing, firstDispute } from '../../src/problems/oracle-problems.js';
import { idleState, vote } from '../items/bridge-state.js';
import { asReadable, bridgeItemsOf } from '../items/read-items.js';

const claim = (votes: readonly number[], content: object, nonce = 8) => ({
  observed: false,
  height: '950',
  votes: votes.map(vote),
  claim: { event_nonce: `${nonce}`, block_height: '812', ...content },
});

const deposit = {
  '@type': 'MsgDepositClaim',
  token_contract: '0xT',
  amount: '2500000',
  cosmos_receiver: 'hub1receiver',
  ethereum_sender: '0xa9f48b11',
};

/** What the heading says about, and below it. */
function textsOf(...claims: readonly object[]): [string, string] {
  const attestations = [...idleState.attestations, ...claims];
  const tokens = [
    { contract: '0xt', symbol: 'USDT', decimals: 6 },
    { contract: '0xu', symbol: 'WETH', decimals: 18 },
  ];
  const items = bridgeItemsOf({ ...idleState, attestations }, { height: '1000', tokens });
  const listed = asReadable(items.claims).rows;
  const dispute = firstDispute(listed);
  if (dispute === undefined) throw new Error('there is no dispute');
  return [
    disputedThing(
      dispute,
      new Set(listed.filter(({ conflicting }) => conflicting).map(({ eventNonce }) => eventNonce)).size,
    ),
    disputedClaims(dispute),
  ];
}

describe('a disputed event', () => {
  it.each([
    ['the amount', { amount: '2500001' }, '60 % of the power claim 2.500001 USDT, 40 % claim 2.5 USDT'],
    ['the token', { token_contract: '0xU' }, '60 % of the power claim WETH, 40 % claim USDT'],
    [
      'the receiver',
      { cosmos_receiver: 'hub1other' },
      '60 % of the power claim receiver hub1other, 40 % claim receiver hub1receiver',
    ],
    [
      'the external height',
      { block_height: '813' },
      '60 % of the power claim external height 813, 40 % claim external height 812',
    ],
    [
      'the type',
      { '@type': 'MsgWithdrawClaim', batch_nonce: '3' },
      '60 % of the power claim batch 3 of USDT, 40 % claim deposit of 2.5 USDT',
    ],
  ])('differs in %s', (what, change, claims) => {
    expect(textsOf(claim([0], deposit), claim([1, 2, 3], { ...deposit, ...change }))).toEqual([
      `${what} of event 8`,
      claims,
    ]);
  });

  it('can differ in several fields, of which the first is told, and in none that is read', () => {
    const both = { ...deposit, amount: '1000000', block_height: '813' };
    expect(textsOf(claim([0], deposit), claim([1], both))).toEqual([
      'the amount of event 8',
      '40 % of the power claim 2.5 USDT, 30 % claim 1 USDT',
    ]);
    expect(textsOf(claim([0], deposit), claim([1], deposit))).toEqual([
      'event 8',
      'it has 2 claims with 40 % of the power, 30 %',
    ]);
  });

  it('is the first one of several', () => {
    const other = { ...deposit, amount: '1' };
    const [what] = textsOf(claim([0], deposit, 9), claim([1], other, 9), claim([0], deposit), claim([1], other));
    expect(what).toBe('the amount of event 8 and 1 other event');
  });
});
