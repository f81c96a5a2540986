import { describe, expect, it } from 'vitest';
import {
  account,
  attestation,
  batch,
  batchConfirm,
  members,
  operator,
  orchestrator,
  present,
  state,
  told,
  toldOf,
  valset,
  valsetConfirm,
  without,
  type Row,
} from './state.js';

const POWER = 'bridge_orchestrator_power_ratio';
const MISSING_VALSETS = 'bridge_orchestrator_missing_valset_confirms';
const DEADLINE = 'bridge_orchestrator_confirm_deadline_height';
const MISSING_BATCHES = 'bridge_orchestrator_missing_batch_confirms';
const MISSING_VOTES = 'bridge_orchestrator_missing_votes';
const all = [POWER, MISSING_VALSETS, DEADLINE, MISSING_BATCHES, MISSING_VOTES];

const named = (data: string, address: string): string =>
  `orchestrator="${account(data)}",external_address="${address}"`;
const A = named('aaaa', '0xaa');
const C = named('cccc', '0xcc');

/** Of the newest set 120, `0xaa` and `0xcc` have an orchestrator; `0xbb` has none, and `0xdd` is no member. */
const bridge = state({
  params: { signed_valsets_window: '50' },
  valsets: [
    valset('100', { '0xaa': 1, '0xcc': 1 }),
    valset('120', { '0xAA': 60, '0xbb': 30, '0xcc': 10 }),
    valset('110', { '0xaa': 1 }),
  ],
  valset_confirms: [valsetConfirm('120', '0xAa'), valsetConfirm('100', '0xdd'), valsetConfirm('99', '0xcc')],
  orchestrator_addresses: [
    orchestrator('dddd', '0xdd'),
    orchestrator('aaaa', '0xaA'),
    orchestrator('cccc', '0xCC'),
    orchestrator('zzzz', '0xcc'), // repeats 0xcc: in look-ups the first row counts
  ],
  batches: [batch('1', '0xT1'), batch('1', '0xt2')],
  batch_confirms: [
    batchConfirm('1', '0xt1', '0xAA'),
    batchConfirm('1', '0xt2', '0xaa'),
    batchConfirm('1', '0xt2', '0xcc'),
    batchConfirm('2', '0xt1', '0xcc'), // an orphan
  ],
  last_observed_nonce: '7',
  attestations: [
    attestation('7', [operator('aaaa'), operator('xxxx')], { observed: true }),
    attestation('8', [operator('cccc')]),
    attestation('6', [operator('cccc')], { observed: true }),
  ],
});

describe('an orchestrator of the newest set', () => {
  it('is a member with a row of its address', () => {
    // 60 / 100 and 10 / 100: the power of 0xbb counts in the total
    expect(told(bridge, POWER)).toEqual({ [A]: 0.6, [C]: 0.1 });
  });

  it('has the power of all members of its address', () => {
    const twice = { ...valset('1', {}), members: [...members({ '0xaa': 2, '0xbb': 1 }), ...members({ '0xAA': 1 })] };
    const of = state({ valsets: [twice], orchestrator_addresses: [orchestrator('aaaa', '0xaa')] });
    expect(told(of, POWER)).toEqual({ [A]: 0.75 });
  });

  it('has no power ratio in a set without power, and all else', () => {
    const powerless = { ...bridge, valsets: [valset('1', { '0xaa': 0 })] };
    expect(present(powerless, all)).toEqual([MISSING_VALSETS, DEADLINE, MISSING_BATCHES, MISSING_VOTES]);
  });

  it.each([{ valsets: [] }, { valsets: [valset('1', {})] }, { orchestrator_addresses: [] }])(
    'is nobody with %j',
    (fields) => {
      expect(present({ ...bridge, ...fields }, all)).toEqual([]);
    },
  );

  it('is shown when it is watched, with any prefix and case', () => {
    const watched = (watch: readonly string[]) => told(bridge, POWER, { watch });
    expect(watched([account('aaaa')])).toEqual({ [A]: 0.6 });
    expect(watched([operator('cccc')])).toEqual({ [C]: 0.1 });
    expect(watched([account('AAAA'), account('dddd')])).toEqual({ [A]: 0.6 });
    expect(watched([account('dddd')])).toBeUndefined();
  });

  it('may have a row that does not name it, unless it has to be found', () => {
    const unnamed = { ...bridge, orchestrator_addresses: [{ sender: account('aaaa'), eth_address: '0xaa' }] };
    const label = 'orchestrator="",external_address="0xaa"';
    expect(toldOf(unnamed, all)).toEqual({
      [POWER]: { [label]: 0.6 },
      [MISSING_VALSETS]: { [label]: 2 },
      [DEADLINE]: { [label]: 150 },
      [MISSING_BATCHES]: { [label]: 0 },
      [MISSING_VOTES]: { [label]: 0 },
    });
    expect(present(unnamed, all, { watch: [account('aaaa')] })).toEqual([]);
  });
});

