import { describe, expect, it } from 'vitest';
import type { CrosschainPast } from '../../../src/facts/crosschain/crosschain-input.js';
import type { JsonObject } from '../../support/json.js';
import type { SeriesValues } from '../derive.js';
import { crosschainSnapshot } from '../../support/snapshots.js';
import { cctx, outbound, rateLimiterInput, valueOf } from './document.js';

const LOWEST = 'crosschain_lowest_pending_nonce';
const CHANGED = 'crosschain_lowest_pending_nonce_changed_timestamp_seconds';
const HIGHEST = 'crosschain_highest_pending_nonce';
const MISSED = 'crosschain_lowest_missed_nonce';
const options = { chains: { '1': 'ethereum' } };

const ethereum = 'chain_id="1",chain="ethereum"';
const bsc = 'chain_id="56",chain=""';
const withNonce = (chain: string, nonce: string | null, index = `${chain}-${nonce}`): JsonObject =>
  cctx(index, [outbound(chain, { tss_nonce: nonce })]);
const listed = (missed: JsonObject[], pending: JsonObject[]): JsonObject =>
  rateLimiterInput({ cctxs_missed: missed, cctxs_pending: pending });

describe('crosschain_lowest_pending_nonce and crosschain_highest_pending_nonce', () => {
  const document = listed(
    [withNonce('1', '1')],
    [
      withNonce('1', '9007199254740995'),
      withNonce('1', '9007199254740994'),
      cctx('0x3', [outbound('1', { tss_nonce: '0' }), outbound('56', { tss_nonce: '7' })]),
      cctx('0x4', []),
    ],
  );

  it('are the lowest and the highest nonce of the current outbounds of a chain', () => {
    expect(valueOf(document, LOWEST, options)).toEqual({ [ethereum]: 9007199254740994, [bsc]: 7 });
    expect(valueOf(document, HIGHEST, options)).toEqual({ [ethereum]: 9007199254740996, [bsc]: 7 });
  });

  it('include ignored transactions', () => {
    const ignore = { indexes: ['1-9007199254740994', '0x3'], older_than: 0 };
    expect(valueOf(document, LOWEST, { ...options, ignore })).toEqual({ [ethereum]: 9007199254740994, [bsc]: 7 });
  });
});

describe('crosschain_lowest_missed_nonce', () => {
  it('is the lowest missed nonce of each chain', () => {
    const missed = [withNonce('1', '40'), withNonce('1', '39'), withNonce('56', '3')];
    expect(valueOf(listed(missed, [withNonce('1', '90')]), MISSED, options)).toEqual({ [ethereum]: 39, [bsc]: 3 });
  });

  it('leaves out nonces more than 1000 below the lowest pending one of their chain', () => {
    const missed = ['99', '100', '101'].map((nonce) => withNonce('1', nonce));
    const missedBelow = (lowest: string): unknown => valueOf(listed(missed, [withNonce('1', lowest)]), MISSED, options);
    expect(missedBelow('1099')).toEqual({ [ethereum]: 99 });
    expect(missedBelow('1100')).toEqual({ [ethereum]: 100 });
    expect(missedBelow('1102')).toBeUndefined();
    expect(valueOf(listed(missed, [withNonce('56', '5000')]), MISSED, options)).toEqual({ [ethereum]: 99 });
  });

  it('counts a transaction in both lists as pending', () => {
    const both = [withNonce('1', '7', '0xa')];
    expect(valueOf(listed([...both, withNonce('1', '8')], both), MISSED, options)).toEqual({ [ethereum]: 8 });
    expect(valueOf(listed(both, both), MISSED, options)).toBeUndefined();
  });

  it('includes ignored transactions, which block their chain as well', () => {
    const ignore = { indexes: ['1-39'], older_than: 0 };
    expect(valueOf(listed([withNonce('1', '39')], []), MISSED, { ...options, ignore })).toEqual({ [ethereum]: 39 });
  });

  it('does not read nonces of chains without a missed transaction', () => {
    const other = withNonce('56', null);
    expect(valueOf(listed([withNonce('1', '5')], [other]), MISSED, options)).toEqual({ [ethereum]: 5 });
    expect(valueOf(listed([withNonce('1', '5')], [withNonce('1', null)]), MISSED, options)).toBeUndefined();
  });
});

describe('crosschain_lowest_pending_nonce_changed_timestamp_seconds', () => {
  /** The value of the chain after each of the documents, which are received every 30 s from second 1000 on. */
  const valuesAfter = (documents: readonly JsonObject[]): unknown[] => {
    let past: CrosschainPast | undefined;
    return documents.map((document, index) => {
      const at = { at: 1000 + 30 * index, clockOffset: 0 };
      const received = { ...options, at, ...(past && { past }) };
      past = crosschainSnapshot(document, received).past;
      return (valueOf(document, CHANGED, received) as SeriesValues | undefined)?.[ethereum];
    });
  };
  const pending = (...nonces: string[]): JsonObject =>
    listed(
      [],
      nonces.map((nonce) => withNonce('1', nonce)),
    );
  const [five, nine, none] = [pending('5'), pending('9'), pending()];
  const truncated = (...nonces: string[]): JsonObject => ({ ...pending(...nonces), total_pending: '900' });
  const unreadable = { ...five, total_pending: null };
  const invalid = [pending('x'), unreadable, { ...five, cctxs_missed: null }];

  it.each<[string, readonly JsonObject[], readonly (number | undefined)[]]>([
    [
      'is the time of the first document with the present lowest nonce',
      [pending('5', '6'), pending('5', '6', '7'), pending('6', '7'), pending('6')],
      [1000, 1000, 1060, 1060],
    ],
    [
      'is not changed by truncated lists',
      [five, truncated('9'), truncated(), five, nine],
      [1000, 1000, 1000, 1000, 1120],
    ],
    ['does not begin with a truncated list', [truncated('5'), five], [undefined, 1030]],
    [
      'is withdrawn for a document that cannot be read, and remembered',
      [five, ...invalid, five],
      [1000, undefined, undefined, undefined, 1000],
    ],
    [
      'goes on after one list without the chain, and begins anew after two',
      [five, none, five, none, none, five],
      [1000, undefined, 1000, undefined, undefined, 1150],
    ],
    [
      'goes on after a list without the chain and truncated or unreadable ones',
      [five, none, truncated(), unreadable, five],
      [1000, undefined, undefined, undefined, 1000],
    ],
    [
      'is moved neither by an odd nonce nor by a list without the chain',
      [five, nine, none, five, five],
      [1000, 1030, undefined, 1000, 1000],
    ],
  ])('%s', (_, documents, values) => {
    expect(valuesAfter(documents)).toEqual(values);
  });
});
