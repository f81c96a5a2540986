import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../support/json.js';
import { cctx, outbound, rateLimiterInput, status, valueOf } from './document.js';

const CCTXS = 'crosschain_cctxs';
const OLDEST = 'crosschain_oldest_cctx_created_timestamp_seconds';
const NO_HASH = 'crosschain_cctxs_without_hash';
const IGNORED = 'crosschain_cctxs_ignored';
const TSS = 'crosschain_tss_info';
const LARGEST = 'crosschain_largest_pending_native_amount';
const options = { hub_chain_ids: ['7000', '7001'], chains: { '1': 'ethereum' } };

/** The labels of crosschain_cctxs. */
const cctxLabels = (
  list: string,
  statusLabel: string,
  coin: string,
  id: string,
  chain: string,
  direction: string,
): string =>
  `list="${list}",status="${statusLabel}",coin_type="${coin}",chain_id="${id}",chain="${chain}",direction="${direction}"`;
/** The labels of metrics by list and chain. */
const chainLabels = (list: string, id: string, chain = ''): string =>
  `list="${list}",chain_id="${id}",chain="${chain}"`;
const pending = (...cctxs_pending: Json[]): JsonObject => rateLimiterInput({ cctxs_pending });

describe('crosschain_cctxs', () => {
  it('counts the distinct indexes of each list by status, coin type, chain and direction', () => {
    const outgoing = cctx('0x1', [outbound('1')]);
    const reverted = cctx('0x2', [outbound('7000'), outbound('56', { coin_type: 'ERC20' })], {
      cctx_status: status({ status: 'PendingRevert' }),
      inbound_params: { sender_chain_id: '56' },
    });
    const document = rateLimiterInput({
      cctxs_missed: [outgoing, reverted, outgoing],
      cctxs_pending: [outgoing, cctx('0x3', [outbound('1')]), cctx('0x3', [outbound('56')])],
    });
    expect(valueOf(document, CCTXS, options)).toEqual({
      [cctxLabels('missed', 'PendingOutbound', 'Gas', '1', 'ethereum', 'outgoing')]: 1,
      [cctxLabels('missed', 'PendingRevert', 'ERC20', '56', '', 'incoming')]: 1,
      [cctxLabels('pending', 'PendingOutbound', 'Gas', '1', 'ethereum', 'outgoing')]: 2,
    });
  });

  it('has direction unknown if the list of hub chain ids is empty', () => {
    const document = pending(cctx('0x1', [outbound('1')]), cctx('0x2', [outbound('1')], { inbound_params: null }));
    expect(valueOf(document, CCTXS, { hub_chain_ids: [] })).toEqual({
      [cctxLabels('pending', 'PendingOutbound', 'Gas', '1', '', 'unknown')]: 2,
    });
  });

  it.each<[string, JsonObject, string]>([
    ['all outbounds', { outbound_params: [] }, cctxLabels('pending', 'PendingOutbound', '', '', '', 'outgoing')],
    [
      'all fields of the outbound',
      { outbound_params: [{}] },
      cctxLabels('pending', 'PendingOutbound', '', '', '', 'outgoing'),
    ],
    ['cctx_status', { cctx_status: null }, cctxLabels('pending', '', 'Gas', '1', 'ethereum', 'outgoing')],
    ['inbound_params', { inbound_params: null }, cctxLabels('pending', 'PendingOutbound', 'Gas', '1', 'ethereum', '')],
  ])('has empty labels if a field is missing: %s', (_, fields, label) => {
    expect(valueOf(pending({ ...cctx('0x1', [outbound('1')]), ...fields }), CCTXS, options)).toEqual({ [label]: 1 });
  });
});

describe('crosschain_oldest_cctx_created_timestamp_seconds', () => {
  const withTimestamps = (index: string, id: string, created: Json, updated: Json): JsonObject =>
    cctx(index, [outbound(id)], { cctx_status: { created_timestamp: created, lastUpdate_timestamp: updated } });

  it('is the lowest creation time, or last update time if the creation time is unknown', () => {
    const document = rateLimiterInput({
      cctxs_missed: [withTimestamps('0x1', '1', '900', '1')],
      cctxs_pending: [
        withTimestamps('0x1', '1', '800', '1'), // repeats an index
        withTimestamps('0x2', '1', '700', '9999'),
        withTimestamps('0x3', '56', '0', '600'),
        withTimestamps('0x4', '56', '-5', 650),
        withTimestamps('0x5', '56', '0', '0'), // both are unknown
        withTimestamps('0x6', '8332', '0', '-1'), // the only transaction of its chain
      ],
    });
    expect(valueOf(document, OLDEST, options)).toEqual({
      [chainLabels('missed', '1', 'ethereum')]: 900,
      [chainLabels('pending', '1', 'ethereum')]: 700,
      [chainLabels('pending', '56')]: 600,
    });
  });
});

