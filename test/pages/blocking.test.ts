import { describe, expect, it } from 'vitest';
import type { BridgeItems } from '../../src/facts/items/items.js';
import { blockingValidators, type BlockingValidator } from '../../src/pages/blocking.js';
import { blockingSection } from '../../src/pages/blocking-table.js';
import { targetViews, type VerdictView } from '../../src/pages/target-view.js';
import { samplesOf } from '../../src/metrics/samples.js';
import { itemsOf } from '../../src/poll/items.js';
import { batch, idleState, members, vote } from '../facts/items/bridge-state.js';
import { bridgeSnapshot } from '../support/snapshots.js';
import { targetVerdicts, testLinks, verdict } from './sample-snapshots.js';

/** Blocks take 2 s, so items from height 850 and before are at least five minutes old at height 1000. */
const HEIGHT = '1000';
const [OLD, YOUNG] = ['850', '851'];

interface Read {
  readonly items: BridgeItems;
  readonly validators: readonly BlockingValidator[];
}

function read(state: object, firing: readonly VerdictView[] = []): Read {
  const snapshot = bridgeSnapshot({ ...idleState, ...state }, { height: HEIGHT });
  const items = itemsOf(snapshot);
  if (items?.document !== 'module_state') throw new Error('not the items of a module state');
  return { items, validators: blockingValidators(items, samplesOf(snapshot.families), firing) };
}

