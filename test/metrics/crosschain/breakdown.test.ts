import { describe, expect, it } from 'vitest';
import { answer, cctx, outbound, present, status, told, type Json, type Row } from './document.js';

const CCTXS = 'crosschain_cctxs';
const OLDEST = 'crosschain_oldest_cctx_created_timestamp_seconds';
const NO_HASH = 'crosschain_cctxs_without_hash';
const LOWEST = 'crosschain_lowest_pending_nonce';
const LARGEST = 'crosschain_largest_pending_native_amount';
const about = { hubChainIds: ['7000', '7001'], chains: { '1': 'ethereum' } };

/** The labels of CCTXS, in their order. */
const labels = (list: string, what: string, coin: string, id: string, chain: string, direction: string): string =>
  `list="${list}",status="${what}",coin_type="${coin}",chain_id="${id}",chain="${chain}",direction="${direction}"`;
const at = (list: string, id: string, chain = ''): string => `list="${list}",chain_id="${id}",chain="${chain}"`;
const pending = (...cctxs_pending: Json[]): Row => answer({ cctxs_pending });

describe('the count of transactions', () => {
  it('is by list, status, coin, chain and direction, each index once in each list', () => {
    const outgoing = cctx('0x1', [outbound('1')]);
    const reverted = cctx('0x2', [outbound('7000'), outbound('56', { coin_type: 'ERC20' })], {
      cctx_status: status({ status: 'PendingRevert' }),
      inbound_params: { sender_chain_id: '56' },
    });
    const of = answer({
      cctxs_missed: [outgoing, reverted, outgoing],
      cctxs_pending: [outgoing, cctx('0x3', [outbound('1')]), cctx('0x3', [outbound('56')])],
    });
    expect(told(of, CCTXS, about)).toEqual({
      [labels('missed', 'PendingOutbound', 'Gas', '1', 'ethereum', 'outgoing')]: 1,
      [labels('missed', 'PendingRevert', 'ERC20', '56', '', 'incoming')]: 1,
      [labels('pending', 'PendingOutbound', 'Gas', '1', 'ethereum', 'outgoing')]: 2,
    });
  });

  it('is of unknown direction when the chain of the hub is not configured', () => {
    const of = pending(cctx('0x1', [outbound('1')]), cctx('0x2', [outbound('1')], { inbound_params: null }));
    expect(told(of, CCTXS)).toEqual({ [labels('pending', 'PendingOutbound', 'Gas', '1', '', 'unknown')]: 2 });
  });

  it.each<[string, Row, string]>([
    ['outbounds', { outbound_params: [] }, labels('pending', 'PendingOutbound', '', '', '', 'outgoing')],
    ['outbound_params', { outbound_params: null }, labels('pending', 'PendingOutbound', '', '', '', 'outgoing')],
    ['fields of the outbound', { outbound_params: [{}] }, labels('pending', 'PendingOutbound', '', '', '', 'outgoing')],
    ['a status', { cctx_status: {} }, labels('pending', '', 'Gas', '1', 'ethereum', 'outgoing')],
    ['cctx_status', { cctx_status: null }, labels('pending', '', 'Gas', '1', 'ethereum', 'outgoing')],
    ['a sender chain', { inbound_params: {} }, labels('pending', 'PendingOutbound', 'Gas', '1', 'ethereum', '')],
    ['inbound_params', { inbound_params: null }, labels('pending', 'PendingOutbound', 'Gas', '1', 'ethereum', '')],
  ])('has an empty label without %s', (_, fields, label) => {
    expect(told(pending({ ...cctx('0x1', [outbound('1')]), ...fields }), CCTXS, about)).toEqual({ [label]: 1 });
  });

  it('has chain ids that are JSON integers, or any text', () => {
    const ids: Json[] = [1, '1', '__proto__', 'constructor', 'a\uD800', 'x'.repeat(129), 'x'.repeat(128)];
    const of = pending(
      ...ids.map((id, index) => cctx(`0x${index}`, [outbound(id)], { inbound_params: { sender_chain_id: 7000 } })),
    );
    const label = (id: string, chain = ''): string =>
      labels('pending', 'PendingOutbound', 'Gas', id, chain, 'outgoing');
    expect(told(of, CCTXS, about)).toEqual({
      [label('1', 'ethereum')]: 2,
      [label('__proto__')]: 1,
      [label('constructor')]: 1,
      [label('a\uFFFD')]: 1,
      [label('x'.repeat(128))]: 2,
    });
  });
});

describe('the oldest of a chain', () => {
  const aged = (index: string, id: string, created: Json, updated: Json): Row =>
    cctx(index, [outbound(id)], { cctx_status: { created_timestamp: created, lastUpdate_timestamp: updated } });

  it('is by creation, or by the last change of one that does not know it', () => {
    const of = answer({
      cctxs_missed: [aged('0x1', '1', '900', '1')],
      cctxs_pending: [
        aged('0x1', '1', '800', '1'), // changed before, which does not matter
        aged('0x2', '1', '700', '9999'),
        aged('0x3', '56', '0', '600'),
        aged('0x4', '56', '-5', 650),
        aged('0x5', '56', '0', '0'), // knows neither
        aged('0x6', '8332', '0', '-1'), // and it is the only one of its chain
      ],
    });
    expect(told(of, OLDEST, about)).toEqual({
      [at('missed', '1', 'ethereum')]: 900,
      [at('pending', '1', 'ethereum')]: 700,
      [at('pending', '56')]: 600,
    });
  });

  it.each<[string, Row]>([
    ['created_timestamp', aged('0x2', '1', null, '600')],
    ['lastUpdate_timestamp where it is needed', aged('0x2', '1', '0', '')],
    ['cctx_status', cctx('0x2', [outbound('1')], { cctx_status: null })],
  ])('is withdrawn with its list for want of %s', (_, broken) => {
    const missed = [aged('0x1', '1', '900', '1')];
    expect(told(answer({ cctxs_missed: missed, cctxs_pending: [broken] }), OLDEST)).toEqual({
      [at('missed', '1')]: 900,
    });
  });
});

