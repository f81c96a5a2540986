import { asNumeral } from '../../src/chain/fields.js';
import { describe, expect, it } from 'vitest';
import type { ValidatorView } from '../../src/pages/validator-view.js';
import { ownValidatorsSection, validatorsSection } from '../../src/pages/table.js';
import { createView, type View } from '../../src/pages/view.js';
import type { TargetProblem } from '../../src/engine/target-problems.js';
import type { QueryStates } from '../../src/queries/query.js';
import { answeredQueries } from '../support/answered-queries.js';
import type { Contact } from '../../src/queries/validator-queries.js';
import { batch, idleState, members, validators as registered, vote } from '../items/bridge-state.js';
import { recordedStates } from '../support/endpoint-states.js';
import { pollOf } from '../support/polls.js';
import { at, BRIDGE, HOSTILE, shownOf, judgeTarget, testLinks, problem } from './sample-snapshots.js';

/** Blocks take 2 s, so items from height 850 and before are at least five minutes old at height 1000. */
const HEIGHT = 1000;
const [OLD, YOUNG] = ['850', '851'];
const [alpha = '', beta = ''] = registered.map(({ orchestrator }) => orchestrator);

interface Options {
  readonly watch?: readonly string[];
  readonly problems?: readonly TargetProblem[];
  /** What the node has answered. */
  readonly queries?: QueryStates;
  readonly isNodeBehind?: boolean;
  /** When the page is shown; at the poll by default. */
  readonly shownAtSeconds?: number;
}

/** The view of a bridge with this state. */
function viewWith(
  state: object,
  { watch = [], problems = [], queries = new Map(), isNodeBehind = false, shownAtSeconds = 0 }: Options = {},
): View {
  const context = { ...BRIDGE, settings: { ...BRIDGE.settings, watch: [...watch] } };
  const snapshots = recordedStates([context], { maxBodyBytes: 1024, staleAfterMs: 3_600_000 });
  const document = { state: { ...idleState, ...state } };
  const poll = pollOf(context, document, { height: HEIGHT, at: at(0), additionalInput: { isNodeBehind } });
  snapshots.record(context, poll, at(0));
  const states = snapshots.states().map((known) => ({ ...known, queries }));
  const shown = shownOf(states).map(({ state: known, job }) => ({ state: known, job: { ...job, context } }));
  return createView(shown, [judgeTarget([...problems])], testLinks(), at(shownAtSeconds), '');
}

const validatorsIn = (...parameters: Parameters<typeof viewWith>): readonly ValidatorView[] =>
  viewWith(...parameters).targets[0]?.validators ?? [];

/** What each late validator has not signed or voted for. */
const missingIn = (state: object): readonly string[] =>
  validatorsIn(state).map(({ externalAddress, missing }) => `${externalAddress}: ${missing}`);

const context = { links: testLinks(), nowMs: at(0).at * 1000 };

function htmlOf(...parameters: Parameters<typeof viewWith>): string {
  const view = viewWith(...parameters);
  const [target] = view.targets;
  const items = view.endpoints[0]?.items;
  const note = items?.document === 'module_state' ? items.validatorsNote : '';
  return target === undefined ? '' : validatorsSection(target, note, context).html;
}