describe('crosschain_cctxs_without_hash', () => {
  it('counts transactions without a hash by list and chain, including counts of 0', () => {
    const document = rateLimiterInput({
      cctxs_missed: [cctx('0x1', [outbound('1')]), cctx('0x1', [outbound('1', { hash: '' })])],
      cctxs_pending: [
        cctx('0x1', [outbound('1', { hash: '' })]),
        cctx('0x2', [outbound('1', { hash: '' }), outbound('56')]), // the last outbound is the current one
        cctx('0x3', [outbound('1', { hash: '' })]),
        cctx('0x4', []),
      ],
    });
    expect(valueOf(document, NO_HASH, options)).toEqual({
      [chainLabels('missed', '1', 'ethereum')]: 0,
      [chainLabels('pending', '1', 'ethereum')]: 2,
      [chainLabels('pending', '56')]: 0,
      [chainLabels('pending', '')]: 0,
    });
  });
});

describe('crosschain_cctxs_ignored', () => {
  const NOW = { at: 10_000, clockOffset: 0 };
  const created = (index: string, seconds: Json, updated: Json = '0'): JsonObject =>
    cctx(index, [outbound('1', { hash: '' })], {
      cctx_status: status({ created_timestamp: seconds, lastUpdate_timestamp: updated }),
    });
  const both = (missed: JsonObject[], cctxs_pending: JsonObject[]): JsonObject =>
    rateLimiterInput({ cctxs_missed: missed, cctxs_pending });

  it('counts listed indexes, which are left out of the counts and ages by chain', () => {
    const document = both([created('0x1', '5'), created('0x1', '5'), created('0x2', '9')], [created('0x1', '7')]);
    const ignore = { indexes: ['0x1', '0x3'], older_than: 0 };
    expect(valueOf(document, IGNORED, { ignore })).toEqual({ 'list="missed"': 1, 'list="pending"': 1 });
    expect(valueOf(document, NO_HASH, { ignore })).toEqual({ [chainLabels('missed', '1')]: 1 });
    expect(valueOf(document, OLDEST, { ignore })).toEqual({ [chainLabels('missed', '1')]: 9 });
    expect(valueOf(document, CCTXS, { ignore })).toEqual({
      [cctxLabels('missed', 'PendingOutbound', 'Gas', '1', '', 'outgoing')]: 1,
    });
  });

  it('counts those that are older than the limit by their creation, or by their last update without it', () => {
    const rows = [created('0x1', '8999'), created('0x2', '9000'), created('0x3', '0', '8999'), created('0x4', '0')];
    const ignore = { indexes: [], older_than: 1_000_000 };
    expect(valueOf(both(rows, []), IGNORED, { ignore, at: NOW })).toEqual({ 'list="missed"': 2, 'list="pending"': 0 });
  });

  it('counts a missing time as unknown, and does not read the second one if the first is known', () => {
    const ignore = { indexes: [], older_than: 1_000_000 };
    const rows = [created('0x1', null, '5'), created('0x2', '7', 'x'), cctx('0x3', [], { cctx_status: null })];
    expect(valueOf(both(rows, []), IGNORED, { ignore, at: NOW })).toEqual({ 'list="missed"': 2, 'list="pending"': 0 });
  });

  it('is withdrawn for a list with an invalid time, like the counts of the list', () => {
    const ignore = { indexes: [], older_than: 1_000_000 };
    const document = both([created('0x1', 'x')], [created('0x2', '1')]);
    expect(valueOf(document, IGNORED, { ignore, at: NOW })).toEqual({ 'list="pending"': 1 });
    expect(valueOf(document, CCTXS, { ignore, at: NOW })).toBeUndefined();
  });
});

describe('crosschain_tss_info', () => {
  it('has one series for each public key of current outbounds', () => {
    const signedBy = (index: string, ...keys: Json[]): JsonObject =>
      cctx(
        index,
        keys.map((tss_pubkey) => outbound('1', { tss_pubkey })),
      );
    const document = rateLimiterInput({
      cctxs_missed: [signedBy('0x1', 'zetapub1b'), signedBy('0x2', 'zetapub1old', 'zetapub1a'), signedBy('0x3')],
      cctxs_pending: [signedBy('0x4', 'zetapub1a'), signedBy('0x5', ''), signedBy('0x6', null)],
    });
    expect(valueOf(document, TSS)).toEqual({ 'tss_pubkey="zetapub1a"': 1, 'tss_pubkey="zetapub1b"': 1 });
  });
});

describe('crosschain_largest_pending_native_amount', () => {
  const native = (amount: string): JsonObject => outbound('1', { coin_type: 'Native', amount });

  it('is the largest amount of the current outbounds', () => {
    const document = rateLimiterInput({
      cctxs_missed: [cctx('0x9', [native('9')])],
      cctxs_pending: [
        cctx('0x1', [native('5')]),
        cctx('0x2', [native('8'), outbound('1', { amount: '99' })]),
        cctx('0x3', [outbound('1', { amount: '99' }), outbound('1', { coin_type: 0, amount: '6' })]),
        cctx('0x4', []),
      ],
    });
    expect(valueOf(document, LARGEST)).toBe(6);
    expect(valueOf(pending(cctx('0x1', [native((2n ** 256n).toString())])), LARGEST)).toBe(2 ** 256);
  });

  it('is absent if no native coin is pending', () => {
    expect(valueOf(pending(cctx('0x1', [outbound('1', { amount: '5' })])), LARGEST)).toBeUndefined();
    expect(valueOf(rateLimiterInput({}), LARGEST)).toBeUndefined();
  });
});