/** The validators with what they block, shortened. */
const summaryOf = ({ validators }: Read) =>
  validators.map(({ externalAddress, batches, valsets, events, otherClaims }) =>
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

/** A firing alert about a validator. */
function lateVerdict(externalAddress: string): VerdictView {
  const validator = { externalAddress, address: 'hub1pyyyyyyyyyy', name: '', isWatched: false, power: 0.3 };
  const firing = targetVerdicts([
    verdict('BridgeOrchestratorMissingConfirms', 'warning', 68, { validators: [validator] }),
  ]);
  const view = targetViews([firing], [], testLinks())[0]?.verdicts[0];
  if (view === undefined) throw new Error('a verdict has a view');
  return view;
}

describe('the blocking validators', () => {
  it('are those that have not signed an old batch without sufficient signatures, largest power first', () => {
    const batches = [batch('1', '600', OLD), batch('2', '700', OLD), batch('3', '700', YOUNG)];
    const batch_confirms = [...confirms('1', '0xa1'), ...confirms('2', '0xa1', '0xa2')];
    const found = read({ batches, batch_confirms });
    expect(summaryOf(found)).toEqual(['0xa2 1  ', '0xa3 1  ', '0xa4 1  ']);
    expect(found.validators[0]).toMatchObject({
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
    expect(summaryOf(read({ attestations }))).toEqual(['0xa2   8', '0xa3   8,9', '0xa4   8,9']);
  });

  it('are not silent, but deviate, if they voted for another claim than the one with the most power', () => {
    const attestations = [...idleState.attestations, claim('8', OLD, [vote(1)], 'a'), claim('8', OLD, [vote(0)], 'b')];
    const found = read({ attestations });
    expect(summaryOf(found)).toEqual(['0xa2    (8)', '0xa3   8', '0xa4   8']);
    const { html } = blockingSection(found.validators, found.items);
    expect(html).toContain('>voted for another claim of event 8\n');
    expect(html).toContain(
      '1 voted for another claim of an event than the one with the most power; either claim can be right.',
    );
  });

  it('include who is about to be jailed although the signatures of a validator set are sufficient', () => {
    const valsets = [{ nonce: '2', members, height: OLD }, ...idleState.valsets];
    const signers = ['0xa1', '0xa2'].map((eth_address) => ({ nonce: '2', eth_address }));
    const found = read({ valsets, valset_confirms: signers });
    expect(summaryOf(found)).toEqual(['0xa3  2 ', '0xa4  2 ']);
    expect(found.validators[0]?.jailedIn).toMatchObject({ blocks: '-50' });
  });

  it('are also those with an alert, even when nothing waits for them', () => {
    const found = read({ valsets: [{ nonce: '2', members, height: '950' }] }, [lateVerdict('0xa2')]);
    expect(found.validators).toMatchObject([
      {
        jailedIn: { blocks: '50' },
        externalAddress: '0xa2',
        isBlocking: false,
        alerts: ['BridgeOrchestratorMissingConfirms'],
        oldestSeconds: 4080,
      },
    ]);
  });

  it('have a deadline in digits, however large the height', () => {
    const params = { ...idleState.params, signed_valsets_window: '9'.repeat(30) };
    const found = read({ params, valsets: [{ nonce: '2', members, height: '950' }] }, [lateVerdict('0xa2')]);
    expect(found.validators[0]?.jailedIn?.blocks).toMatch(/^1\d{30}$/);
  });

  it('have the share of the newest validator set, although signatures of older sets are missing', () => {
    const older = { nonce: '2', members: [{ power: '1', external_address: '0xa4' }], height: OLD };
    const found = read({ valsets: [older, { nonce: '3', members, height: YOUNG }] });
    expect(found.validators).toMatchObject([{ externalAddress: '0xa4', powerRatio: 0.1 }]);
  });

  it('are nobody when all lists are empty or cannot be read', () => {
    expect(summaryOf(read({}))).toEqual([]);
    expect(summaryOf(read({ batches: 1, attestations: 1, valsets: 1 }))).toEqual([]);
  });
});

describe('the section about who is blocking', () => {
  const textOf = ({ validators, items }: Read): string =>
    blockingSection(validators, items)
      .html.replaceAll(/<(?:td|th|tr|p|small)\b[^>]*>/g, '\n')
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll(/\s*\n\s*/g, '\n')
      .trim();

  it('has one row per validator, with its power, what is missing, since when and the deadline', () => {
    const batches = ['1', '2', '3', '4'].map((nonce) => batch(nonce, '600', OLD));
    const attestations = [...idleState.attestations, claim('8', '700', [])];
    const batch_confirms = batches.flatMap(({ batch_nonce }) => confirms(batch_nonce, '0xa1', '0xa4'));
    expect(textOf(read({ batches, batch_confirms, attestations }))).toBe(`Who is blocking 4
4 validators with 100.00 % of the power. Signatures of 66.00 % and votes of 66.00 % are required.
Validator
Power
Late for
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
votes for event 8; 4 batches between 1 and 4
batch times out: ≈ 16 min left
84 external blocks
no name
hub1zyyyyyyyyyy 0xa3
20.00 %
10 min
votes for event 8; 4 batches between 1 and 4
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
    expect(textOf(read({ batches: 1 }))).toContain(
      'Nothing has waited for a validator for more than five minutes in the lists that can be read.\nThe list of batches cannot be read.',
    );
  });

  it('separates those that are late from those that block something', () => {
    expect(textOf(read({}, [lateVerdict('0xa2')]))).toBe(`Who is blocking 0
Nothing waits: enough others have signed and voted.
Who is late 1
A validator that misses the deadline of a validator set is jailed.
Validator
Power
Late for
Missing or disputed
no name
hub1pyyyyyyyyyy 0xa2
30.00 %
68 min
signatures for an hour`);
  });

  it('says that more can be missing than what an incomplete list contains', () => {
    const attestations = Array.from({ length: 60 }, (_, index) =>
      claim(`${index + 8}`, OLD, [vote(0), vote(2), vote(3)]),
    );
    const text = textOf(read({ attestations: [...idleState.attestations, ...attestations] }));
    expect(text).toContain('votes for at least 50 events from 8 on');
  });

  it('has the validators that miss in an old batch whose signed share is unknown', () => {
    const text = textOf(read({ batches: [batch('5', '600', OLD)], last_observed_valset: null }));
    expect(text).toContain('batch 5');
  });

  it('says that nobody is late, and which lists are incomplete', () => {
    expect(textOf(read({}))).toBe('Who is blocking 0\nNothing has waited for a validator for more than five minutes.');
    const attestations = Array.from({ length: 60 }, (_, index) => claim(`${index + 8}`, YOUNG, []));
    const text = textOf(read({ batches: 1, attestations: [...idleState.attestations, ...attestations] }));
    expect(text).toContain('The list of batches cannot be read. Only the 50 oldest of 60 claims are considered.');
  });
});
