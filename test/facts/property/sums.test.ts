import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzzRuns } from '../../support/fuzz.js';
import { batch, batchConfirm, state, transfer, valset } from '../bridge/state.js';
import { rateLimiterInput } from '../crosschain/document.js';
import { deriveBridge, deriveCrosschain } from '../derive.js';

/* Sums, ratios and comparisons of numbers that a double cannot hold. The expected values are exact integers, rounded once. */

const numRuns = fuzzRuns(50);
const large = fc.oneof(fc.bigInt(0n, 4n), fc.bigInt(2n ** 53n - 2n, 2n ** 53n + 2n), fc.bigInt(2n ** 90n, 2n ** 100n));
const total = (values: readonly bigint[]): bigint => values.reduce((sum, value) => sum + value, 0n);
/** The digits of the quotient are many more than a double holds. */
const ratio = (part: bigint, whole: bigint): number => Number(`${(part * 10n ** 60n) / whole}e-60`);

describe('powers above 2^53', () => {
  it('are added up, divided and compared with the threshold exactly', () => {
    const members = fc.array(fc.record({ power: large, hasSigned: fc.boolean() }), { minLength: 1, maxLength: 6 });
    const property = fc.property(members, fc.constantFrom(5000n, 6667n, 10_000n), (all, threshold) => {
      const powers = all.map(({ power }, index) => [`0x${index}`, power.toString()]);
      const contract = valset('10', Object.fromEntries(powers));
      const signers = all.flatMap(({ hasSigned }, index) =>
        hasSigned ? [batchConfirm('7', '0xt', `0x${index}`)] : [],
      );
      const document = state({
        last_observed_valset: contract,
        valsets: [contract],
        batches: [batch('7', '0xt')],
        batch_confirms: signers,
      });
      const sum = total(all.map(({ power }) => power));
      const signed = total(all.map(({ power, hasSigned }) => (hasSigned ? power : 0n)));
      const { values } = deriveBridge(document, { power_threshold: (Number(threshold) / 10_000).toString() });
      expect(values['bridge_newest_valset_power']).toBe(Number(sum));
      expect(values['bridge_last_observed_valset_power']).toBe(Number(sum));
      expect(values['bridge_batch_min_signed_power_ratio']).toBe(sum === 0n ? undefined : ratio(signed, sum));
      const isBelow = sum > 0n && signed * 10_000n < threshold * sum;
      expect(values['bridge_batches_below_threshold']).toBe(isBelow ? 1 : 0);
    });
    fc.assert(property, { numRuns });
  });
});

describe('amounts above 2^53', () => {
  it('are added up per token exactly, in queues and in batches', () => {
    const amounts = fc.array(fc.record({ token: fc.constantFrom('0xa', '0xb'), amount: large, fee: large }), {
      maxLength: 8,
    });
    const property = fc.property(amounts, (all) => {
      const transfers = all.map(({ token, amount, fee }, index) =>
        transfer(String(index), token, amount.toString(), { contract: token, amount: fee.toString() }),
      );
      const document = state({
        unbatched_transfers: transfers,
        batches: [batch('1', '0xa', { transactions: transfers })],
      });
      const { values } = deriveBridge(document);
      for (const token of ['0xa', '0xb']) {
        const own = all.filter((each) => each.token === token);
        const labels = `{token_contract="${token}",denom=""}`;
        for (const [key, families] of [
          ['amount', ['bridge_token_unbatched_amount', 'bridge_token_batched_amount']],
          [
            'fee',
            [
              'bridge_token_unbatched_fees_amount',
              'bridge_token_batched_fees_amount',
              'bridge_token_top_batch_fees_amount',
            ],
          ],
        ] as const) {
          const expected = own.length === 0 ? undefined : Number(total(own.map((each) => each[key])));
          expect(families.map((name) => values[`${name}${labels}`])).toEqual(families.map(() => expected));
        }
      }
    });
    fc.assert(property, { numRuns });
  });

  it('are compared with the rate limit exactly', () => {
    const property = fc.property(large, large, large, fc.bigInt(1n, 1000n), (past, pending, rate, window) => {
      const document = rateLimiterInput({ past_cctxs_value: past.toString(), pending_cctxs_value: pending.toString() });
      const { values } = deriveCrosschain(document, { rate: rate.toString(), window: window.toString() });
      const [value, allowed] = [past + pending, rate * window];
      expect(values['crosschain_withdraw_amount_per_block']).toBe(Number(value / window));
      expect(values['crosschain_rate_limit_exceeded']).toBe(value > allowed ? 1 : 0);
      expect(values['crosschain_rate_limit_utilization_ratio']).toBe(
        allowed === 0n ? undefined : ratio(value, allowed),
      );
    });
    fc.assert(property, { numRuns });
  });
});
