import { describe, expect, it } from 'vitest';
import { ownValidatorsSection } from '../../src/pages/own-validators.js';
import type { NodeView } from '../../src/pages/node-view.js';
import { targetViews } from '../../src/pages/target-view.js';
import { batch, idleState, members, validators, vote } from '../facts/items/bridge-state.js';
import { bridgeItemsOf } from '../facts/items/read-items.js';
import { targetVerdicts, testLinks, verdict } from './sample-snapshots.js';
import { asDecimalString } from '../../src/chain/numeral.js';
import type { Verdict } from '../../src/poll/verdicts.js';

const [alpha, beta] = validators;

const NOT_ASKED: NodeView = { blockTime: null, behindSeconds: null, syncing: null, watched: [] };

function sectionOf(
  state: object,
  watch: readonly string[],
  verdicts: readonly Verdict[],
  watched: NodeView['watched'] = [],
): string {
  const items = bridgeItemsOf({ ...idleState, ...state }, { height: '1000', watch: [...watch] });
  const [view] = targetViews([targetVerdicts([...verdicts])], [], testLinks());
  if (view === undefined) throw new Error('a target has a view');
  return ownValidatorsSection([{ view, items, node: { ...NOT_ASKED, watched } }], 'target').html;
}

const lateClassOf = (...parameters: Parameters<typeof sectionOf>): string | undefined =>
  /<b class="state (\w+)">late/.exec(sectionOf(...parameters))?.[1];

/** The cells of each row: validator, state, power, signatures, votes, last claim, funds, deadline, what to do. */
function rowsOf(
  state: object,
  watch: readonly string[],
  verdicts: readonly Verdict[] = [],
  watched: NodeView['watched'] = [],
): string[][] {
  const html = sectionOf(state, watch, verdicts, watched);
  const text = (cell: string): string =>
    cell
      .replace(/^[^>]*>/, '')
      .replaceAll('<small>', ' ')
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim();
  return html
    .split('<tr ')
    .slice(2)
    .map((row) =>
      row
        .split(/<t[dh] /)
        .slice(1)
        .map(text),
    );
}

