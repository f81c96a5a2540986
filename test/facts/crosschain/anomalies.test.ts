import { describe, expect, it } from 'vitest';
import { omit, type JsonObject } from '../../support/json.js';
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
  it('is 0 for every kind if the lists are empty', () => {
    expect(anomaliesOf(rateLimiterInput({}))).toEqual(noAnomalies);
  });

  it('counts rows that repeat an index of either list', () => {
    const document = rateLimiterInput({
      cctxs_missed: [consistent('0x1'), consistent('0x2'), consistent('0x1')], // repeats 0x1
      cctxs_pending: [consistent('0x3'), consistent('0x2'), consistent('0x2'), consistent('0x3')], // repeats 0x2, 0x2 and 0x3
    });
    expect(anomaliesOf(document)).toEqual({ ...noAnomalies, duplicate_cctxs: 4 });
  });

  it('accepts any string as index', () => {
    const rows = ['__proto__', 'constructor', ''].map(consistent);
    expect(anomaliesOf(rateLimiterInput({ cctxs_missed: rows }))).toEqual(noAnomalies);
    expect(anomaliesOf(rateLimiterInput({ cctxs_missed: rows, cctxs_pending: rows }))).toEqual({
      ...noAnomalies,
      duplicate_cctxs: 3,
    });
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

  it('compares heights above 2^53 exactly', () => {
    const document = rateLimiterInput({ height: '9007199254740992', lowest_pending_cctx_height: '9007199254740993' });
    expect(anomaliesOf(document)).toEqual({ ...noAnomalies, lowest_above_height: 1 });
  });

  it('counts transactions of both lists without an outbound', () => {
    const document = rateLimiterInput({
      cctxs_missed: [cctx('0x1', []), consistent('0x2')],
      cctxs_pending: [cctx('0x3', [])],
    });
    expect(anomaliesOf(document)).toEqual({ ...noAnomalies, cctxs_without_outbound: 2 });
  });

  type Kind = (typeof kinds)[number];
  const rowKinds: Kind[] = ['duplicate_cctxs', 'cctxs_without_outbound'];

  it.each<[string, JsonObject, Kind[]]>([
    ['cctxs_missed', { cctxs_missed: null }, rowKinds],
    ['cctxs_pending', { cctxs_pending: 'none' }, rowKinds],
    ['a row of cctxs_missed', { cctxs_missed: [null] }, rowKinds],
    ['index', { cctxs_missed: [omit(consistent(''), 'index')] }, ['duplicate_cctxs']],
    ['outbound_params', { cctxs_pending: [omit(consistent('0x1'), 'outbound_params')] }, ['cctxs_without_outbound']],
    ['all fields of an outbound', { cctxs_pending: [cctx('0x1', [{}])] }, []],
    ['height', { height: '' }, ['lowest_above_height']],
    ['lowest_pending_cctx_height', { lowest_pending_cctx_height: null }, ['lowest_above_height']],
    ['total_pending', { total_pending: null }, []],
  ])('withdraws only the kinds that read the missing or invalid field: %s', (_, fields, withdrawn) => {
    const remaining = kinds.map((kind) => [kind, withdrawn.includes(kind) ? undefined : 0]);
    expect(anomaliesOf({ ...rateLimiterInput({}), ...fields })).toEqual(Object.fromEntries(remaining));
  });
});
