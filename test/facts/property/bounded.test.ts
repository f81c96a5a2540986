import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { account, orchestrator, state, transfer, valset } from '../bridge/state.js';
import { cctx, outbound, rateLimiterInput, status } from '../crosschain/document.js';
import { crosschainSnapshot } from '../../support/snapshots.js';
import { deriveBridge, deriveCrosschain, type DerivedMetrics } from '../derive.js';
import { byFamily } from './families.js';

/*
 * Documents with more tokens, chains and members than the limit of series per family. The expected series are computed from
 * the generated documents.
 */

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
/** Padded strings sort like the numbers. */
const padded = (value: number): string => value.toString().padStart(5, '0');
const numRuns = 3;

function shuffled<T>(rows: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...rows], { minLength: rows.length });
}

function labelsOf({ values }: DerivedMetrics, family: string): string[] {
  return Object.keys(byFamily(values).get(family) ?? {}).map((series) => series.slice(family.length + 1, -1));
}

const sumOf = (derived: DerivedMetrics, family: string): number =>
  Object.values(byFamily(derived.values).get(family) ?? {}).reduce((total, value) => total + value, 0);

describe('the series of 1,000 token contracts', () => {
  const contracts = 1000;
  /** Every contract has one transfer and every hundredth three. The amount is the number of the contract plus one. */
  const transfers = range(contracts).flatMap((token) =>
    range(token % 100 === 0 ? 3 : 1).map(() => transfer('1', `0x${padded(token)}`, String(token + 1))),
  );
  const bridge = state({ unbatched_transfers: transfers });
  const derived = deriveBridge(bridge);
  const label = (token: number): string => `token_contract="0x${padded(token)}",denom=""`;

  it('are limited to 200 per family, of which one aggregates the others', () => {
    const counts = range(10).map((hundred) => label(100 * hundred));
    // The first contracts with one transfer, by label.
    const first = range(contracts).flatMap((token) => (token % 100 === 0 ? [] : [label(token)]));
    const expected = [...counts, ...first.slice(0, 189), 'token_contract="other",denom="other"'];
    expect(labelsOf(derived, 'bridge_token_unbatched_transfers').toSorted()).toEqual(expected.toSorted());
    expect(derived.values['bridge_token_unbatched_transfers{token_contract="other",denom="other"}']).toBe(801);
    expect(sumOf(derived, 'bridge_token_unbatched_transfers')).toBe(transfers.length);
    expect(derived.dropped['bridge_token_unbatched_transfers']).toBe(801);
  });

  it('are those with the largest amounts, without an aggregate of different tokens', () => {
    // The contracts with three transfers down to number 300 exceed the largest single transfers.
    const amount = (token: number): number => (token % 100 === 0 ? 3 : 1) * (token + 1);
    const largest = range(contracts)
      .toSorted((a, b) => amount(b) - amount(a))
      .slice(0, 200);
    expect(labelsOf(derived, 'bridge_token_unbatched_amount').toSorted()).toEqual(largest.map(label).toSorted());
    expect(largest).toContain(300);
    expect(derived.values[`bridge_token_unbatched_amount{${label(900)}}`]).toBe(2703);
    expect(derived.dropped['bridge_token_unbatched_amount']).toBe(800);
  });

  it('are limited to the configured maximum', () => {
    const limited = deriveBridge(bridge, { maxSeries: 3 });
    expect(labelsOf(limited, 'bridge_token_unbatched_transfers')).toHaveLength(3);
    expect(labelsOf(limited, 'bridge_token_unbatched_amount').toSorted()).toEqual([700, 800, 900].map(label));
    expect(limited.dropped).toMatchObject({
      bridge_token_unbatched_transfers: 998,
      bridge_token_unbatched_amount: 997,
      bridge_token_batched_transfers: 998,
    });
    const unlimited = deriveBridge(bridge, { maxSeries: contracts });
    expect(labelsOf(unlimited, 'bridge_token_unbatched_transfers')).toHaveLength(contracts);
    expect(unlimited.dropped['bridge_token_unbatched_transfers']).toBe(0);
  });

  it('aggregate into the existing series of a token that is named other', () => {
    const named = state({
      erc20_to_denoms: [{ erc20: 'other', denom: 'other' }],
      unbatched_transfers: ['other', 'other', '0xb', '0xc'].map((contract) => transfer('1', contract, '1')),
    });
    const limited = deriveBridge(named, { maxSeries: 2 });
    expect(labelsOf(limited, 'bridge_token_unbatched_transfers')).toContain('token_contract="other",denom="other"');
    expect(sumOf(limited, 'bridge_token_unbatched_transfers')).toBe(4);
  });

  it('do not depend on the order of the transfers', () => {
    const property = fc.property(shuffled(transfers), (unbatched_transfers) => {
      expect(deriveBridge(state({ unbatched_transfers }))).toEqual(derived);
    });
    fc.assert(property, { numRuns });
  });
});

