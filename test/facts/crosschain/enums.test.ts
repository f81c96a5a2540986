import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../support/json.js';
import { deriveCrosschain } from '../derive.js';
import { cctx, outbound, rateLimiterInput, valueOf } from './document.js';

const CCTXS = 'crosschain_cctxs';
const LARGEST = 'crosschain_largest_pending_native_amount';
const pending = (row: JsonObject): JsonObject => rateLimiterInput({ cctxs_pending: [row] });

describe('the enum labels of crosschain_cctxs', () => {
  const withStatus = (value: Json): JsonObject => pending(cctx('0x1', [], { cctx_status: { status: value } }));
  const withCoinType = (coin_type: Json): JsonObject => pending(cctx('0x1', [outbound('', { coin_type })]));
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
  ])('map the status %j to %s', (value, expected) => {
    expect(Object.keys(valueOf(withStatus(value), CCTXS) ?? {})).toEqual([expect.stringMatching(label(expected))]);
    expect(deriveCrosschain(withStatus(value)).unknown).toEqual({});
  });

  it.each<Json>([2, 7, -1, 'Unheard', 'pendingoutbound', 'constructor', '__proto__'])(
    'map the unknown status %j to other and count it as unknown',
    (value) => {
      expect(Object.keys(valueOf(withStatus(value), CCTXS) ?? {})).toEqual([expect.stringMatching(label('other'))]);
      const { unknown, invalid } = deriveCrosschain(withStatus(value));
      expect({ unknown, invalid }).toEqual({ unknown: { 'cctxs_pending[].cctx_status.status': 1 }, invalid: {} });
    },
  );

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
    ['toString', 'other', 1],
  ])('map the coin type %j to %s', (value, expected, unknown) => {
    expect(Object.keys(valueOf(withCoinType(value), CCTXS) ?? {}).join('')).toContain(`coin_type="${expected}"`);
    expect(Object.values(deriveCrosschain(withCoinType(value)).unknown)).toEqual(unknown === 0 ? [] : [unknown]);
  });

  it('map the coin type Zeta to Native', () => {
    const document = withCoinType('Zeta');
    expect(Object.keys(valueOf(document, CCTXS) ?? {}).join('')).toContain('coin_type="Native"');
    expect(valueOf(document, LARGEST)).toBe(0);
    expect(deriveCrosschain(document).unknown).toEqual({});
  });

  it.each<Json>([true, {}, []])('are withdrawn for the invalid status %j', (value) => {
    expect(valueOf(withStatus(value), CCTXS)).toBeUndefined();
    expect(deriveCrosschain(withStatus(value)).invalid).toEqual({ 'cctxs_pending[].cctx_status.status': 1 });
  });
});
