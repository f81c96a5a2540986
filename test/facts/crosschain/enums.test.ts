import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../support/json.js';
import { deriveCrosschain } from '../derive.js';
import { cctx, outbound, rateLimiterInput, valueOf } from './document.js';

const statuses = [
  [0, 'PendingInbound'],
  [1, 'PendingOutbound'],
  [3, 'OutboundMined'],
  [4, 'PendingRevert'],
  [5, 'Reverted'],
  [6, 'Aborted'],
] as const;
const coinTypes = ['Native', 'Gas', 'ERC20', 'Cmd', 'NoAssetCall'];

/** The label of a transaction with this value, and how many values of its field are unknown. */
function labelOf(label: 'status' | 'coin_type', value: Json): readonly [string | undefined, number] {
  const row: JsonObject =
    label === 'status'
      ? cctx('0x1', [], { cctx_status: { status: value } })
      : cctx('0x1', [outbound('', { coin_type: value })]);
  const document = rateLimiterInput({ cctxs_pending: [row] });
  const [labels = ''] = Object.keys(valueOf(document, 'crosschain_cctxs') ?? {});
  const unknown = Object.values(deriveCrosschain(document).unknown).reduce((sum, count) => sum + count, 0);
  return [new RegExp(`${label}="([^"]*)"`).exec(labels)?.[1], unknown];
}

describe('the enum labels of crosschain_cctxs', () => {
  it.each(statuses)('have the status %i by its number and by its name', (number, name) => {
    expect([labelOf('status', number), labelOf('status', name)]).toEqual([
      [name, 0],
      [name, 0],
    ]);
  });

  it.each(coinTypes)('have the coin type %s by its number and by its name', (name) => {
    const values = [coinTypes.indexOf(name), name];
    expect(values.map((value) => labelOf('coin_type', value))).toEqual(values.map(() => [name, 0]));
  });

  it('have the coin type Zeta as Native', () => {
    expect(labelOf('coin_type', 'Zeta')).toEqual(['Native', 0]);
  });

  it.each<Json>([7, 'Unheard', '__proto__'])('have the unknown value %j as other, which is counted', (value) => {
    expect([labelOf('status', value), labelOf('coin_type', value)]).toEqual([
      ['other', 1],
      ['other', 1],
    ]);
  });
});