describe('transactions without a hash', () => {
  it('are counted for every list and chain that occurs', () => {
    const of = answer({
      cctxs_missed: [cctx('0x1', [outbound('1')]), cctx('0x1', [outbound('1', { hash: '' })])],
      cctxs_pending: [
        cctx('0x1', [outbound('1', { hash: '' })]),
        cctx('0x2', [outbound('1', { hash: '' }), outbound('56')]), // the last outbound is what counts
        cctx('0x3', [outbound('1', { hash: '' })]),
        cctx('0x4', []),
      ],
    });
    expect(told(of, NO_HASH, about)).toEqual({
      [at('missed', '1', 'ethereum')]: 0,
      [at('pending', '1', 'ethereum')]: 2,
      [at('pending', '56')]: 0,
      [at('pending', '')]: 0,
    });
  });
});

describe('the lowest pending nonce', () => {
  it('is that of the current outbounds of a chain', () => {
    const of = answer({
      cctxs_missed: [cctx('0x9', [outbound('1', { tss_nonce: '1' })])],
      cctxs_pending: [
        cctx('0x1', [outbound('1', { tss_nonce: '9007199254740995' })]),
        cctx('0x2', [outbound('1', { tss_nonce: '9007199254740994' })]),
        cctx('0x3', [outbound('1', { tss_nonce: '0' }), outbound('56', { tss_nonce: '7' })]),
        cctx('0x4', []),
      ],
    });
    expect(told(of, LOWEST, about)).toEqual({
      'chain_id="1",chain="ethereum"': 9007199254740994,
      'chain_id="56",chain=""': 7,
    });
  });
});

describe('the largest pending amount of the native coin', () => {
  const native = (amount: string): Row => outbound('1', { coin_type: 'Native', amount });

  it('is that of the current outbounds', () => {
    const of = answer({
      cctxs_missed: [cctx('0x9', [native('9')])],
      cctxs_pending: [
        cctx('0x1', [native('5')]),
        cctx('0x2', [native('8'), outbound('1', { amount: '99' })]),
        cctx('0x3', [outbound('1', { amount: '99' }), outbound('1', { coin_type: 0, amount: '6' })]),
        cctx('0x4', []),
      ],
    });
    expect(told(of, LARGEST)).toBe(6);
    expect(told(pending(cctx('0x1', [native((2n ** 256n).toString())])), LARGEST)).toBe(2 ** 256);
  });

  it('is absent when no native coin is pending', () => {
    expect(told(pending(cctx('0x1', [outbound('1', { amount: '5' })])), LARGEST)).toBeUndefined();
    expect(told(answer({}), LARGEST)).toBeUndefined();
  });

  it('needs the amounts of native coins only', () => {
    const other = cctx('0x2', [{ coin_type: 'Gas', amount: {} }]);
    expect(told(pending(cctx('0x1', [native('5')]), other), LARGEST)).toBe(5);
    expect(told(pending(cctx('0x1', [native('')]), other), LARGEST)).toBeUndefined();
  });
});

describe('what cannot be read', () => {
  const fine = cctx('0x1', [outbound('1', { coin_type: 'Native' })], {
    cctx_status: status({ created_timestamp: '5' }),
  });
  const all = [CCTXS, OLDEST, NO_HASH, LOWEST, LARGEST];
  const but = (...names: string[]): string[] => all.filter((name) => !names.includes(name));
  const broken = (more: Row): Json[] => [{ ...fine, ...more }];

  it.each<[string, Json, string[]]>([
    ['the list', null, []],
    ['a row', [fine, null], []],
    ['an index', broken({ index: null }), []],
    ['outbound_params', broken({ outbound_params: null }), [CCTXS, OLDEST]],
    ['outbound_params, a text,', broken({ outbound_params: '' }), []],
    ['a hash', broken({ outbound_params: [outbound('1', { coin_type: 'Native', hash: null })] }), but(NO_HASH)],
    ['a nonce', broken({ outbound_params: [outbound('1', { coin_type: 'Native', tss_nonce: '' })] }), but(LOWEST)],
    ['a coin type', broken({ outbound_params: [outbound('1', { coin_type: null })] }), but(LARGEST)],
    ['a chain id', broken({ outbound_params: [outbound(null, { coin_type: 'Native' })] }), all],
    ['a chain id, a fraction,', broken({ outbound_params: [outbound(1.5, { coin_type: 'Native' })] }), [LARGEST]],
    ['a sender chain, a flag,', broken({ inbound_params: { sender_chain_id: true } }), but(CCTXS)],
    [
      'an outbound before the last',
      broken({ outbound_params: [{ hash: 3 }, ...(fine['outbound_params'] as Json[])] }),
      all,
    ],
  ])('of %s withdraws what needs it and no more', (_, list, left) => {
    expect(present(answer({ cctxs_pending: list }), all, about)).toEqual(left);
  });

  it('leaves the series of the other list', () => {
    const of = answer({ cctxs_missed: [null], cctxs_pending: [fine] });
    expect(told(of, OLDEST)).toEqual({ [at('pending', '1')]: 5 });
    expect(told(of, NO_HASH)).toEqual({ [at('pending', '1')]: 0 });
    expect(Object.keys(told(of, CCTXS) ?? {})).toEqual([
      labels('pending', 'PendingOutbound', 'Native', '1', '', 'unknown'),
    ]);
  });
});
