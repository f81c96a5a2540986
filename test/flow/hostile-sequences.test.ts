import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultBridgeSettings } from '../../src/config/endpoint-config.js';
import {
  EMPTY_BRIDGE_FLOW,
  MAX_TRANSFERS,
  trackBridge,
  type Baseline,
  type BridgeFlow,
} from '../../src/flow/bridge-flow.js';
import { batch, state, transfer } from '../facts/bridge/state.js';
import { corruptedDocument } from '../facts/property/corruption.js';
import { bridgeState } from '../facts/property/documents.js';
import { fuzzRuns, fuzzTimeoutMs } from '../support/fuzz.js';
import type { JsonObject } from '../support/json.js';
import { inputOf } from '../support/snapshots.js';
import { bridgePolls } from './bridge-polls.js';

/*
 * Documents that no chain sends in this order: counters never decrease, count no more than the documents allow, and the memory is bounded.
 */

const anyDocument = fc.oneof(
  { weight: 2, arbitrary: bridgeState },
  { weight: 1, arbitrary: bridgeState.chain(corruptedDocument) },
);

const isCounter = (series: string): boolean => !series.includes('_sum');

describe('a hostile sequence of documents', () => {
  it(
    'of random ones never lets a counter decrease or jump',
    () => {
      const property = fc.property(
        fc.array(fc.tuple(anyDocument, fc.option(fc.nat({ max: 2000 }), { nil: undefined })), { maxLength: 12 }),
        (polled) => {
          const endpoint = bridgePolls({ maxSeries: 5 });
          let before: Record<string, number> = {};
          for (const [document, height] of polled) {
            endpoint.poll(document, height === undefined ? {} : { height });
            const after = withoutDenoms(endpoint.values());
            for (const [series, value] of Object.entries(before))
              expect(after[series], series).toBeGreaterThanOrEqual(value);
            // A document of some rows.
            for (const [series, value] of Object.entries(after)) {
              if (isCounter(series) && !series.includes('amount')) {
                expect(value - (before[series] ?? 0), series).toBeLessThanOrEqual(MAX_TRANSFERS);
              }
            }
            before = after;
          }
        },
      );
      fc.assert(property, { numRuns: fuzzRuns(10) });
    },
    fuzzTimeoutMs(10),
  );

  it(
    'with more transfers and tokens than are remembered has a bounded memory',
    () => {
      // A million in `npm run fuzz`.
      const count = Math.min(1_000_000, fuzzRuns(101_000));
      const all = Array.from({ length: count }, (_, index) =>
        transfer(String(index + 1), `0x${index % 50_000}`, '1', { contract: '0xa', amount: '1' }),
      );
      const base = { last_outgoing_pool_id: String(count), last_outgoing_batch_id: String(count) };
      const track = (flow: BridgeFlow, fields: JsonObject): BridgeFlow => {
        const json = { state: state({ ...base, ...fields }) };
        const input = inputOf('module_state', json, { settings: defaultBridgeSettings });
        return trackBridge(flow, input, { staleAfterMs: 300_000, maxSeries: 200 });
      };
      const first = track(EMPTY_BRIDGE_FLOW, { unbatched_transfers: all });
      expect(baselineOf(first).transfers.size).toBe(MAX_TRANSFERS);
      expect(first.tokens.size).toBe(200);
      // The newest are remembered, and gone.
      const second = track(first, { unbatched_transfers: all.slice(0, count - MAX_TRANSFERS) });
      const canceled = Array.from(second.tokens.values(), ({ counts }) => Number(counts.get('transfersCanceled') ?? 0));
      expect(canceled.reduce((sum, number) => sum + number)).toBe(MAX_TRANSFERS);
      const batches = all.map((one, index) => batch(String(index), '0xa', { transactions: [one] }));
      expect(track(EMPTY_BRIDGE_FLOW, { batches }).baseline).toBeUndefined();
    },
    fuzzTimeoutMs(5000),
  );
});

function baselineOf({ baseline }: BridgeFlow): Baseline {
  if (baseline === undefined) throw new Error('no document was read');
  return baseline;
}

/** A token can get a denom later. */
function withoutDenoms(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).map(([series, value]) => [series.replace(/denom="[^"]*"/, ''), value]),
  );
}
