import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answer, cctx, outbound, status } from '../crosschain/document.js';
import { account, orchestrator, state, transfer, valset } from '../bridge/state.js';
import { deriveBridge, deriveCrosschain, type Derived } from '../derive.js';
import { byFamily } from './families.js';

/*
 * Documents with far more tokens, chains and members than may be shown. What is kept is reckoned here from how they were made,
 * so that the choice has a reason and not only a size.
 */

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
/** As text, these sort like the numbers. */
const padded = (value: number): string => value.toString().padStart(5, '0');
const numRuns = 5;

function shuffledOnce<T>(rows: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...rows], { minLength: rows.length });
}

function labelsOf({ values }: Derived, family: string): string[] {
  return Object.keys(byFamily(values).get(family) ?? {}).map((series) => series.slice(family.length + 1, -1));
}

const sum = (derived: Derived, family: string): number =>
  Object.values(byFamily(derived.values).get(family) ?? {}).reduce((total, value) => total + value, 0);

describe('10,000 token contracts', () => {
  const contracts = 10_000;
  /** Every contract has one transfer, of an amount that grows with its number; every thousandth has three. */
  const transfers = numbers(contracts).flatMap((token) =>
    numbers(token % 1000 === 0 ? 3 : 1).map(() => transfer('1', `0x${padded(token)}`, String(token + 1))),
  );
  const bridge = state({ unbatched_transfers: transfers });
  const derived = deriveBridge(bridge);
  const label = (token: number): string => `token_contract="0x${padded(token)}",denom=""`;

  it('have at most 200 series a family, one of them for all others', () => {
    const counts = numbers(10).map((thousand) => label(1000 * thousand));
    // Of those with one transfer, the first by label.
    const first = numbers(191).flatMap((token) => (token % 1000 === 0 ? [] : [label(token)]));
    const expected = [...counts, ...first.slice(0, 189), 'token_contract="other",denom="other"'];
    expect(labelsOf(derived, 'bridge_token_unbatched_transfers').toSorted()).toEqual(expected.toSorted());
    expect(derived.values['bridge_token_unbatched_transfers{token_contract="other",denom="other"}']).toBe(9801);
    expect(sum(derived, 'bridge_token_unbatched_transfers')).toBe(transfers.length);
    expect(derived.dropped['bridge_token_unbatched_transfers']).toBe(9801);
  });

  it('keep the largest amounts and leave out the rest, which have no common unit', () => {
    // Three times 9,001 is more than 10,000, and so on down to three times 4,001; of the others the last are the largest.
    const amount = (token: number): number => (token % 1000 === 0 ? 3 : 1) * (token + 1);
    const largest = numbers(contracts)
      .toSorted((a, b) => amount(b) - amount(a))
      .slice(0, 200);
    expect(labelsOf(derived, 'bridge_token_unbatched_amount').toSorted()).toEqual(largest.map(label).toSorted());
    expect(largest).toContain(4000);
    expect(derived.values[`bridge_token_unbatched_amount{${label(9000)}}`]).toBe(27_003);
    expect(derived.dropped['bridge_token_unbatched_amount']).toBe(9800);
  });

  it('are as many as configured', () => {
    const few = deriveBridge(bridge, { maxSeries: 3 });
    expect(labelsOf(few, 'bridge_token_unbatched_transfers')).toHaveLength(3);
    expect(labelsOf(few, 'bridge_token_unbatched_amount').toSorted()).toEqual([7000, 8000, 9000].map(label));
    expect(few.dropped).toMatchObject({
      bridge_token_unbatched_transfers: 9998,
      bridge_token_unbatched_amount: 9997,
      bridge_token_batched_transfers: 9998,
    });
    const enough = deriveBridge(bridge, { maxSeries: contracts });
    expect(labelsOf(enough, 'bridge_token_unbatched_transfers')).toHaveLength(contracts);
    expect(enough.dropped['bridge_token_unbatched_transfers']).toBe(0);
  });

  it('are added up in one series with a token that is itself called so', () => {
    const named = state({
      erc20_to_denoms: [{ erc20: 'other', denom: 'other' }],
      unbatched_transfers: ['other', 'other', '0xb', '0xc'].map((contract) => transfer('1', contract, '1')),
    });
    const few = deriveBridge(named, { maxSeries: 2 });
    expect(labelsOf(few, 'bridge_token_unbatched_transfers')).toContain('token_contract="other",denom="other"');
    expect(sum(few, 'bridge_token_unbatched_transfers')).toBe(4);
  });

  it('stay the same ones in any order', () => {
    const property = fc.property(shuffledOnce(transfers), (unbatched_transfers) => {
      expect(deriveBridge(state({ unbatched_transfers }))).toEqual(derived);
    });
    fc.assert(property, { numRuns });
  });
});