describe('confirms of valsets', () => {
  // Deadlines: 100 + 50, 110 + 50, 120 + 50. 0xaa lacks 100 and 110, 0xcc lacks 100 and 120.
  it.each([
    ['140', { [A]: 2, [C]: 2 }, { [A]: 150, [C]: 150 }],
    ['150', { [A]: 2, [C]: 2 }, { [A]: 150, [C]: 150 }],
    ['151', { [A]: 1, [C]: 1 }, { [A]: 160, [C]: 170 }],
    ['161', { [A]: 0, [C]: 1 }, { [C]: 170 }],
    ['171', { [A]: 0, [C]: 0 }, undefined],
    [undefined, { [A]: 2, [C]: 2 }, { [A]: 150, [C]: 150 }],
  ])('are missing at height %s until their deadline is below it', (height, missing, deadline) => {
    expect(toldOf(bridge, [MISSING_VALSETS, DEADLINE], height === undefined ? {} : { height })).toEqual({
      [MISSING_VALSETS]: missing,
      [DEADLINE]: deadline,
    });
  });

  it.each([{ params: null }, { params: {} }, { params: { signed_valsets_window: '' } }])(
    'have no deadline with %j, and all of them count',
    (fields) => {
      const found = toldOf({ ...bridge, ...fields }, [MISSING_VALSETS, DEADLINE], { height: '9999' });
      expect(found).toEqual({ [MISSING_VALSETS]: { [A]: 2, [C]: 2 }, [DEADLINE]: undefined });
    },
  );

  it('are reckoned beyond 2^53', () => {
    const far = valset('1', { '0xaa': 1 }, { height: '9007199254740993' });
    const late = { ...bridge, valsets: [far], params: { signed_valsets_window: '0' } };
    expect(told(late, MISSING_VALSETS, { height: '9007199254740993' })).toEqual({ [A]: 1 });
    expect(told(late, MISSING_VALSETS, { height: '9007199254740994' })).toEqual({ [A]: 0 });
  });
});

describe('confirms of batches', () => {
  it('are missing by nonce and token', () => {
    expect(told(bridge, MISSING_BATCHES)).toEqual({ [A]: 0, [C]: 1 });
    expect(told({ ...bridge, batches: [] }, MISSING_BATCHES)).toEqual({ [A]: 0, [C]: 0 });
  });
});

describe('the vote for the last observed event', () => {
  it('is missing without one by the same key, whatever its prefix', () => {
    expect(told(bridge, MISSING_VOTES)).toEqual({ [A]: 0, [C]: 1 });
  });

  it('may be with any of several observed claims', () => {
    const second = attestation('7', [account('CCCC')], { observed: true });
    const several = { ...bridge, attestations: [...(bridge['attestations'] as Row[]), second] };
    expect(told(several, MISSING_VOTES)).toEqual({ [A]: 0, [C]: 0 });
    const unobserved = { ...several, attestations: [bridge['attestations'], [{ ...second, observed: false }]].flat() };
    expect(told(unobserved as Row, MISSING_VOTES)).toEqual({ [A]: 0, [C]: 1 });
  });

  it.each([
    ['none', { attestations: [] }],
    ['one that is not observed', { attestations: [attestation('7', [operator('aaaa')])] }],
    ['one of another event', { last_observed_nonce: '5' }],
  ])('is not told with %s in the state', (_, fields) => {
    expect(told({ ...bridge, ...fields }, MISSING_VOTES)).toBeUndefined();
  });
});

describe('what cannot be read', () => {
  const rows = bridge['orchestrator_addresses'] as Row[];
  const but = (...names: string[]): string[] => all.filter((name) => !names.includes(name));

  it.each<[string, Row, string[]]>([
    ['valsets', { valsets: null }, []],
    ['orchestrator_addresses', { orchestrator_addresses: 'none' }, []],
    ['the address of a row', { orchestrator_addresses: [...rows, { sender: '', orchestrator: '' }] }, []],
    ['the name of a row, a number,', { orchestrator_addresses: [{ ...rows[1], orchestrator: 1 }] }, []],
    ['the sender of a row', { orchestrator_addresses: [without(rows[1] ?? {}, 'sender')] }, but(MISSING_VOTES)],
    ['the sender of no member', { orchestrator_addresses: [...rows, { eth_address: '0xee' }] }, all],
    ['a power', { valsets: [{ ...valset('1', {}), members: [{ external_address: '0xaa' }] }] }, but(POWER)],
    [
      'the height of a set',
      { valsets: [valset('1', { '0xaa': 1 }, { height: null })] },
      but(MISSING_VALSETS, DEADLINE),
    ],
    ['the window, an object,', { params: { signed_valsets_window: {} } }, but(MISSING_VALSETS, DEADLINE)],
    ['valset_confirms', { valset_confirms: null }, but(MISSING_VALSETS, DEADLINE)],
    ['who confirmed a set', { valset_confirms: [{ nonce: '120' }] }, but(MISSING_VALSETS, DEADLINE)],
    ['who confirmed no set', { valset_confirms: [{ nonce: '1' }] }, all],
    ['batches', { batches: null }, but(MISSING_BATCHES)],
    ['batch_confirms', { batch_confirms: null }, but(MISSING_BATCHES)],
    ['batch_confirms without a batch', { batches: [], batch_confirms: null }, but(MISSING_BATCHES)],
    ['last_observed_nonce', { last_observed_nonce: '' }, but(MISSING_VOTES)],
    ['attestations', { attestations: null }, but(MISSING_VOTES)],
    ['the nonce of any event', { attestations: [attestation('', [])] }, but(MISSING_VOTES)],
    ['the votes', { attestations: [attestation('7', [], { observed: true, votes: null })] }, but(MISSING_VOTES)],
  ])('%s withdraws what needs it and no more', (_, broken, left) => {
    expect(present({ ...bridge, ...broken }, all, { height: '10' })).toEqual(left);
  });

  it('valset_confirms withdraws what needs it even when every deadline is past', () => {
    expect(present(bridge, all, { height: '171' })).toEqual(but(DEADLINE));
    const left = present({ ...bridge, valset_confirms: null }, all, { height: '171' });
    expect(left).toEqual(but(MISSING_VALSETS, DEADLINE));
  });
});
