import { describe, expect, it } from 'vitest';
import { deriveCrosschain } from '../derive.js';
import { answer, cctx, outbound, told, type Json, type Row } from './document.js';

const CCTXS = 'crosschain_cctxs';
const LARGEST = 'crosschain_largest_pending_native_amount';
const pending = (row: Row): Row => answer({ cctxs_pending: [row] });

describe('enum values', () => {
  const statusOf = (value: Json): Row => pending(cctx('0x1', [], { cctx_status: { status: value } }));
  const coinOf = (coin_type: Json): Row => pending(cctx('0x1', [outbound('', { coin_type })]));
  const label = (value: string): RegExp => new RegExp(`^list="pending",status="${value}",`);

  it.each<[Json, string]>([
    ['PendingInbound', 'PendingInbound'],
    ['PendingOutbound', 'PendingOutbound'],
    ['OutboundMined', 'OutboundMined'],
    ['PendingRevert', 'PendingRevert'],
    ['Reverted', 'Reverted'],
    ['Aborted', 'Aborted'],
    [0, 'PendingInbound'],
    [1, 'PendingOutbound'],
    [3, 'OutboundMined'],
    [4, 'PendingRevert'],
    [5, 'Reverted'],
    [6, 'Aborted'],
  ])('status %j is %s', (value, shown) => {
    expect(Object.keys(told(statusOf(value), CCTXS) ?? {})).toEqual([expect.stringMatching(label(shown))]);
    expect(deriveCrosschain(statusOf(value)).unknown).toEqual({});
  });

  it.each<Json>([2, 7, -1, 'Unheard', 'pendingoutbound', 'constructor', '__proto__'])('status %j is other', (value) => {
    expect(Object.keys(told(statusOf(value), CCTXS) ?? {})).toEqual([expect.stringMatching(label('other'))]);
    const { unknown, invalid } = deriveCrosschain(statusOf(value));
    expect({ unknown, invalid }).toEqual({ unknown: { 'cctxs_pending[].cctx_status.status': 1 }, invalid: {} });
  });

  it.each<[Json, string, number]>([
    ['Native', 'Native', 0],
    ['Gas', 'Gas', 0],
    ['ERC20', 'ERC20', 0],
    ['Cmd', 'Cmd', 0],
    ['NoAssetCall', 'NoAssetCall', 0],
    [0, 'Native', 0],
    [1, 'Gas', 0],
    [2, 'ERC20', 0],
    [3, 'Cmd', 0],
    [4, 'NoAssetCall', 0],
    [5, 'other', 1],
    ['Zeta', 'other', 1],
    ['toString', 'other', 1],
  ])('coin type %j is %s', (value, shown, unknown) => {
    expect(Object.keys(told(coinOf(value), CCTXS) ?? {}).join('')).toContain(`coin_type="${shown}"`);
    expect(Object.values(deriveCrosschain(coinOf(value)).unknown)).toEqual(unknown === 0 ? [] : [unknown]);
  });

  it('are those of the dialect: Zeta is Native', () => {
    const of = coinOf('Zeta');
    expect(Object.keys(told(of, CCTXS, { dialect: 'zeta' }) ?? {}).join('')).toContain('coin_type="Native"');
    expect(told(of, LARGEST, { dialect: 'zeta' })).toBe(0);
    expect(told(of, LARGEST)).toBeUndefined();
  });

  it.each<Json>([true, {}, []])('of the wrong kind %j withdraw the list', (value) => {
    expect(told(statusOf(value), CCTXS)).toBeUndefined();
    expect(deriveCrosschain(statusOf(value)).invalid).toEqual({ 'cctxs_pending[].cctx_status.status': 1 });
  });
});
