import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../support/json.js';
import { cctx, outbound, rateLimiterInput, valueOf } from './document.js';

const AGE = 'crosschain_age_limit_seconds';

const on = (...ids: Json[]): JsonObject[] =>
  ids.map((id, index) => cctx(`0x${JSON.stringify(id)}${index}`, [outbound(id)]));

describe('crosschain_age_limit_seconds', () => {
  const document = rateLimiterInput({ cctxs_missed: on('8332', '56'), cctxs_pending: on('1', '1', '8332') });
  const limits = (ethereum: number, bsc: number, bitcoin: number): object => ({
    'chain_id="1",chain=""': ethereum,
    'chain_id="56",chain=""': bsc,
    'chain_id="8332",chain=""': bitcoin,
  });

  it('is 30 minutes, and 2 hours for Bitcoin', () => {
    expect(valueOf(document, AGE)).toEqual(limits(1800, 1800, 7200));
  });

  it('is the configured limit of the chain, or the configured default of chains without a limit of their own', () => {
    expect(valueOf(document, AGE, { age_limits: { default: 60_000, '1': 90_500 } })).toEqual(limits(90.5, 60, 7200));
    expect(valueOf(document, AGE, { age_limits: { '8332': 60_000 } })).toEqual(limits(1800, 1800, 60));
  });

  it('has no series for a transaction without an outbound and for chains with ignored transactions only', () => {
    const withoutOutbound = rateLimiterInput({ cctxs_pending: [cctx('0x1', []), cctx('0x2', [outbound('1')])] });
    expect(valueOf(withoutOutbound, AGE)).toEqual({ 'chain_id="1",chain=""': 1800 });
    expect(valueOf(withoutOutbound, AGE, { ignore: { indexes: ['0x2'], older_than: 0 } })).toBeUndefined();
  });
});
