import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzzRuns, fuzzTimeoutMs } from '../support/fuzz.js';
import { bridgePolls } from './bridge-polls.js';
import { createHub, type HubAction } from './simple-hub.js';

const small = fc.nat({ max: 3 });
const amount = fc.integer({ min: 1, max: 1000 });

const action: fc.Arbitrary<HubAction> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('request' as const), token: small, amount }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('batch' as const), token: small, size: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('execute' as const), pick: small }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: small }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('deposit' as const),
      token: small,
      amount,
      externalBlocks: fc.constantFrom(1, 40, 120),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('update valset' as const) }) },
);

/** What happens between two polls, and whether the second one fails. */
const history = fc.array(
  fc.record({ actions: fc.array(action, { maxLength: 6 }), fails: fc.nat({ max: 9 }).map((value) => value === 0) }),
  { minLength: 2, maxLength: 25 },
);

const COUNTED = /_total\{/;

function difference(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  const entries = Object.entries(after).filter(([series]) => COUNTED.test(series) && !series.includes('flow_gaps'));
  return Object.fromEntries(
    entries
      .map(([series, value]): [string, number] => [series, value - (before[series] ?? 0)])
      .filter(([, by]) => by !== 0),
  );
}

/** Without the reason of a cancellation. */
function withoutReasons(increments: Record<string, number>): Record<string, number> {
  const sums = new Map<string, number>();
  for (const [series, by] of Object.entries(increments)) {
    const key = series.replace(/,reason="\w+"/, '');
    sums.set(key, (sums.get(key) ?? 0) + by);
  }
  return Object.fromEntries(sums);
}

const isUnknown = (series: string): boolean => series.includes('reason="unknown"');

describe('the flow of random histories', () => {
  it(
    'equals the books of the hub between two polls, and is never more when something was not seen',
    () => {
      let [equal, unequal] = [0, 0];
      const property = fc.property(history, (intervals) => {
        const hub = createHub();
        const endpoint = bridgePolls();
        endpoint.poll(hub.document(), { height: hub.height() });
        let [books, values] = [hub.books(), endpoint.values()];
        expect(difference(values, {})).toEqual({});
        for (const { actions, fails } of intervals) {
          for (const each of actions) hub.apply(each);
          if (fails) {
            endpoint.fail(1);
            continue;
          }
          endpoint.poll(hub.document(), { height: hub.height(), after: 1 });
          const [booksAfter, valuesAfter] = [hub.books(), endpoint.values()];
          const [expected, counted] = [difference(booksAfter, books), difference(valuesAfter, values)];
          const hasGap = Object.entries(valuesAfter).some(
            ([series, value]) => series.startsWith('bridge_flow_gaps') && value !== values[series],
          );
          if (hasGap) {
            unequal += 1;
            for (const [series, by] of Object.entries(withoutReasons(counted))) {
              expect(by, series).toBeLessThanOrEqual(withoutReasons(expected)[series] ?? 0);
            }
          } else {
            equal += 1;
            expect(withoutReasons(counted)).toEqual(withoutReasons(expected));
            for (const [series, by] of Object.entries(counted)) {
              if (!isUnknown(series)) expect(by, series).toBeLessThanOrEqual(expected[series] ?? 0);
            }
          }
          [books, values] = [booksAfter, valuesAfter];
        }
      });
      fc.assert(property, { numRuns: fuzzRuns(40) });
      expect(equal).toBeGreaterThan(unequal);
      expect(unequal).toBeGreaterThan(0);
    },
    fuzzTimeoutMs(40),
  );
});
