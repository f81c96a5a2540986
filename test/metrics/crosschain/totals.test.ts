import { describe, expect, it } from 'vitest';
import { deriveCrosschain } from '../derive.js';
import { answer, cctx, present, told, toldOf, type Row } from './document.js';

const HIDDEN = 'crosschain_cctxs_hidden';
const lengths = ['crosschain_cctxs_missed', 'crosschain_cctxs_pending'];
const scalars = [
  'crosschain_height',
  'crosschain_total_pending',
  'crosschain_past_cctxs_value',
  'crosschain_pending_cctxs_value',
  'crosschain_lowest_pending_cctx_height',
];
const all = [...scalars, ...lengths, HIDDEN];

const busy = answer({
  height: '8214702',
  cctxs_missed: [cctx('0x1', []), cctx('0x1', [])],
  cctxs_pending: [cctx('0x2', []), cctx('0x3', []), null],
  total_pending: '9',
  past_cctxs_value: '1200000000000000000000',
  pending_cctxs_value: (2n ** 256n).toString(),
  lowest_pending_cctx_height: 8214000,
});

describe('the totals', () => {
  it('are what the service says, and the lengths of its lists', () => {
    expect(toldOf(busy, all)).toEqual({
      crosschain_height: 8214702,
      crosschain_total_pending: 9,
      crosschain_past_cctxs_value: 1.2e21,
      crosschain_pending_cctxs_value: 2 ** 256,
      crosschain_lowest_pending_cctx_height: 8214000,
      // rows, whatever is in them
      crosschain_cctxs_missed: 2,
      crosschain_cctxs_pending: 3,
      [HIDDEN]: 4,
    });
  });

  it.each([
    ['5', 0],
    ['4', 0],
    ['6', 1],
    ['9007199254740999', 9007199254740994],
  ])('hide, of %s in all with 5 listed, %s', (total_pending, hidden) => {
    expect(told({ ...busy, total_pending }, HIDDEN)).toBe(hidden);
  });

  it('hide what a limit on the list cuts off', () => {
    const listed = (name: string, count: number): Row[] =>
      Array.from({ length: count }, (_, at) => cctx(`${name}${at}`, []));
    const of = (pending: number): Row =>
      answer({ total_pending: '400', cctxs_missed: listed('m', 200), cctxs_pending: listed('p', pending) });
    expect([told(of(200), HIDDEN), told(of(100), HIDDEN)]).toEqual([0, 100]);
  });

  it.each<[string, Row, string[]]>([
    ['height', { height: null }, ['crosschain_height']],
    ['total_pending', { total_pending: '' }, ['crosschain_total_pending', HIDDEN]],
    ['past_cctxs_value', { past_cctxs_value: '1e21' }, ['crosschain_past_cctxs_value']],
    ['pending_cctxs_value', { pending_cctxs_value: [] }, ['crosschain_pending_cctxs_value']],
    ['lowest_pending_cctx_height', { lowest_pending_cctx_height: '0x10' }, ['crosschain_lowest_pending_cctx_height']],
    ['cctxs_missed', { cctxs_missed: null }, ['crosschain_cctxs_missed', HIDDEN]],
    ['cctxs_pending', { cctxs_pending: {} }, ['crosschain_cctxs_pending', HIDDEN]],
  ])('are withdrawn for want of %s where they need it, and nowhere else', (_, broken, withdrawn) => {
    expect(present({ ...busy, ...broken }, all)).toEqual(all.filter((name) => !withdrawn.includes(name)));
  });

  it('count as invalid what is of a wrong kind, and not what is missing', () => {
    const broken = answer({ height: null, total_pending: '', past_cctxs_value: '1e21', cctxs_missed: 'none' });
    expect(deriveCrosschain(broken).invalid).toEqual({ past_cctxs_value: 1, cctxs_missed: 1 });
  });
});
