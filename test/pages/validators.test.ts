import { describe, expect, it } from 'vitest';
import { asNumeral } from '../../src/chain/numeral.js';
import { ownValidatorsSection, validatorsSection } from '../../src/pages/validator-table.js';
import type { ValidatorView } from '../../src/pages/validator-view.js';
import { createView, type View } from '../../src/pages/view.js';
import type { Verdict } from '../../src/engine/verdicts.js';
import type { QueryStates } from '../../src/queries/query.js';
import { answeredQueries } from '../support/answered-queries.js';
import type { Contact } from '../../src/queries/validator-queries.js';
import { batch, idleState, members, validators as registered, vote } from '../facts/items/bridge-state.js';
import { recordedStates } from '../support/endpoint-states.js';
import { pollOf } from '../support/polls.js';
import { at, BRIDGE, HOSTILE, shownOf, targetVerdicts, testLinks, verdict } from './sample-snapshots.js';

/** Blocks take 2 s, so items from height 850 and before are at least five minutes old at height 1000. */
const HEIGHT = 1000;
const [OLD, YOUNG] = ['850', '851'];
const [alpha = '', beta = ''] = registered.map(({ orchestrator }) => orchestrator);

interface Options {
  readonly watch?: readonly string[];
  readonly verdicts?: readonly Verdict[];
  /** What the node has answered. */
  readonly queries?: QueryStates;
  readonly isNodeBehind?: boolean;
  /** When the page is shown; at the poll by default. */
  readonly shownAtSeconds?: number;
}

/** The view of a bridge with this state. */
function viewWith(
  state: object,
  { watch = [], verdicts = [], queries = new Map(), isNodeBehind = false, shownAtSeconds = 0 }: Options = {},
): View {
  const context = { ...BRIDGE, settings: { ...BRIDGE.settings, watch: [...watch] } };
  const snapshots = recordedStates([context], { maxBodyBytes: 1024, staleAfterMs: 3_600_000 });
  const document = { state: { ...idleState, ...state } };
  const poll = pollOf(context, document, { height: HEIGHT, at: at(0), additionalInput: { isNodeBehind } });
  snapshots.record(context, poll, at(0));
  const states = snapshots.states().map((known) => ({ ...known, queries }));
  const shown = shownOf(states).map(({ state: known, job }) => ({ state: known, job: { ...job, context } }));
  return createView(shown, [targetVerdicts([...verdicts])], testLinks(), at(shownAtSeconds));
}

const validatorsIn = (...parameters: Parameters<typeof viewWith>): readonly ValidatorView[] =>
  viewWith(...parameters).targets[0]?.validators ?? [];

/** The validators with what is late, shortened. */
const summaryOf = (state: object): readonly string[] =>
  validatorsIn(state).map(({ externalAddress, duties }) => {
    const late = Object.entries(duties).flatMap(
      ([kind, duty]) => duty?.nonces.map((nonce) => `${kind} ${nonce}`) ?? [],
    );
    return `${externalAddress}: ${late.join(', ')}`;
  });

function htmlOf(...parameters: Parameters<typeof viewWith>): string {
  const view = viewWith(...parameters);
  const [target] = view.targets;
  return target === undefined ? '' : validatorsSection(view, target).html;
}

