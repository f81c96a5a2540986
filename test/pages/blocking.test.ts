import { describe, expect, it } from 'vitest';
import type { BridgeItems } from '../../src/pending/items.js';
import { blockingValidators } from '../../src/pages/blocking.js';
import { blockingSection } from '../../src/pages/blocking-table.js';
import { batch, idleState, members, vote } from '../pending/bridge-state.js';
import { bridgeResult } from './sample-snapshots.js';

/** Blocks take 2 s, so items from height 850 and before are at least five minutes old at height 1000. */
const HEIGHT = '1000';
const [OLD, YOUNG] = ['850', '851'];

function itemsOf(state: object): BridgeItems {
  const { outcome } = bridgeResult({ ...idleState, ...state }, HEIGHT);
  if (!outcome.ok || outcome.items.document !== 'module_state') throw new Error('the state cannot be read');
  return outcome.items;
}

/** The validators with what they block, shortened. */
const summaryOf = (items: BridgeItems) =>
  blockingValidators(items).map(({ externalAddress, batches, valsets, events, otherClaims }) =>
    [externalAddress, batches.join(), valsets.join(), events.join(), ...otherClaims.map((nonce) => `(${nonce})`)].join(
      ' ',
    ),
  );

const claim = (event_nonce: string, height: string, votes: readonly string[], type = 'deposit') => ({
  observed: false,
  height,
  votes,
  claim: { event_nonce, type },
});

const confirms = (nonce: string, ...addresses: readonly string[]) =>
  addresses.map((eth_signer) => ({ nonce, token_contract: '0xT', eth_signer }));

describe('the blocking validators', () => {
  it('are those that have not signed an old batch without sufficient signatures, largest power first', () => {
    const batches = [batch('1', '600', OLD), batch('2', '700', OLD), batch('3', '700', YOUNG)];
    const batch_confirms = [...confirms('1', '0xa1'), ...confirms('2', '0xa1', '0xa2')];
    const items = itemsOf({ batches, batch_confirms });
    expect(summaryOf(items)).toEqual(['0xa2 1  ', '0xa3 1  ', '0xa4 1  ']);
    expect(blockingValidators(items)[0]).toMatchObject({
      powerRatio: 0.3,
      oldestSeconds: 300,
      jailedIn: null,
      watched: false,
    });
  });

  it('are those that have not voted for an old event', () => {
    const attestations = [
      ...idleState.attestations,
      claim('8', OLD, [vote(0)]),
      claim('9', OLD, [vote(0), vote(1)]),
      claim('10', YOUNG, []),
    ];
    expect(summaryOf(itemsOf({ attestations }))).toEqual(['0xa2   8', '0xa3   8,9', '0xa4   8,9']);
  });

  it('are not silent, but deviate, if they voted for another claim than the one with the most power', () => {
    const attestations = [...idleState.attestations, claim('8', OLD, [vote(1)], 'a'), claim('8', OLD, [vote(0)], 'b')];
    const items = itemsOf({ attestations });
    expect(summaryOf(items)).toEqual(['0xa2    (8)', '0xa3   8', '0xa4   8']);
    expect(blockingSection(blockingValidators(items), items).html).toContain('>voted for another claim of event 8\n');
  });

  it('include who is about to be jailed although the signatures of a validator set are sufficient', () => {
    const valsets = [{ nonce: '2', members, height: OLD }, ...idleState.valsets];
    const signers = ['0xa1', '0xa2'].map((eth_address) => ({ nonce: '2', eth_address }));
    const items = itemsOf({ valsets, valset_confirms: signers });
    expect(summaryOf(items)).toEqual(['0xa3  2 ', '0xa4  2 ']);
    expect(blockingValidators(items)[0]?.jailedIn).toMatchObject({ blocks: '-50' });
  });

  it('are nobody when all lists are empty or cannot be read', () => {
    expect(summaryOf(itemsOf({}))).toEqual([]);
    expect(summaryOf(itemsOf({ batches: 1, attestations: 1, valsets: 1 }))).toEqual([]);
  });
});

describe('the section about who is blocking', () => {
  const textOf = (items: BridgeItems): string =>
    blockingSection(blockingValidators(items), items)
      .html.replaceAll(/<(?:td|th|tr|p|small)\b[^>]*>/g, '\n')
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll(/\s*\n\s*/g, '\n')
      .trim();

  it('has one row per validator, with its power, what is missing, since when and the deadline', () => {
    const batches = ['1', '2', '3', '4'].map((nonce) => batch(nonce, '600', OLD));
    const attestations = [...idleState.attestations, claim('8', '700', [])];
    const batch_confirms = batches.flatMap(({ batch_nonce }) => confirms(batch_nonce, '0xa1', '0xa4'));
    expect(textOf(itemsOf({ batches, batch_confirms, attestations }))).toBe(`Who is blocking 4
4 validators with 100.00 % of the power. Signatures and votes of 66.67 % are required.
Validator
Power
Oldest waits for
Missing or disputed
Deadline
no name
hub1qyyyyyyyyyy 0xa1
40.00 %
10 min
votes for event 8
none
no name
hub1pyyyyyyyyyy 0xa2
30.00 %
10 min
votes for event 8; 4 batches from 1 to 4
batch times out: ≈ 16 min left
84 external blocks
no name
hub1zyyyyyyyyyy 0xa3
20.00 %
10 min
votes for event 8; 4 batches from 1 to 4
batch times out: ≈ 16 min left
84 external blocks
no name
hub1ryyyyyyyyyy 0xa4
10.00 %
10 min
votes for event 8
none`);
  });

  it('does not say that nobody is late when a list cannot be read', () => {
    expect(textOf(itemsOf({ batches: 1 }))).toContain(
      'No validator is late in the lists that can be read.\nThe list of batches cannot be read.',
    );
  });

  it('has the validators that miss in an old batch whose signed share is unknown', () => {
    const text = textOf(itemsOf({ batches: [batch('5', '600', OLD)], last_observed_valset: null }));
    expect(text).toContain('batch 5');
  });

  it('says that nobody is late, and which lists are incomplete', () => {
    expect(textOf(itemsOf({}))).toBe(
      'Who is blocking 0\nNo validator is late to sign or vote for something that waits for it.',
    );
    const attestations = Array.from({ length: 60 }, (_, index) => claim(`${index + 8}`, YOUNG, []));
    const text = textOf(itemsOf({ batches: 1, attestations: [...idleState.attestations, ...attestations] }));
    expect(text).toContain('The list of batches cannot be read. Only the 50 oldest of 60 claims are considered.');
  });
});