describe('the series of 1,200 chains', () => {
  const chains = 1200;
  /** Timestamps and nonces grow with the chain id. Every three-hundredth chain has two transactions without a hash. */
  const rows = range(chains).flatMap((chain) =>
    range(chain % 300 === 0 ? 2 : 1).map((copy) =>
      cctx(
        `0x${chain}-${copy}`,
        [outbound(padded(chain), { tss_nonce: String(chain), hash: chain % 300 === 0 ? '' : '0xabc' })],
        { cctx_status: status({ created_timestamp: String(1_700_000_000 + chain) }) },
      ),
    ),
  );
  const options = { at: { epochSeconds: 1_790_000_000, monotonicMs: 0 } };
  const derived = deriveCrosschain(rateLimiterInput({ cctxs_pending: rows }), options);
  const chainIds = (name: string): string[] =>
    labelsOf(derived, name).map((label) => /chain_id="(.*?)"/.exec(label)?.[1] ?? '');
  const repeated = range(4).map((index) => padded(300 * index));
  const lowest = range(200).map(padded);

  it('are limited to 200 per family, of which one aggregates the other counts', () => {
    const counted = [...repeated, ...range(196).slice(1).map(padded), 'other'].toSorted();
    expect(chainIds('crosschain_cctxs').toSorted()).toEqual(counted);
    expect(chainIds('crosschain_cctxs_without_hash').toSorted()).toEqual(counted);
    expect(sumOf(derived, 'crosschain_cctxs')).toBe(rows.length);
    expect(sumOf(derived, 'crosschain_cctxs_without_hash')).toBe(8);
    const other = 'list="other",status="other",coin_type="other",chain_id="other",chain="other",direction="other"';
    expect(derived.values[`crosschain_cctxs{${other}}`]).toBe(1001);
    expect(derived.values['crosschain_cctxs_without_hash{list="other",chain_id="other",chain="other"}']).toBe(0);
  });

  it('are those with the lowest timestamps and nonces, the highest nonces, or the first by label', () => {
    expect(chainIds('crosschain_oldest_cctx_created_timestamp_seconds').toSorted()).toEqual(lowest);
    expect(chainIds('crosschain_lowest_pending_nonce').toSorted()).toEqual(lowest);
    expect(chainIds('crosschain_lowest_pending_nonce_changed_timestamp_seconds').toSorted()).toEqual(lowest);
    expect(chainIds('crosschain_age_limit_seconds').toSorted()).toEqual(lowest);
    expect(chainIds('crosschain_highest_pending_nonce').toSorted()).toEqual(range(chains).slice(-200).map(padded));
  });

  it('are remembered for at most 1000 chains', () => {
    const { observations } = crosschainSnapshot(rateLimiterInput({ cctxs_pending: rows }), options);
    const { lowestNonces } = observations;
    expect(lowestNonces.map(({ chainId }) => chainId)).toEqual(range(1000).map(padded));
  });

  it('are counted when they are dropped', () => {
    expect(derived.dropped).toEqual({
      crosschain_cctxs: 1001,
      crosschain_cctxs_without_hash: 1001,
      crosschain_oldest_cctx_created_timestamp_seconds: 1000,
      crosschain_schedule_lookahead_nonces: 1000,
      crosschain_cctxs_ignored: 0,
      crosschain_lowest_pending_nonce: 1000,
      crosschain_lowest_pending_nonce_changed_timestamp_seconds: 1000,
      crosschain_highest_pending_nonce: 1000,
      crosschain_age_limit_seconds: 1000,
      crosschain_anomalies: 0,
    });
  });

  it('do not depend on the order of the transactions', () => {
    const property = fc.property(shuffled(rows), (cctxs_pending) => {
      expect(deriveCrosschain(rateLimiterInput({ cctxs_pending }), options)).toEqual(derived);
    });
    fc.assert(property, { numRuns });
  });
});

describe('the series of 300 orchestrators', () => {
  /** Each hundred members have the same power, which grows from one hundred to the next. */
  const address = (member: number): string => `0x${padded(member)}`;
  const names = range(300).map((member) =>
    padded(member).replaceAll(/\d/g, (digit) => 'qpzry9x8gf'.charAt(Number(digit))),
  );
  const rows = names.map((name, member) => orchestrator(name, address(member)));
  const accounts = names.map(account);
  const powers = Object.fromEntries(range(300).map((member) => [address(member), Math.floor(member / 100)]));
  const derive = (orchestrator_addresses: typeof rows): DerivedMetrics =>
    deriveBridge(
      state({ valsets: [valset('1', powers)], orchestrator_addresses, params: { signed_valsets_window: '5' } }),
    );
  const derived = derive(rows);
  const mostPowerful = range(300).slice(100).map(address);

  it.each([
    'bridge_orchestrator_power_ratio',
    'bridge_orchestrator_missing_valset_confirms',
    'bridge_orchestrator_missing_batch_confirms',
  ])('are those of the 200 most powerful members: %s', (name) => {
    const addresses = labelsOf(derived, name).map((label) => /external_address="(.*?)"/.exec(label)?.[1] ?? '');
    expect(addresses.toSorted()).toEqual(mostPowerful);
    expect(derived.dropped[name]).toBe(100);
  });

  it('are those with the lowest deadlines', () => {
    const weakest = Object.fromEntries(range(100).map((member) => [address(member), 1]));
    const document = state({
      valsets: [valset('50', powers), valset('1', weakest)],
      orchestrator_addresses: rows,
      params: { signed_valsets_window: '5' },
    });
    const deadlines = byFamily(deriveBridge(document).values).get('bridge_orchestrator_confirm_deadline_height') ?? {};
    expect(Object.values(deadlines).filter((deadline) => deadline === 6)).toHaveLength(100);
    expect(Object.values(deadlines).filter((deadline) => deadline === 55)).toHaveLength(100);
  });

  it('are selected by label among members with the same power, in any order', () => {
    const exportedLabels = (registrations: typeof rows): string[] =>
      labelsOf(
        deriveBridge(state({ valsets: [valset('1', powers)], orchestrator_addresses: registrations }), {
          maxSeries: 101,
        }),
        'bridge_orchestrator_power_ratio',
      );
    const byLabel = accounts.slice(100, 200).toSorted();
    const property = fc.property(shuffled(rows), (registrations) => {
      const exported = exportedLabels(registrations).map((label) => /orchestrator="(.*?)"/.exec(label)?.[1] ?? '');
      expect(exported.toSorted()).toEqual([...accounts.slice(200), byLabel[0] ?? ''].toSorted());
    });
    fc.assert(property, { numRuns });
  });
});