const text = (html: string): string =>
  html
    .replaceAll(/<(?:small|div|p)[^>]*>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const introductionOf = (...parameters: Parameters<typeof viewWith>): string =>
  text(htmlOf(...parameters).replace(/<table[^]*<\/table>/, ' '));

/** The cells of each row: validator, state, power, votes and signatures, deadline, and of own ones orchestrator and what to do. */
function rowsOf(...parameters: Parameters<typeof viewWith>): readonly (readonly string[])[] {
  const rows = htmlOf(...parameters)
    .split('<tr ')
    .slice(2);
  return rows.map((row) =>
    row
      .split(/<t[dh] /)
      .slice(1)
      .map((cell) => text(cell.replace(/^[^>]*>/, ''))),
  );
}

const claim = (event_nonce: string, height: string, votes: readonly number[], content: object = {}) => ({
  observed: false,
  height,
  votes: votes.map(vote),
  claim: { event_nonce, ...content },
});

const deposit = (amount: string) => ({ '@type': 'MsgDepositClaim', token_contract: '0xT', amount });
const observed = (height: string, ...votes: readonly number[]) => ({ ...claim('7', height, votes), observed: true });
const confirms = (nonce: string, ...addresses: readonly string[]) =>
  addresses.map((eth_signer) => ({ nonce, token_contract: '0xT', eth_signer }));

/** A firing alert about a validator. */
const lateVerdict = (externalAddress: string): Verdict =>
  verdict('BridgeOrchestratorMissingConfirms', 'warning', 68, {
    validators: [{ externalAddress, address: beta, name: '', isWatched: false, hasNamesake: false, power: 0.3 }],
  });

/** What the node says about the first validator. */
const answers = (isJailed: boolean | undefined, claimed = '7'): QueryStates =>
  answeredQueries(
    at(0),
    {
      staking_validator: isJailed === undefined ? undefined : { operator: 'a', isJailed, isBonded: true },
      claim_position: asNumeral(claimed),
      orchestrator_balance: asNumeral('1500'),
    },
    alpha,
  );

describe('the validators that are late', () => {
  it('are those that have not signed an old batch, largest power first', () => {
    const batches = [batch('1', '600', OLD), batch('2', '700', OLD), batch('3', '700', YOUNG)];
    const batch_confirms = [...confirms('1', '0xa1'), ...confirms('2', '0xa1', '0xa2')];
    expect(summaryOf({ batches, batch_confirms })).toEqual([
      '0xa2: batches 1',
      '0xa3: batches 1, batches 2',
      '0xa4: batches 1, batches 2',
    ]);
    const [first] = validatorsIn({ batches, batch_confirms });
    expect(first).toMatchObject({
      powerRatio: 0.3,
      duties: { batches: { oldestSeconds: 300 } },
      deadline: null,
      own: null,
    });
  });

  it('are those that have not voted for an old event', () => {
    const attestations = [
      observed('900', 0, 1, 2, 3),
      claim('8', OLD, [0]),
      claim('9', OLD, [0, 1]),
      claim('10', YOUNG, []),
    ];
    expect(summaryOf({ attestations })).toEqual([
      '0xa2: events 8',
      '0xa3: events 8, events 9',
      '0xa4: events 8, events 9',
    ]);
  });

  it('are none of those that claim different things of an event', () => {
    const attestations = [
      ...idleState.attestations,
      claim('8', OLD, [1], deposit('5')),
      claim('8', OLD, [0], deposit('6')),
    ];
    expect(summaryOf({ attestations })).toEqual(['0xa3: events 8', '0xa4: events 8']);
  });

  it('include who is about to be jailed although the signatures of a validator set are sufficient', () => {
    const valsets = [{ nonce: '2', members, height: OLD }, ...idleState.valsets];
    const valset_confirms = ['0xa1', '0xa2'].map((eth_address) => ({ nonce: '2', eth_address }));
    const state = { params: { ...idleState.params, signed_valsets_window: '200' }, valsets, valset_confirms };
    expect(summaryOf(state)).toEqual(['0xa3: valsets 2', '0xa4: valsets 2']);
    expect(validatorsIn(state)[0]).toMatchObject({
      duties: { valsets: { isAwaited: false } },
      deadline: { left: { blocks: '50' } },
    });
    expect(rowsOf(state)[0]?.[4]).toBe('signs validator set 2 by 12:01 UTC, else jailed ≈ 100 s left 50 hub blocks');
  });

  it('include who has not done what the others have: a relayed validator set, a signed batch, an observed event', () => {
    const valsets = [{ nonce: '2', members, height: OLD }];
    const state = {
      params: { ...idleState.params, signed_valsets_window: '200' },
      last_observed_valset: { nonce: '2', members, height: '0' },
      valsets,
      valset_confirms: ['0xa1', '0xa2', '0xa3'].map((eth_address) => ({ nonce: '2', eth_address })),
      batches: [batch('1', '600', OLD), batch('2', '600', YOUNG)],
      batch_confirms: confirms('1', '0xa1', '0xa2', '0xa3'),
      attestations: [observed(OLD, 0, 1, 2)],
    };
    expect(summaryOf(state)).toEqual(['0xa4: events 7, batches 1, valsets 2']);
    expect(rowsOf(state)[0]?.slice(1, 4)).toEqual([
      'late for 5 min',
      '10.00 %',
      'missing: votes for event 7; batch 1; validator set 2',
    ]);
  });

  it('block the newest of many validator sets, all others of which are signed', () => {
    const numbers = Array.from({ length: 60 }, (_, index) => index + 2);
    const state = {
      params: { ...idleState.params, signed_valsets_window: '900' },
      valsets: numbers.map((nonce) => ({ nonce: `${nonce}`, members, height: nonce === 61 ? OLD : '500' })),
      valset_confirms: numbers.flatMap((nonce) =>
        (nonce === 61 ? ['0xa4'] : ['0xa1', '0xa2', '0xa3', '0xa4']).map((eth_address) => ({
          nonce: `${nonce}`,
          eth_address,
        })),
      ),
    };
    expect(summaryOf(state)).toEqual(['0xa1: valsets 61', '0xa2: valsets 61', '0xa3: valsets 61']);
    expect(validatorsIn(state)[0]).toMatchObject({ duties: { valsets: { isAwaited: true } } });
  });

  it('have all events for which votes are missing, also those that are not listed', () => {
    const attestations = Array.from({ length: 60 }, (_, index) => claim(`${index + 8}`, OLD, [0, 1]));
    const [row] = rowsOf({ attestations: [observed(YOUNG, 0), ...attestations] });
    expect(row?.[3]).toBe('missing: votes for 60 events between 8 and 67');
  });

  it('are also those with an alert, even when nothing waits for them', () => {
    const state = { valsets: [{ nonce: '2', members, height: '950' }] };
    expect(validatorsIn(state, { verdicts: [lateVerdict('0xa2')] })).toMatchObject([
      {
        deadline: { left: { blocks: '50' } },
        externalAddress: '0xa2',
        problem: { alert: 'BridgeOrchestratorMissingConfirms', ageSeconds: 4080 },
      },
    ]);
  });

  it('have the share of the newest validator set, although signatures of older sets are missing', () => {
    const older = { nonce: '2', members: [{ power: '1', external_address: '0xa4' }], height: OLD };
    const state = { valsets: [older, { nonce: '3', members, height: YOUNG }] };
    expect(validatorsIn(state)).toMatchObject([{ externalAddress: '0xa4', powerRatio: 0.1 }]);
  });

  it('are nobody when all lists are empty or cannot be read', () => {
    expect(summaryOf({})).toEqual([]);
    expect(summaryOf({ batches: 1, attestations: 1, valsets: 1 })).toEqual([]);
  });

  it('have one row each: state, power, what is missing and the deadline', () => {
    const batches = ['1', '2', '3', '4'].map((nonce) => batch(nonce, '600', OLD));
    const attestations = [...idleState.attestations, claim('8', '700', [])];
    const batch_confirms = batches.flatMap(({ batch_nonce }) => confirms(batch_nonce, '0xa1', '0xa4'));
    const state = { batches, batch_confirms, attestations };
    const timeout = 'batch times out: ≈ 16 min left 84 external blocks';
    expect(rowsOf(state)).toEqual([
      [`no name ${alpha} 0xa1`, 'late for 10 min', '40.00 %', 'missing: votes for event 8', 'none'],
      [
        `no name ${beta} 0xa2`,
        'late for 10 min',
        '30.00 %',
        'missing: votes for event 8; 4 batches between 1 and 4',
        timeout,
      ],
      [
        'no name hub1zyyyyyyyyyy 0xa3',
        'late for 10 min',
        '20.00 %',
        'missing: votes for event 8; 4 batches between 1 and 4',
        timeout,
      ],
      ['no name hub1ryyyyyyyyyy 0xa4', 'late for 10 min', '10.00 %', 'missing: votes for event 8', 'none'],
    ]);
  });

  it('have what an alert says when nothing waits for them', () => {
    const options = { verdicts: [lateVerdict('0xa2')] };
    expect(rowsOf({}, options)).toEqual([
      [`no name ${beta} 0xa2`, 'late for 68 min', '30.00 %', lateVerdict('0xa2').summary, 'none'],
    ]);
  });

  it('are nobody only as far as lists can be read', () => {
    expect(introductionOf({})).toBe('Validators No validator is late.');
    expect(introductionOf({ batches: 1, attestations: 1 })).toBe(
      'Validators No validator is late. Unknown for events and batches: a list of the document cannot be read.',
    );
    expect(introductionOf({ valsets: 1 })).toContain('The validator set cannot be read, or is empty.');
  });

  it('have no registration on this bridge, or none that can be read', () => {
    const [first, ...others] = registered;
    const batches = [batch('1', '600', OLD)];
    const batch_confirms = confirms('1', '0xa2', '0xa3', '0xa4');
    for (const orchestrator_addresses of [others, 1]) {
      const [row] = rowsOf({ batches, batch_confirms, orchestrator_addresses });
      expect(row?.slice(0, 4)).toEqual([
        'no name unknown orchestrator 0xa1',
        'late for 5 min',
        '40.00 %',
        'missing: batch 1',
      ]);
    }
    expect(first).toBeDefined();
  });

  it('are not those that joined after a batch that others have signed', () => {
    const without = { nonce: '900', members: members.slice(0, 3), height: '900' };
    const joined = { nonce: '950', members, height: '950' };
    const state = (batch_confirms: readonly object[]) => ({
      valsets: [without, joined],
      valset_confirms: members.map(({ external_address }) => ({ nonce: '950', eth_address: external_address })),
      batches: [batch('1', '600', OLD)],
      batch_confirms,
    });
    expect(summaryOf(state(confirms('1', '0xa1', '0xa2')))).not.toContain('0xa4: batches 1');
    expect(summaryOf(state(confirms('1', '0xa1'))), 'the batch waits for it').toContain('0xa4: batches 1');
  });
});

describe('the own validators', () => {
  const well = { attestations: [observed('900', 0)] };

  it('are not known once the data is outdated, which both pages say', () => {
    const outdated = { watch: [alpha, beta], shownAtSeconds: 3601 };
    expect(text(htmlOf(well, outdated)).trim()).toMatch(
      /Nothing is known of your 2 validators of .* until a poll of its bridge succeeds\.$/,
    );
    expect(text(ownValidatorsSection(viewWith(well, outdated)).html)).toContain(
      'Nothing is known of your 2 validators',
    );
    expect(htmlOf(well, { shownAtSeconds: 3601 })).toBe('');
  });

  it('are on the status page only with an entry of watch, with their target', () => {
    expect(ownValidatorsSection(viewWith(well)).html).toBe('');
    const { html } = ownValidatorsSection(viewWith(well, { watch: [alpha] }));
    expect(html).toContain('Your validators <span class="quiet">1</span>');
    expect(html).toContain('<a href="./pending?target=main%20%22net%22%20%3C1%3E">');
  });

  it('are shown when all is well, by any of their addresses', () => {
    const expected = [
      `no name yours ${alpha} 0xa1`,
      'signs and votes',
      '40.00 %',
      'events ■ batches none validator sets □',
      'none',
      'last claim: event 7 funds: unknown',
      'no alert fires',
    ];
    const valsets = [{ nonce: '1', members, height: '990' }];
    for (const address of [registered[0]?.sender, alpha, registered[0]?.eth_address]) {
      expect(
        rowsOf(
          { ...well, valsets, valset_confirms: [{ nonce: '1', eth_address: '0xa1' }] },
          { watch: [address ?? ''] },
        ),
      ).toEqual([expected.map((cell) => cell.replace('□', '■'))]);
    }
  });

  it('are unknown, and not well, while the node has not answered whether they are jailed', () => {
    const cells = (isJailed: boolean | undefined) => {
      const [row = []] = rowsOf(well, { watch: [alpha], queries: answers(isJailed) });
      return [row[1], row[4]];
    };
    expect(cells(undefined)).toEqual(['cannot be judged', 'unknown']);
    expect(cells(false)).toEqual(['signs and votes', 'none']);
    expect(cells(true)).toEqual(['jailed', 'is jailed']);
  });

  it('are not well while something is due', () => {
    const confirmed = [{ nonce: '1', eth_address: '0xa1' }];
    const stateWith = (batches: readonly object[]) =>
      rowsOf({ ...well, batches, valset_confirms: confirmed }, { watch: [alpha] })[0]?.[1];
    expect(stateWith([])).toBe('signs and votes');
    expect(stateWith([batch('1', '60000', YOUNG)])).toBe('due');
  });

  it('have a deadline after the year 9999 as the last time before it', () => {
    const params = { ...idleState.params, signed_batches_window: '9'.repeat(70) };
    expect(htmlOf({ params, batches: [batch('1', '60000', OLD)] }, { watch: [alpha] })).toContain(
      '9999-12-31T23:59:59',
    );
  });

  it('have a square for each event, batch and validator set, and until when they have to sign', () => {
    const state = {
      params: { ...idleState.params, signed_valsets_window: '200', signed_batches_window: '500' },
      batches: [3, 1, 2].map((nonce) => batch(`${nonce}`, '600', nonce === 3 ? '990' : '600')),
      batch_confirms: confirms('1', '0xa2'),
      valsets: [...idleState.valsets, { nonce: '850', members, height: '850' }],
      attestations: [observed('600', 0), claim('8', '990', [0])],
    };
    const [row] = rowsOf(state, { watch: [beta] });
    expect(row?.slice(2, 5)).toEqual([
      '30.00 %',
      'events ✕□ missing: event 7 batches ■✕□ missing: batch 2 validator sets ✕✕ missing: validator set 850',
      'signs validator set 850 by 12:01 UTC, else jailed ≈ 100 s left 50 hub blocks batch times out: ≈ 6 min left 34 external blocks',
    ]);
    const html = htmlOf(state, { watch: [beta] });
    expect(html).toContain('role="img" aria-label="the last 3: 1 done, 1 missing, 1 not due"');
    expect(html).toContain('<i class="missing" title="2: missing">✕</i>');
  });

  it('have all missing votes as one number, also those that are not shown', () => {
    const attestations = Array.from({ length: 60 }, (_, index) => claim(`${index + 8}`, OLD, [0, 1]));
    const state = { attestations: [observed(OLD, 0, 2), ...attestations] };
    const [row] = rowsOf(state, { watch: [registered[2]?.orchestrator ?? ''] });
    expect(row?.[3]).toContain(`events ${'✕'.repeat(20)} missing: 60 events between 8 and 67`);
  });

  it('have no countdown, and are not well, when the node is behind', () => {
    const valsets = [...idleState.valsets, { nonce: '950', members, height: '950' }];
    const [row] = rowsOf({ ...well, valsets }, { watch: [alpha], isNodeBehind: true });
    expect(row?.[1]).toBe('node is behind');
    expect(row?.[4]).toBe('signs validator set 950 by height 1050, else jailed');
  });

  it('are late when something has waited for them for longer than usual, as severe as the alert about that', () => {
    const state = { attestations: [observed('500', 0, 1), claim('8', '700', [0])] };
    const options = (verdicts: readonly Verdict[]): Options => ({ watch: [alpha, beta], verdicts });
    const own = rowsOf(state, options([])).slice(0, 2);
    expect(own.map((cells) => [cells[1], cells[3]?.slice(0, 25).trim()])).toEqual([
      ['signs and votes', 'events ■■ batches none va'],
      ['late for 10 min', 'events ■✕ missing: event'],
    ]);
    const classOf = (verdicts: readonly Verdict[]) =>
      /<b class="state (\w+)">late/.exec(htmlOf(state, options(verdicts)))?.[1];
    expect(classOf([])).toBe('pending');
    expect(classOf([verdict('BridgeOracleStalled', 'critical', 20)])).toBe('critical');
    expect(classOf([verdict('BridgeBatchUnsigned', 'critical', 20)])).toBe('pending');
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
    const state = { ...unsigned, attestations: [observed('500', 0, 1)] };
    const [row] = rowsOf(state, { watch: [beta] });
    expect(row?.[1]).toMatch(/^late for /);
    const classOf = (name: string) =>
      /<b class="state (\w+)">late/.exec(
        htmlOf(state, { watch: [beta], verdicts: [verdict(name, 'critical', 20)] }),
      )?.[1];
    expect(classOf(other)).toBe('pending');
    expect(classOf(alert)).toBe('critical');
  });

  it('have the severity of their own alerts only', () => {
    const alert = verdict('BridgeOrchestratorMissingVotes', 'warning', 40, { subject: { orchestrator: beta } });
    const rows = rowsOf(well, { watch: [alpha, beta], verdicts: [alert] });
    expect(rows.map(([, state]) => state)).toEqual(['signs and votes', 'warning']);
    expect(rows.map((row) => row.at(-1))).toEqual(['no alert fires', alert.action]);
  });

  it('show what the node says about them: last claim and funds', () => {
    const orchestratorOf = (claimed: string, state: object = well) =>
      rowsOf(state, { watch: [alpha], queries: answers(false, claimed) })[0]?.[5];
    expect(orchestratorOf('7')).toBe('last claim: event 7 funds: 1500 smallest units');
    expect(orchestratorOf('4'), 'its vote in the document is newer').toBe(orchestratorOf('7'));
    expect(orchestratorOf('4', { attestations: [observed('900', 1)] })).toBe(
      'last claim: event 4 funds: 1500 smallest units',
    );
  });

  it('have a square for each minute in which the node was asked about their blocks, and the number that they may miss', () => {
    const counts = [100, 100, 130, 160, 90].map((missed, index) => ({ at: at(60 * (index - 4)).at, missed }));
    const info = { address: '', startHeight: 1n, missed: 90, isTombstoned: false, counts };
    const htmlWith = (params: object | undefined) => {
      const queries = new Map([
        ...answers(false),
        ...answeredQueries(at(0), { signing_info: info }, alpha),
        ...answeredQueries(at(0), { slashing_params: params }),
      ]);
      return /<div class="duties"><span>blocks[^]*?<\/div>/.exec(htmlOf({}, { watch: [alpha], queries }))?.[0] ?? '';
    };
    expect(text(htmlWith({ window: 1000, minSigned: 0.5 }))).toBe('blocks ■✕✕■ 90 missed of the 500 that it may miss');
    expect(text(htmlWith(undefined))).toBe('blocks ■✕✕■ 90 missed');
    expect(htmlWith(undefined)).toContain('aria-label="the last 4 minutes: blocks missed in 2"');
    expect(htmlWith(undefined)).toContain('title="until 11:58 UTC: 30 missed"');
  });

  it('say which signature they missed, if that is why they are jailed', () => {
    const state = {
      valsets: [
        { nonce: '100', members, height: '100' },
        { nonce: '202', members: members.slice(1), height: '202' },
      ],
    };
    expect(rowsOf(state, { watch: [alpha], queries: answers(true) })[0]?.[4]).toBe(
      'is jailed did not sign validator set 100',
    );
  });

  it('are shown when they are outside the set, or not registered, or cannot be found', () => {
    const valsets = [{ nonce: '2', members: members.slice(1), height: '2' }];
    const watch = [alpha, 'hub1nobody'];
    const stateOf = (state: object, verdicts: readonly Verdict[] = []) =>
      rowsOf(state, { watch, verdicts })
        .slice(0, 2)
        .map((row) => [row[1], row[3]]);
    expect(stateOf({ valsets })).toEqual([
      ['not in the set', 'unknown'],
      ['not registered', 'unknown'],
    ]);
    const inactive = verdict('BridgeWatchedValidatorInactive', 'critical', 20, { subject: { address: alpha } });
    expect(htmlOf({ valsets }, { watch, verdicts: [inactive] })).toContain('<b class="state critical">not in the set');
    expect(stateOf({ orchestrator_addresses: null })[0]?.[0]).toBe('cannot be judged');
    expect(stateOf({ batch_confirms: null })[0]?.[0]).toBe('cannot be judged');
  });
});

describe('the contact of a validator', () => {
  /** The table with what the second validator has published; none of the four has signed a batch. */
  const htmlWith = (contact: Contact, settings: Options = {}): string => {
    const validators = { names: new Map(), contacts: new Map([['pqqqq', contact]]), operators: new Map() };
    const queries = answeredQueries(at(0), { validators });
    return htmlOf({ batches: [batch('1', '600', '500')] }, { ...settings, queries });
  };
  const website = (address: string): string => htmlWith({ securityContact: null, website: address });

  it('is beside its name where it is late', () => {
    const html = htmlWith({ securityContact: 'ops@example.org', website: 'https://example.org/a' });
    expect(html).toContain(
      'published contact: ops@example.org, <a href="https://example.org/a" rel="noreferrer nofollow">https://example.org/a</a>',
    );
    expect(html.split('published contact').length).toBe(2);
  });

  it.each([
    'http://example.org',
    'javascript:alert(1)',
    'https:example.org',
    'https://',
    'https://user:password@example.org',
    'https://example.org@evil.example',
    'https://еxample.org',
    'https://example.org/ javascript:',
    'example.org',
    'HTTPS//x',
  ])('is text and no link: %s', (address) => {
    expect(website(address)).not.toContain('<a');
    expect(website(address)).toContain(address);
  });

  it.each(['https://example.org', 'https://example.org/a?b=c#d', 'https://example.org?q=1'])(
    'is a link: %s',
    (address) => {
      expect(website(address)).toContain(`<a href="${address}"`);
    },
  );

  it('is escaped', () => {
    const html = htmlWith({ securityContact: HOSTILE, website: `https://example.org/"><script>` });
    expect(html).not.toContain('<script>');
    expect(html).toContain('href="https://example.org/&quot;&gt;&lt;script&gt;"');
  });
});
