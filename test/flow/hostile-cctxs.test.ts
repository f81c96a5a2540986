import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clock } from '../../src/clock.js';
import { defaultCrosschainSettings } from '../../src/config/endpoint-config.js';
import { documents } from '../../src/documents.js';
import { MAX_CCTXS } from '../../src/flow/crosschain-document.js';
import type { CctxAnswer } from '../../src/facts/crosschain/input.js';
import {
  EMPTY_CROSSCHAIN_FLOW,
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
import { NO_LABELS } from '../support/polls.js';
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
const INDEXES = ['0x1', '0x2', '0x3', '0x4', '0x5', '0x6'];

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
  const { read, input } = documents.rate_limiter_input;
  const at = clock();
  const result = read(Buffer.from(JSON.stringify(document)), { at, maxValues: Infinity });
  if (!result.ok || result.value === undefined) throw new Error('the document cannot be read');
  const context = {
    at,
    settings: defaultCrosschainSettings,
    labels: NO_LABELS,
    height: undefined,
    previous: undefined,
  };
  return trackCrosschain(flow, input(result.value, context), { staleAfterMs: 300_000, maxSeries: 200 });
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
      fc.assert(property, { numRuns: fuzzRuns(30) });
    },
    fuzzTimeoutMs(30),
  );

  it('of lists that come and go counts each transaction once, and without an end when it has new ones', () => {
    const endpoint = crosschainPolls({ cctx_queries: 'off' });
    const all = indexesOf(500, '0xa');
    for (let height = 1; height < 20; height += 2) {
      endpoint.poll(listed(height, all));
      endpoint.poll(listed(height + 1, []));
    }
    expect(finished(endpoint)).toBe(500);
    endpoint.poll(listed(20, indexesOf(500, '0xb')));
    endpoint.poll(listed(21, []));
    expect(finished(endpoint)).toBe(1000);
  });

  it('with another chain for each transaction has a bounded number of series', () => {
    const endpoint = crosschainPolls({ maxSeries: 20, cctx_queries: 'off' });
    for (let height = 1; height < 60; height += 1) endpoint.poll(listed(height, [`0x${height}`], `chain ${height}`));
    const lines = endpoint.exposition().split('\n');
    const count = (name: string): number => lines.filter((line) => line.startsWith(name)).length;
    expect(count('crosschain_cctxs_finished_total{')).toBeLessThanOrEqual(20);
    expect(count('crosschain_cctx_duration_seconds_')).toBeLessThanOrEqual(20);
    expect(finished(endpoint)).toBe(58);
  });

  it(
    'with more transactions than are remembered, and with long indexes, has a bounded memory',
    () => {
      // A million in `npm run fuzz`.
      const count = Math.min(1_000_000, fuzzRuns(51_000));
      const first = track(EMPTY_CROSSCHAIN_FLOW, listed(1, [...indexesOf(count, '0x'), 'x'.repeat(100_000)]));
      expect(first.baseline?.live.size).toBe(MAX_CCTXS);
      const second = track(first, listed(2, []));
      expect(second.departed).toHaveLength(1000);
      expect(Array.from(second.chains.values())[1]?.finished.unknown).toBe(MAX_CCTXS - 100);
      const third = track(track(second, listed(3, indexesOf(count, '0xb'))), listed(4, []));
      expect(third.counted.size).toBe(MAX_COUNTED);
    },
    fuzzTimeoutMs(1000),
  );
});