const text = (html: string): string =>
  html
    .replaceAll(/<(?:small|div|p)[^>]*>/g, ' ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const introductionOf = (...parameters: Parameters<typeof viewWith>): string =>
  text(htmlOf(...parameters).replace(/<table[^]*<\/table>/, ' '));

/** The cells of each row: validator, state, power, missing, deadline, last claim, what to do. */
function rowsOf(...parameters: Parameters<typeof viewWith>): readonly (readonly string[])[] {
  const rows = htmlOf(...parameters)
    .split('<tr ')
    .slice(2);
  return rows.map((row) =>
    row
      .split(/<t[dh] /)
      .slice(1)
      .filter((cell) => !cell.includes('data-label="Target"'))
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
const lateProblem = (externalAddress: string): TargetProblem =>
  problem('BridgeOrchestratorMissingConfirms', 'warning', 68, {
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
    const batch_confirms = [
      ...confirms('1', '0xa1'),
      ...confirms('2', '0xa1', '0xa2'),
      ...confirms('3', '0xa1', '0xa2'),
    ];
    expect(missingIn({ batches, batch_confirms })).toEqual([
      '0xa2: batch 1',
      '0xa3: batches 1 to 3',
      '0xa4: batches 1 to 3',
    ]);
    const [first] = validatorsIn({ batches, batch_confirms });
    expect(first).toMatchObject({ powerRatio: 0.3, lateSeconds: 300, own: null });
    expect(first).not.toHaveProperty('deadline', null);
  });

  it('are those that have not voted for an old event, also for those after it', () => {
    const attestations = [
      observed('900', 0, 1, 2, 3),
      claim('8', OLD, [0]),
      claim('9', OLD, [0, 1]),
      claim('10', YOUNG, [0]),
    ];
    expect(missingIn({ attestations })).toEqual([
      '0xa2: 2 events from 8 to 10',
      '0xa3: events 8 to 10',
      '0xa4: events 8 to 10',
    ]);
    expect(missingIn({ attestations: [observed('900', 0, 1, 2, 3), claim('10', YOUNG, [])] }), 'too young').toEqual([]);
  });

  it('are none of those that claim different things of an event', () => {
    const attestations = [
      ...idleState.attestations,
      claim('8', OLD, [1], deposit('5')),
      claim('8', OLD, [0], deposit('6')),
    ];
    expect(missingIn({ attestations })).toEqual(['0xa3: events 7 to 8', '0xa4: events 7 to 8']);
  });

  it('include who is about to be jailed although the signatures of a validator set are sufficient', () => {
    const valsets = [{ nonce: '2', members, height: OLD }, ...idleState.valsets];
    const valset_confirms = ['0xa1', '0xa2'].map((eth_address) => ({ nonce: '2', eth_address }));
    const state = { params: { ...idleState.params, signed_valsets_window: '200' }, valsets, valset_confirms };
    expect(missingIn(state)).toEqual(['0xa3: validator set 2', '0xa4: validator set 2']);
    expect(validatorsIn(state)[0]).toMatchObject({ deadline: { blocks: '50' } });
    expect(rowsOf(state)[0]?.[4]).toBe('≈ 100 s left sign validator set 2 by height 1050, else jailed');
  });

  it('include who has not done what the others have: a relayed validator set, a signed batch, an observed event', () => {
    const state = {
      params: { ...idleState.params, signed_valsets_window: '200' },
      last_observed_valset: { nonce: '2', members, height: '0' },
      valsets: [{ nonce: '2', members, height: OLD }],
      valset_confirms: ['0xa1', '0xa2', '0xa3'].map((eth_address) => ({ nonce: '2', eth_address })),
      batches: [batch('1', '600', OLD)],
      batch_confirms: confirms('1', '0xa1', '0xa2', '0xa3'),
      attestations: [observed(OLD, 0, 1, 2)],
    };
    expect(missingIn(state)).toEqual(['0xa4: batch 1; validator set 2; event 7']);
    expect(rowsOf(state)[0]?.slice(1, 4)).toEqual(['late for 5 min', '10.00 %', 'batch 1; validator set 2; event 7']);
  });

  it('have the first and the last of many, also of those that are not listed', () => {
    const attestations = Array.from({ length: 60 }, (_, index) => claim(`${index + 8}`, OLD, [0, 1]));
    expect(missingIn({ attestations: [observed(YOUNG, 0), ...attestations] })[0]).toBe('0xa3: events 7 to 67');
    const gaps = attestations.filter((_, index) => index % 3 !== 1);
    expect(missingIn({ attestations: [observed(YOUNG, 0), ...gaps] })[0]).toBe('0xa3: 41 events from 7 to 67');
  });

  it('have one row each: state, power, what is missing, the deadline, and what an alert says when nothing waits', () => {
    const batches = ['1', '2', '3', '4'].map((nonce) => batch(nonce, '600', OLD));
    const batch_confirms = batches.flatMap(({ batch_nonce }) => confirms(batch_nonce, '0xa1', '0xa3', '0xa4'));
    const attestations = [...idleState.attestations, claim('8', '700', [])];
    expect(rowsOf({ batches, batch_confirms, attestations }).slice(0, 2)).toEqual([
      [`unknown ${alpha} 0xa1`, 'late for 10 min', '40.00 %', 'events 7 to 8', 'none', 'none', 'none'],
      [`unknown ${beta} 0xa2`, 'late for 10 min', '30.00 %', 'batches 1 to 4; events 7 to 8', 'none', 'none', 'none'],
    ]);
    expect(rowsOf({}, { problems: [lateProblem('0xa2')] })).toEqual([
      [
        `unknown ${beta} 0xa2`,
        'late for 68 min',
        '30.00 %',
        lateProblem('0xa2').summary,
        'none',
        'none',
        lateProblem('0xa2').action,
      ],
    ]);
    const unsigned = { batches, params: { ...idleState.params, signed_batches_window: '500' } };
    expect(rowsOf(unsigned)[0]?.[4]).toBe('≈ 11 min left sign batch 1 by height 1350, else jailed');
  });

  it('are nobody only as far as lists can be read', () => {
    expect(introductionOf({})).toBe('Validators No validator is late');
    expect(introductionOf({ batches: 1, attestations: 1 })).toBe(
      'Validators No validator is late; Unknown for batches, events: a list of the document cannot be read.',
    );
    expect(introductionOf({ valsets: 1 })).toContain('The validator set cannot be read, or is empty.');
    const batches = [batch('1', '600', OLD)];
    expect(missingIn({ batches, attestations: 1 })[0]).toBe('0xa1: batch 1; events unknown');
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
    expect(missingIn(state(confirms('1', '0xa1', '0xa2')))).not.toContain('0xa4: batch 1');
    expect(missingIn(state(confirms('1', '0xa1'))), 'the batch waits for it').toContain('0xa4: batch 1');
  });
});

describe('the own validators', () => {
  const well = { attestations: [observed('900', 0)] };

  it('are not listed once the data is outdated', () => {
    const outdated = { watch: [alpha, beta], shownAtSeconds: 3601 };
    expect(htmlOf(well, outdated)).toBe('');
    expect(ownValidatorsSection(viewWith(well, outdated), context).html).toBe('');
  });

  it('are on the status page only with an entry of watch, with their target', () => {
    expect(ownValidatorsSection(viewWith(well), context).html).toBe('');
    const { html } = ownValidatorsSection(viewWith(well, { watch: [alpha] }), context);
    expect(html).toContain('Your validators <span class="quiet">1</span>');
    expect(html).toContain('data-label="Target">main &quot;net&quot; &lt;1&gt;');
  });

  it('are shown when all is well, by any of their addresses', () => {
    const expected = [`unknown ${alpha} 0xa1 yours`, 'signs and votes', '40.00 %', 'none', 'none', '7 unknown', 'none'];
    for (const address of [registered[0]?.sender, alpha, registered[0]?.eth_address]) {
      const valset_confirms = [{ nonce: '1', eth_address: '0xa1' }];
      expect(rowsOf({ ...well, valset_confirms }, { watch: [address ?? ''] })).toEqual([expected]);
    }
  });

  it('are unknown, and not well, while the node has not answered whether they are jailed', () => {
    const cells = (isJailed: boolean | undefined) => {
      const [row = []] = rowsOf(well, { watch: [alpha], queries: answers(isJailed) });
      return [row[1], row[4]];
    };
    expect(cells(undefined)).toEqual(['cannot be judged', 'unknown']);
    expect(cells(false)).toEqual(['signs and votes', 'none']);
    expect(cells(true)).toEqual(['jailed', 'none jailed']);
  });

  it('have no countdown, and are not well, when the node is behind', () => {
    const valsets = [...idleState.valsets, { nonce: '950', members, height: '950' }];
    const [row] = rowsOf({ ...well, valsets }, { watch: [alpha], isNodeBehind: true });
    expect(row?.[1]).toBe('node is behind');
    expect(row?.[4]).toBe('unknown sign validator set 950 by height 1050, else jailed');
  });

  it('have the severity of their own alerts only', () => {
    const alert = problem('BridgeOrchestratorMissingVotes', 'warning', 40, { subject: { orchestrator: beta } });
    const rows = rowsOf(well, { watch: [alpha, beta], problems: [alert] });
    expect(rows.map(([, state]) => state)).toEqual(['signs and votes', 'warning']);
    expect(rows.map((row) => row.at(-1))).toEqual(['none', alert.action]);
  });

  it('show what the node says about them: last claim, funds, and missed blocks of those that they may miss', () => {
    const lastClaim = (claimed: string, state: object = well) =>
      rowsOf(state, { watch: [alpha], queries: answers(false, claimed) })[0]?.[5];
    expect(lastClaim('7')).toBe('7 1.5K smallest units');
    expect(lastClaim('4'), 'its vote in the document is newer').toBe(lastClaim('7'));
    expect(lastClaim('4', { attestations: [observed('900', 1)] })).toBe('4 1.5K smallest units');
    const counts = [100, 130].map((missed, index) => ({ at: at(60 * (index - 1)).at, missed }));
    const info = { address: '', startHeight: 1n, missed: 90, isTombstoned: false, counts };
    const missing = (params: object | undefined) => {
      const queries = new Map([
        ...answers(false),
        ...answeredQueries(at(0), { signing_info: info }, alpha),
        ...answeredQueries(at(0), { slashing_params: params }),
      ]);
      return rowsOf(well, { watch: [alpha], queries })[0]?.[3];
    };
    expect(missing({ window: 1000, minSigned: 0.5 })).toBe('90 blocks of the 500 that it may miss');
    expect(missing(undefined)).toBe('90 blocks');
  });

  it('have the earliest deadline: that of a signature, or of missed blocks at the present rate', () => {
    const counts = [100, 130].map((missed, index) => ({ at: at(60 * (index - 1)).at, missed, height: undefined }));
    const info = { address: '', startHeight: 1n, missed: 130, isTombstoned: false, counts };
    const valsets = [...idleState.valsets, { nonce: '950', members, height: '950' }];
    const deadline = (window: number, signedWindow: number, settings: Options = {}) => {
      const queries = new Map([
        ...answers(false),
        ...answeredQueries(at(0), { signing_info: info }, alpha),
        ...answeredQueries(at(0), { slashing_params: { window, minSigned: 0.5 } }),
      ]);
      const params = { ...idleState.params, signed_valsets_window: String(signedWindow) };
      const valset_confirms = [{ nonce: '1', eth_address: '0xa1' }];
      const state = { ...well, params, valsets, valset_confirms };
      return rowsOf(state, { watch: [alpha], queries, ...settings })[0]?.[4];
    };
    expect(deadline(900, 1000)).toBe('≈ 10 min left jailed then for missed blocks, at this rate');
    expect(deadline(900, 100)).toBe('≈ 100 s left sign validator set 950 by height 1050, else jailed');
    expect(deadline(900, 1000, { isNodeBehind: true })).toBe(
      'unknown sign validator set 950 by height 1950, else jailed',
    );
    expect(deadline(1000, 1000), 'it has not been bonded for a window').toContain('sign validator set 950');
  });

  it('are shown when they are outside the set, or not registered, or cannot be found', () => {
    const valsets = [{ nonce: '2', members: members.slice(1), height: '2' }];
    const watch = [alpha, 'hub1nobody'];
    const statesOf = (state: object, problems: readonly TargetProblem[] = []) =>
      rowsOf(state, { watch, problems })
        .slice(0, 2)
        .map((row) => [row[1], row[3]]);
    expect(statesOf({ valsets })).toEqual([
      ['not in the set', 'unknown'],
      ['not registered', 'unknown'],
    ]);
    const inactive = problem('BridgeWatchedValidatorInactive', 'critical', 20, { subject: { address: alpha } });
    expect(htmlOf({ valsets }, { watch, problems: [inactive] })).toContain(
      '<b class="state critical" title="critical">not in the set',
    );
    expect(statesOf({ orchestrator_addresses: null })[0]?.[0]).toBe('cannot be judged');
    expect(statesOf({ batch_confirms: null })[0]?.[0]).toBe('cannot be judged');
  });
});

describe('the contact of a validator', () => {
  /** The table with what the second validator has published; none of the four has signed a batch. */
  const htmlWith = (contact: Contact, settings: Options = {}): string => {
    const validators = { names: new Map(), contacts: new Map([['pqqqq', contact]]), operators: new Map() };
    const queries = answeredQueries(at(0), { validators });
    return htmlOf({ batches: [batch('1', '600', '500')] }, { ...settings, queries });
  };
  it('is text beside its name where it is late', () => {
    const html = htmlWith({ securityContact: 'ops@example.org', website: 'https://example.org/a' });
    expect(html).toContain('published contact: ops@example.org, https://example.org/a');
    expect(html.split('published contact').length).toBe(2);
    expect(html).not.toContain('<a ');
  });

  it('is escaped', () => {
    const html = htmlWith({ securityContact: HOSTILE, website: `https://example.org/"><script>` });
    expect(html).not.toContain('<script>');
  });
});
