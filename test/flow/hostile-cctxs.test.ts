import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultCrosschainSettings } from '../../src/config/endpoint-config.js';
import type { CctxAnswer } from '../../src/facts/crosschain/crosschain-input.js';
import {
  EMPTY_CROSSCHAIN_FLOW,
  MAX_CCTXS,
  MAX_COUNTED,
  outcomes,
  trackCrosschain,
  type CrosschainFlow,
} from '../../src/flow/crosschain-flow.js';
import { corruptedDocument } from '../facts/property/corruption.js';
import { crosschainDocument } from '../facts/property/documents.js';
import { cctx, outbound, rateLimiterInput } from '../facts/crosschain/document.js';
import { fuzzRuns, fuzzTimeoutMs } from '../support/fuzz.js';
import type { JsonObject } from '../support/json.js';
import { inputOf } from '../support/snapshots.js';
import { crosschainPolls } from './crosschain-polls.js';

/*
 * Rate limiter inputs that no chain sends in this order: counters never decrease, no transaction counts twice, and the memory is bounded.
 */

const anyDocument = fc.oneof(
  { weight: 2, arbitrary: crosschainDocument },
  { weight: 1, arbitrary: crosschainDocument.chain(corruptedDocument) },
);

const anyAnswer = fc.constantFrom<CctxAnswer | undefined>(undefined, 'pending', ...outcomes);

/** The indexes of random documents. */
const INDEXES = ['0x1', '0x2', '0x3', '0x4', '0x5', '__proto__'];

type Polls = ReturnType<typeof crosschainPolls>;

function finished(endpoint: Polls): number {
  return Object.entries(endpoint.values())
    .filter(([series]) => series.startsWith('crosschain_cctxs_finished_total'))
    .reduce((sum, [, value]) => sum + value, 0);
}

const listed = (height: number, indexes: readonly string[], chain = '1'): JsonObject =>
  rateLimiterInput({
    height: String(height),
    cctxs_pending: indexes.map((index) => cctx(index, [outbound(chain)])),
    total_pending: String(indexes.length),
  });

function track(flow: CrosschainFlow, document: JsonObject): CrosschainFlow {
  const input = inputOf('rate_limiter_input', document, { settings: defaultCrosschainSettings });
  return trackCrosschain(flow, input, { staleAfterMs: 300_000, maxSeries: 200 });
}

const indexesOf = (count: number, prefix: string): readonly string[] =>
  Array.from({ length: count }, (_, position) => `${prefix}${position}`);

describe('a hostile sequence of rate limiter inputs', () => {
  it(
    'of random ones never lets a counter decrease, and counts no transaction twice',
    () => {
      const step = fc.tuple(anyDocument, fc.nat({ max: 400 }), fc.array(anyAnswer, { minLength: 6, maxLength: 6 }));
      const property = fc.property(fc.array(step, { maxLength: 15 }), fc.boolean(), (steps, isOff) => {
        const endpoint = crosschainPolls({ maxSeries: 20, cctx_queries: isOff ? 'off' : 'auto' });
        let before: Record<string, number> = {};
        for (const [document, after, answers] of steps) {
          endpoint.poll(document, after);
          const values = endpoint.values();
          for (const [series, value] of Object.entries(before)) {
            expect(values[series], series).toBeGreaterThanOrEqual(value);
          }
          expect(finished(endpoint)).toBeLessThanOrEqual(INDEXES.length);
          before = values;
          endpoint.answer(
            Object.fromEntries(
              INDEXES.flatMap((index, position) => {
                const answer = answers[position];
                return answer === undefined ? [] : [[index, answer]];
              }),
            ),
          );
        }
      });
      fc.assert(property, { numRuns: fuzzRuns(15) });
    },
    fuzzTimeoutMs(15),
  );

  it(
    'with more transactions than are remembered, and with long indexes, has a bounded memory',
    () => {
      // A million in `npm run fuzz`.
      const count = Math.min(1_000_000, fuzzRuns(51_000));
      expect(track(EMPTY_CROSSCHAIN_FLOW, listed(1, indexesOf(count, '0x'))).baseline).toBeUndefined();
      const most = [...indexesOf(MAX_CCTXS, '0x'), 'x'.repeat(100_000)];
      const first = track(EMPTY_CROSSCHAIN_FLOW, listed(1, most));
      expect(first.baseline?.live.size).toBe(MAX_CCTXS);
      const second = track(first, listed(2, []));
      expect(second.departed.size).toBe(1000);
      expect(Array.from(second.chains.values())[1]?.counts.get('unknown')).toBe(BigInt(MAX_CCTXS - 1000));
      const third = track(track(second, listed(3, indexesOf(MAX_CCTXS, '0xb'))), listed(4, []));
      expect(third.counted.size).toBe(MAX_COUNTED);
    },
    fuzzTimeoutMs(5000),
  );
});
