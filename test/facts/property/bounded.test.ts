import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../support/json.js';
import { crosschainSnapshot } from '../../support/snapshots.js';
import { orchestrator, state, transfer, valset } from '../bridge/state.js';
import { cctx, outbound, rateLimiterInput, status } from '../crosschain/document.js';
import { deriveBridge, deriveCrosschain, type DerivedMetrics } from '../derive.js';
import { byFamily } from './families.js';

/* Documents with more tokens, chains and members than series per family: which are kept, which are added up, and how many are dropped. */

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
/** Padded strings sort like the numbers. */
const padded = (value: number): string => value.toString().padStart(5, '0');

/** The values of a family by one of its labels. */
function valuesBy({ values }: DerivedMetrics, label: string, family: string): Record<string, number> {
  const name = new RegExp(`[{,]${label}="([^"]*)"`);
  return Object.fromEntries(
    Object.entries(byFamily(values).get(family) ?? {}).map(([series, value]) => [name.exec(series)?.[1], value]),
  );
}

describe('the series of more token contracts than the limit', () => {
  /** The amount of a transfer is the number of its contract. */
  const transfers = [1, 2, 3, 4, 4, 4, 5, 6, 6].map((token) => transfer('1', `0x${token}`, String(token)));
  const derive = (unbatched_transfers: JsonObject[], maxSeries = 3): DerivedMetrics =>
    deriveBridge(state({ unbatched_transfers }), { maxSeries });
  const counts = (derived: DerivedMetrics) => valuesBy(derived, 'token_contract', 'bridge_token_unbatched_transfers');
  const limited = derive(transfers);

  it('are the largest counts, of which one adds up the others', () => {
    expect(counts(limited)).toEqual({ '0x4': 3, '0x6': 2, other: 4 });
    expect(limited.dropped['bridge_token_unbatched_transfers']).toBe(4);
  });

  it('are the largest amounts, without an aggregate of different tokens', () => {
    const amounts = valuesBy(limited, 'token_contract', 'bridge_token_unbatched_amount');
    expect(amounts).toEqual({ '0x4': 12, '0x5': 5, '0x6': 12 });
    expect(limited.dropped['bridge_token_unbatched_amount']).toBe(3);
  });
});

describe('the series of more chains than the limit', () => {
  /** Times and nonces grow with the chain id. The chains 2 and 4 have two transactions, both without a hash. */
  const rowsOf = (chains: readonly number[]): JsonObject[] =>
    chains.map((chain, index) =>
      cctx(
        `0x${index}`,
        [outbound(padded(chain), { tss_nonce: String(chain), hash: chain % 2 === 0 ? '' : '0xabc' })],
        {
          cctx_status: status({ created_timestamp: String(1_700_000_000 + chain) }),
        },
      ),
    );
  const rows = rowsOf([1, 2, 2, 3, 4, 4]);
  const options = { at: { at: 1_790_000_000, clockOffset: 0 }, maxSeries: 2 };
  const derive = (cctxs_pending: JsonObject[]): DerivedMetrics =>
    deriveCrosschain(rateLimiterInput({ cctxs_pending }), options);
  const derived = derive(rows);
  const chainsOf = (family: string) => valuesBy(derived, 'chain_id', family);

  it('are the largest counts, of which one adds up the others', () => {
    expect(chainsOf('crosschain_cctxs')).toEqual({ '00002': 2, other: 4 });
    expect(chainsOf('crosschain_cctxs_without_hash')).toEqual({ '00002': 2, other: 2 });
  });

  it.each([
    ['crosschain_oldest_cctx_created_timestamp_seconds', ['00001', '00002']],
    ['crosschain_lowest_pending_nonce', ['00001', '00002']],
    ['crosschain_lowest_pending_nonce_changed_timestamp_seconds', ['00001', '00002']],
    ['crosschain_age_limit_seconds', ['00001', '00002']],
    ['crosschain_highest_pending_nonce', ['00003', '00004']],
  ])('are those that matter most: %s', (family, chains) => {
    expect(Object.keys(chainsOf(family)).toSorted()).toEqual(chains);
    expect(derived.dropped[family]).toBe(2);
  });

  it('are remembered for at most 1000 chains', () => {
    const { past } = crosschainSnapshot(rateLimiterInput({ cctxs_pending: rowsOf(range(1200)) }), options);
    expect(past.lowestNonces.map(({ chainId }) => chainId)).toEqual(range(1000).map(padded));
    expect(past.chains.size).toBe(1000);
  });
});

describe('the series of more orchestrators than the limit', () => {
  const names = ['qqqq', 'pppp', 'zzzz', 'rrrr'];
  const rows = names.map((name, member) => orchestrator(name, `0x${member}`));
  const addressesOf = (derived: DerivedMetrics, family: string): string[] =>
    Object.keys(valuesBy(derived, 'external_address', family)).toSorted();

  it.each([
    'bridge_orchestrator_power_ratio',
    'bridge_orchestrator_missing_valset_confirms',
    'bridge_orchestrator_missing_batch_confirms',
  ])('are those of the most powerful members, and of equal ones the first by label: %s', (family) => {
    const valsets = [valset('1', { '0x0': 2, '0x1': 2, '0x2': 3, '0x3': 1 })];
    const derived = deriveBridge(state({ valsets, orchestrator_addresses: rows }), { maxSeries: 2 });
    expect(addressesOf(derived, family)).toEqual(['0x1', '0x2']);
    expect(derived.dropped[family]).toBe(2);
  });

  it('are those with the lowest deadlines', () => {
    const valsets = [valset('50', { '0x0': 9, '0x1': 9 }), valset('1', { '0x0': 1 })];
    const document = state({ valsets, orchestrator_addresses: rows, params: { signed_valsets_window: '5' } });
    const derived = deriveBridge(document, { maxSeries: 1 });
    expect(valuesBy(derived, 'external_address', 'bridge_orchestrator_confirm_deadline_height')).toEqual({ '0x0': 6 });
  });
});