describe('the own validators', () => {
  it('have no section without an entry of watch', () => {
    expect(rowsOf({}, [])).toEqual([]);
  });

  it('are shown when all is well, by any of their addresses', () => {
    const attestations = [{ observed: true, height: '900', votes: [vote(0)], claim: { event_nonce: '7' } }];
    const expected = [
      'no name hub1qyyyyyyyyyy',
      'signs and votes',
      '40.00 %',
      'none missing',
      'voted for event 7',
      'unknown',
      'unknown',
      'no deadline',
      'nothing',
    ];
    for (const address of [alpha?.sender, alpha?.orchestrator, alpha?.eth_address]) {
      expect(rowsOf({ attestations }, [address ?? ''])).toEqual([expected]);
    }
  });

  it('are unknown, and not well, while the node has not answered whether they are jailed', () => {
    const orchestrator = alpha?.orchestrator ?? '';
    const status = { orchestrator, jailed: null, bonded: null, lastEventNonce: null, balance: null };
    const attestations = [{ observed: true, height: '900', votes: [vote(0)], claim: { event_nonce: '7' } }];
    const cells = (jailed: boolean | null) =>
      rowsOf({ attestations }, [orchestrator], [], [{ ...status, jailed }]).map((row) => [row[1], ...row.slice(7)]);
    expect(cells(null)).toEqual([
      ['unknown', 'unknown', 'The node has not answered whether it is jailed. The log says why.'],
    ]);
    expect(cells(false)).toEqual([['signs and votes', 'no deadline', 'nothing']]);
    expect(cells(true)).toEqual([['jailed', 'is jailed', 'Find the cause, then unjail it.']]);
  });

  it('show what they have to sign, by nonce, and until when', () => {
    const state = {
      params: { ...idleState.params, signed_valsets_window: '100', signed_batches_window: '500' },
      batches: [3, 1, 2].map((nonce) => batch(`${nonce}`, '600', '940')),
      batch_confirms: [{ nonce: '1', token_contract: '0xT', eth_signer: '0xa2' }],
      valsets: [...idleState.valsets, { nonce: '950', members, height: '950' }],
      attestations: [
        { observed: true, height: '900', votes: [vote(0)], claim: { event_nonce: '7' } },
        { observed: false, height: '990', votes: [vote(0)], claim: { event_nonce: '8' } },
      ],
    };
    expect(rowsOf(state, [beta?.orchestrator ?? ''])).toEqual([
      [
        'no name hub1pyyyyyyyyyy',
        'on time',
        '30.00 %',
        '2 unsigned batches: 2, 3; 1 unsigned validator set: 950',
        'no vote for event 7; no vote for the next event',
        'unknown',
        'unknown',
        '≈ 100 s left 50 hub blocks, after height 1050',
        'nothing',
      ],
    ]);
  });

  it('are late when something has waited for them for longer than usual, as severe as the alert about that', () => {
    const state = {
      attestations: [
        { observed: true, height: '500', votes: [0, 1].map(vote), claim: { event_nonce: '7' } },
        { observed: false, height: '700', votes: [vote(0)], claim: { event_nonce: '8' } },
      ],
    };
    const watch = [alpha?.orchestrator ?? '', beta?.orchestrator ?? ''];
    const votes = 'voted for event 7; no vote for event 8, which waits';
    const rows = (verdicts: readonly Verdict[]) => rowsOf(state, watch, verdicts).map((cells) => [cells[1], cells[4]]);
    expect(rows([])).toEqual([
      ['signs and votes', 'voted for event 7; voted for the next event'],
      ['late for 10 min', votes],
    ]);
    const classes = (verdicts: readonly Verdict[]) => lateClassOf(state, watch, verdicts);
    expect(classes([])).toBe('pending');
    expect(classes([verdict('BridgeOracleStalled', 'critical', 20)])).toBe('critical');
    expect(classes([verdict('BridgeBatchUnsigned', 'critical', 20)])).toBe('pending');
  });

  it.each([
    ['batch', { batches: [batch('2', '600', '500')] }, 'BridgeBatchUnsigned', 'BridgeValsetUnsigned'],
    [
      'validator set',
      { valsets: [...idleState.valsets, { nonce: '500', members, height: '500' }] },
      'BridgeValsetUnsigned',
      'BridgeBatchUnsigned',
    ],
  ] as const)('are late with an old unsigned %s, as severe as the alert about it', (_item, unsigned, alert, other) => {
    const observed = { observed: true, height: '500', votes: [0, 1].map(vote), claim: { event_nonce: '7' } };
    const state = { ...unsigned, attestations: [observed] };
    const watch = [beta?.orchestrator ?? ''];
    const cells = (verdicts: readonly Verdict[]) => rowsOf(state, watch, verdicts)[0];
    expect(cells([])?.[1]).toMatch(/^late for /);
    expect(cells([])?.at(-1)).toBe('Check its orchestrator.');
    expect(lateClassOf(state, watch, [verdict(other, 'critical', 20)])).toBe('pending');
    expect(lateClassOf(state, watch, [verdict(alert, 'critical', 20)])).toBe('critical');
  });

  it('are not late when they claim something else than most', () => {
    const claim = (votes: readonly number[], amount: string) => ({
      observed: false,
      height: '700',
      votes: votes.map(vote),
      claim: { event_nonce: '8', '@type': 'MsgDepositClaim', token_contract: '0xT', amount },
    });
    const attestations = [...idleState.attestations, claim([0], '5'), claim([1, 2], '6')];
    expect(rowsOf({ attestations }, [alpha?.orchestrator ?? ''])[0]?.[1]).toBe('on time');
  });

  it('say which claim of a disputed event each has voted for', () => {
    const claim = (votes: readonly number[], amount: string) => ({
      observed: false,
      height: '990',
      votes: votes.map(vote),
      claim: { event_nonce: '8', '@type': 'MsgDepositClaim', token_contract: '0xT', amount },
    });
    const attestations = [...idleState.attestations, claim([0], '5'), claim([1, 2], '6')];
    const watch = validators.map(({ orchestrator }) => orchestrator);
    expect(
      rowsOf({ attestations }, watch).map(([, , , , votes]) => votes?.replace(/^no vote for event 7; /, '')),
    ).toEqual([
      'claims 5 smallest units of 0xt for event 8, like 40 % of the power',
      'claims 6 smallest units of 0xt for event 8, like 50 % of the power',
      'claims 6 smallest units of 0xt for event 8, like 50 % of the power',
      'no vote for the next event',
    ]);
  });

  it('have the severity of their own alerts only', () => {
    const alert = verdict('BridgeOrchestratorMissingVotes', 'warning', 40, {
      subject: { orchestrator: beta?.orchestrator ?? '', watched: 'true' },
    });
    const attestations = [{ observed: true, height: '900', votes: [vote(0)], claim: { event_nonce: '7' } }];
    const rows = rowsOf({ attestations }, [alpha?.orchestrator ?? '', beta?.orchestrator ?? ''], [alert]);
    expect(rows.map(([, state]) => state)).toEqual(['signs and votes', 'warning']);
  });

  it.each([
    ['BridgeWatchedValidatorJailed', 'critical'],
    ['BridgeWatchedOrchestratorLagging', 'warning'],
    ['BridgeWatchedOrchestratorFundsLow', 'warning'],
    ['BridgeWatchedValidatorUnknown', 'warning'],
  ] as const)('have the severity of %s, which is from what the node answers', (name, severity) => {
    const alert = verdict(name, severity, 40, { subject: { orchestrator: alpha?.orchestrator ?? '' } });
    const attestations = [{ observed: true, height: '900', votes: [vote(0)], claim: { event_nonce: '7' } }];
    const rows = rowsOf({ attestations }, [alpha?.orchestrator ?? ''], [alert]);
    expect(rows.map(([, state]) => state)).toEqual([severity]);
  });

  it('show what the node says about them: last claim, funds, and whether they are jailed', () => {
    const attestations = [{ observed: true, height: '900', votes: [vote(0), vote(1)], claim: { event_nonce: '7' } }];
    const answers = {
      jailed: false,
      bonded: true,
      lastEventNonce: asDecimalString('7'),
      balance: { amount: asDecimalString('1500'), wholeAmount: asDecimalString('1.5'), symbol: 'hub' },
    };
    const rows = rowsOf(
      { attestations },
      [alpha?.orchestrator ?? '', beta?.orchestrator ?? ''],
      [],
      [
        { ...answers, orchestrator: alpha?.orchestrator ?? '' },
        { ...answers, orchestrator: beta?.orchestrator ?? '', jailed: true, lastEventNonce: asDecimalString('4') },
      ],
    );
    expect(rows.map(([, state, , , , ...others]) => [state, ...others])).toEqual([
      ['signs and votes', 'event 7', '1.5 hub', 'no deadline', 'nothing'],
      ['jailed', 'event 4 3 behind the last observed one', '1.5 hub', 'is jailed', 'Find the cause, then unjail it.'],
    ]);
  });

  it('are found when they have left the set, and say what to do', () => {
    const newest = [{ nonce: '2', members: members.slice(1), height: '2' }];
    const alert = verdict('BridgeWatchedValidatorJailed', 'critical', 40, {
      subject: { orchestrator: alpha?.orchestrator ?? '' },
    });
    const answers = { orchestrator: alpha?.orchestrator ?? '', jailed: true, bonded: false };
    const [row] = rowsOf(
      { valsets: newest },
      [alpha?.sender ?? ''],
      [alert],
      [{ ...answers, lastEventNonce: null, balance: null }],
    );
    expect(row?.slice(1)).toEqual([
      'critical',
      'unknown',
      'unknown',
      'unknown',
      'unknown',
      'unknown',
      'is jailed',
      alert.action,
    ]);
  });

  it('say which signature they missed, if that is why they are jailed', () => {
    const state = {
      valsets: [
        { nonce: '100', members, height: '100' },
        { nonce: '202', members: members.slice(1), height: '202' },
      ],
    };
    const answers = { jailed: true, bonded: false, lastEventNonce: null, balance: null };
    const orchestrator = alpha?.orchestrator ?? '';
    const [row] = rowsOf(state, [orchestrator], [], [{ ...answers, orchestrator }]);
    expect(row?.[7]).toBe('is jailed did not sign validator set 100');
  });

  it('are shown when they are outside the set, or not registered, or cannot be found', () => {
    const newest = [{ nonce: '2', members: members.slice(1), height: '2' }];
    const watch = [alpha?.orchestrator ?? '', 'hub1nobody'];
    expect(rowsOf({ valsets: newest }, watch).map(([, state, , signatures]) => [state, signatures])).toEqual([
      ['not in the set', 'unknown'],
      ['not registered', 'unknown'],
    ]);
    const inactive = verdict('BridgeWatchedValidatorInactive', 'critical', 20, {
      subject: { address: alpha?.orchestrator ?? '' },
    });
    expect(rowsOf({ valsets: newest }, watch, [inactive]).map(([, state]) => state)).toEqual([
      'critical',
      'not registered',
    ]);
    expect(rowsOf({ orchestrator_addresses: null }, watch).map(([, state]) => state)).toEqual([
      'cannot be judged',
      'cannot be judged',
    ]);
    expect(rowsOf({ batch_confirms: null }, [alpha?.orchestrator ?? ''])[0]?.[1]).toBe('cannot be judged');
  });
});