describe('5,000 chains', () => {
  const chains = 5000;
  /** The higher the chain id, the younger and the later in its queue; every thousandth waits for its hash, twice. */
  const rows = numbers(chains).flatMap((chain) =>
    numbers(chain % 1000 === 0 ? 2 : 1).map((again) =>
      cctx(
        `0x${chain}-${again}`,
        [outbound(padded(chain), { tss_nonce: String(chain), hash: chain % 1000 === 0 ? '' : '0xabc' })],
        { cctx_status: status({ created_timestamp: String(1_700_000_000 + chain) }) },
      ),
    ),
  );
  const derived = deriveCrosschain(answer({ cctxs_pending: rows }));
  const family = (name: string): string[] => labelsOf(derived, name);
  const ids = (name: string): string[] => family(name).map((label) => /chain_id="(.*?)"/.exec(label)?.[1] ?? '');
  const thousands = numbers(5).map((thousand) => padded(1000 * thousand));
  const lowest = numbers(200).map(padded);

  it('have at most 200 series a family, the counts with one for all others', () => {
    const counted = [...thousands, ...numbers(195).slice(1).map(padded), 'other'].toSorted();
    expect(ids('crosschain_cctxs').toSorted()).toEqual(counted);
    expect(ids('crosschain_cctxs_without_hash').toSorted()).toEqual(counted);
    expect(sum(derived, 'crosschain_cctxs')).toBe(rows.length);
    expect(sum(derived, 'crosschain_cctxs_without_hash')).toBe(10);
    const other = 'list="other",status="other",coin_type="other",chain_id="other",chain="other",direction="other"';
    expect(derived.values[`crosschain_cctxs{${other}}`]).toBe(4801);
    expect(derived.values['crosschain_cctxs_without_hash{list="other",chain_id="other",chain="other"}']).toBe(0);
  });

  it('keep the lowest timestamps and nonces', () => {
    expect(ids('crosschain_oldest_cctx_created_timestamp_seconds').toSorted()).toEqual(lowest);
    expect(ids('crosschain_lowest_pending_nonce').toSorted()).toEqual(lowest);
  });

  it('say how many are not shown by themselves', () => {
    expect(derived.dropped).toEqual({
      crosschain_cctxs: 4801,
      crosschain_cctxs_without_hash: 4801,
      crosschain_oldest_cctx_created_timestamp_seconds: 4800,
      crosschain_lowest_pending_nonce: 4800,
      crosschain_anomalies: 0,
    });
  });

  it('stay the same ones in any order', () => {
    const property = fc.property(shuffledOnce(rows), (cctxs_pending) => {
      expect(deriveCrosschain(answer({ cctxs_pending }))).toEqual(derived);
    });
    fc.assert(property, { numRuns });
  });
});

describe('300 orchestrators', () => {
  /** Power grows by hundreds: within one, the order is that of the labels. */
  const address = (member: number): string => `0x${padded(member)}`;
  const names = numbers(300).map((member) =>
    padded(member).replaceAll(/\d/g, (digit) => 'qpzry9x8gf'.charAt(Number(digit))),
  );
  const rows = names.map((name, member) => orchestrator(name, address(member)));
  const accounts = names.map(account);
  const powers = Object.fromEntries(numbers(300).map((member) => [address(member), Math.floor(member / 100)]));
  const derive = (orchestrator_addresses: typeof rows): Derived =>
    deriveBridge(
      state({ valsets: [valset('1', powers)], orchestrator_addresses, params: { signed_valsets_window: '5' } }),
    );
  const derived = derive(rows);
  const kept = numbers(300).slice(100).map(address);

  it.each([
    'bridge_orchestrator_power_ratio',
    'bridge_orchestrator_missing_valset_confirms',
    'bridge_orchestrator_missing_batch_confirms',
  ])('of %s the most powerful 200 are shown and the rest left out', (name) => {
    const shown = labelsOf(derived, name).map((label) => /external_address="(.*?)"/.exec(label)?.[1] ?? '');
    expect(shown.toSorted()).toEqual(kept);
    expect(derived.dropped[name]).toBe(100);
  });

  it('keep the lowest deadlines, whose members are in danger first', () => {
    const weakest = Object.fromEntries(numbers(100).map((member) => [address(member), 1]));
    const of = state({
      valsets: [valset('50', powers), valset('1', weakest)],
      orchestrator_addresses: rows,
      params: { signed_valsets_window: '5' },
    });
    const shown = byFamily(deriveBridge(of).values).get('bridge_orchestrator_confirm_deadline_height') ?? {};
    expect(Object.values(shown).filter((deadline) => deadline === 6)).toHaveLength(100);
    expect(Object.values(shown).filter((deadline) => deadline === 55)).toHaveLength(100);
  });

  it('are chosen by label where their power is the same, in any order', () => {
    const few = (all: typeof rows): string[] =>
      labelsOf(
        deriveBridge(state({ valsets: [valset('1', powers)], orchestrator_addresses: all }), { maxSeries: 101 }),
        'bridge_orchestrator_power_ratio',
      );
    const byLabel = accounts.slice(100, 200).toSorted();
    const property = fc.property(shuffledOnce(rows), (all) => {
      const shown = few(all).map((label) => /orchestrator="(.*?)"/.exec(label)?.[1] ?? '');
      expect(shown.toSorted()).toEqual([...accounts.slice(200), byLabel[0] ?? ''].toSorted());
    });
    fc.assert(property, { numRuns });
  });
});
