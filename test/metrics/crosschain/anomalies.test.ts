import { describe, expect, it } from 'vitest';
import { answer, cctx, outbound, told, without, type Row } from './document.js';

const kinds = ['duplicate_cctxs', 'lowest_above_height', 'cctxs_without_outbound'] as const;
const none = { duplicate_cctxs: 0, lowest_above_height: 0, cctxs_without_outbound: 0 };

function anomalies(of: Row): Record<string, number | undefined> {
  const found = told(of, 'crosschain_anomalies');
  return Object.fromEntries(kinds.map((kind) => [kind, (found as Record<string, number>)[`kind="${kind}"`]]));
}

const fine = (index: string): Row => cctx(index, [outbound('1')]);

describe('anomalies', () => {
  it('are 0 in an empty answer', () => {
    expect(anomalies(answer({}))).toEqual(none);
  });

  it('are rows whose index occurred earlier, in the same list or the other', () => {
    const of = answer({
      cctxs_missed: [fine('0x1'), fine('0x2'), fine('0x1')], // 0x1 again
      cctxs_pending: [fine('0x3'), fine('0x2'), fine('0x2'), fine('0x3')], // all but the first
    });
    expect(anomalies(of)).toEqual({ ...none, duplicate_cctxs: 4 });
  });

  it('may have any text for an index', () => {
    const odd = ['__proto__', 'constructor', ''].map(fine);
    expect(anomalies(answer({ cctxs_missed: odd }))).toEqual(none);
    expect(anomalies(answer({ cctxs_missed: odd, cctxs_pending: odd }))).toEqual({ ...none, duplicate_cctxs: 3 });
  });

  it.each([
    ['99', 0],
    ['100', 0],
    ['101', 1],
    ['100.5', 1],
  ])('are a lowest height of %s at height 100: %s', (lowest_pending_cctx_height, lowest_above_height) => {
    expect(anomalies(answer({ lowest_pending_cctx_height }))).toEqual({ ...none, lowest_above_height });
  });

  it('are a lowest height one above the height beyond 2^53', () => {
    const of = answer({ height: '9007199254740992', lowest_pending_cctx_height: '9007199254740993' });
    expect(anomalies(of)).toEqual({ ...none, lowest_above_height: 1 });
  });

  it('are transactions without an outbound, in both lists', () => {
    const of = answer({ cctxs_missed: [cctx('0x1', []), fine('0x2')], cctxs_pending: [cctx('0x3', [])] });
    expect(anomalies(of)).toEqual({ ...none, cctxs_without_outbound: 2 });
  });
});

describe('a kind that cannot be told', () => {
  type Kind = (typeof kinds)[number];
  const ofRows: Kind[] = ['duplicate_cctxs', 'cctxs_without_outbound'];

  it.each<[string, Row, Kind[]]>([
    ['cctxs_missed', { cctxs_missed: null }, ofRows],
    ['cctxs_pending', { cctxs_pending: 'none' }, ofRows],
    ['a row', { cctxs_missed: [null] }, ofRows],
    ['an index', { cctxs_missed: [without(fine(''), 'index')] }, ['duplicate_cctxs']],
    ['outbound_params', { cctxs_pending: [without(fine('0x1'), 'outbound_params')] }, ['cctxs_without_outbound']],
    ['what is in an outbound', { cctxs_pending: [cctx('0x1', [{}])] }, []],
    ['height', { height: '' }, ['lowest_above_height']],
    ['lowest_pending_cctx_height', { lowest_pending_cctx_height: null }, ['lowest_above_height']],
    ['total_pending', { total_pending: null }, []],
  ])('is withdrawn alone, for want of %s', (_, broken, withdrawn) => {
    const left = kinds.map((kind) => [kind, withdrawn.includes(kind) ? undefined : 0]);
    expect(anomalies({ ...answer({}), ...broken })).toEqual(Object.fromEntries(left));
  });
});
