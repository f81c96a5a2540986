import { describe, expect, it } from 'vitest';
import { type JsonObject } from '../../support/json.js';
import type { SeriesValues } from '../derive.js';
import { cctx, outbound, rateLimiterInput, valueOf } from './document.js';

const kinds = ['duplicate_cctxs', 'lowest_above_height', 'cctxs_without_outbound'] as const;
const noAnomalies = { duplicate_cctxs: 0, lowest_above_height: 0, cctxs_without_outbound: 0 };

function anomaliesOf(document: JsonObject): Record<string, number | undefined> {
  const values = valueOf(document, 'crosschain_anomalies') as SeriesValues;
  return Object.fromEntries(kinds.map((kind) => [kind, values[`kind="${kind}"`]]));
}

const consistent = (index: string): JsonObject => cctx(index, [outbound('1')]);

describe('crosschain_anomalies', () => {
  it('counts rows that repeat an index of either list', () => {
    const document = rateLimiterInput({
      cctxs_missed: [consistent('0x1'), consistent('0x2'), consistent('0x1')], // repeats 0x1
      cctxs_pending: [consistent('0x3'), consistent('0x2'), consistent('0x2'), consistent('0x3')], // repeats 0x2, 0x2 and 0x3
    });
    expect(anomaliesOf(document)).toEqual({ ...noAnomalies, duplicate_cctxs: 4 });
  });

  it.each([
    ['99', 0],
    ['100', 0],
    ['101', 1],
    ['100.5', 1],
  ])(
    'reports a lowest height above the height: for %s at height 100 it is %s',
    (lowest_pending_cctx_height, lowest_above_height) => {
      expect(anomaliesOf(rateLimiterInput({ lowest_pending_cctx_height }))).toEqual({
        ...noAnomalies,
        lowest_above_height,
      });
    },
  );

  it('counts transactions of both lists without an outbound', () => {
    const document = rateLimiterInput({
      cctxs_missed: [cctx('0x1', []), consistent('0x2')],
      cctxs_pending: [cctx('0x3', [])],
    });
    expect(anomaliesOf(document)).toEqual({ ...noAnomalies, cctxs_without_outbound: 2 });
  });
});

describe('crosschain_cctxs_hidden', () => {
  it.each([
    ['5', 0],
    ['4', 0],
    ['6', 1],
  ])('counts, of %s transactions with 5 listed, %s as hidden', (total_pending, hidden) => {
    const document = rateLimiterInput({
      cctxs_missed: [cctx('0x1', []), cctx('0x1', [])],
      // Invalid rows count.
      cctxs_pending: [cctx('0x2', []), cctx('0x3', []), null],
      total_pending,
    });
    expect(valueOf(document, 'crosschain_cctxs_hidden')).toBe(hidden);
  });
});
