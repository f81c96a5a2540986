import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BridgeObservations } from '../../../src/metrics/bridge/observations.js';
import { fuzzRuns } from '../../support/fuzz.js';
import { bridgeSnapshot } from '../../support/snapshots.js';
import { deriveBridge, type SeriesValues } from '../derive.js';
import { corruptedDocument } from './corruption.js';
import { bridgeOptions, bridgeState } from './documents.js';
import { referenceBridge } from './reference.js';
import type { TimedDocument } from './reference-times.js';

const FAMILIES =
  /^bridge_(block_time_seconds|external_height_projected|batches_overdue|batch_next_timeout_height|relayable_batches|token_newest_batch_nonce|watched_validator_last_active_timestamp_seconds)\b/;

const withMemory = (values: SeriesValues): SeriesValues =>
  Object.fromEntries(Object.entries(values).filter(([series]) => FAMILIES.test(series)));

/** Some polls of an endpoint: the height mostly grows, sometimes halts, goes back or is missing. */
const polls = fc.array(
  fc.record({
    state: fc.oneof(
      { weight: 4, arbitrary: bridgeState },
      { weight: 1, arbitrary: bridgeState.chain(corruptedDocument) },
    ),
    seconds: fc.constantFrom(5, 10, 30, 31, 60, 200, 299, 300, 301, 900, 3000, 3700),
    blocks: fc.constantFrom<number | undefined>(0, 0, 1, 20, 50, 100, 400, 1000, -3, undefined),
  }),
  { minLength: 1, maxLength: 12 },
);

describe('the metrics that remember earlier documents', () => {
  it('equal the reference values for random sequences of polls', () => {
    const property = fc.property(polls, bridgeOptions, (sequence, { height: _height, ...options }) => {
      let previous: BridgeObservations | undefined;
      let [height, atMs] = [1000, 0];
      const earlier: TimedDocument[] = [];
      for (const { state, seconds, blocks } of sequence) {
        atMs += seconds * 1000;
        height += blocks ?? 0;
        const own = { ...options, ...(blocks !== undefined && { height: String(height) }), atMs };
        const reading = { ...own, ...(previous && { previous }) };
        expect(withMemory(deriveBridge(state, reading).values)).toEqual(
          withMemory(referenceBridge(state, { ...own, earlier })),
        );
        earlier.push({ state, height: own.height, atMs });
        const { observations } = bridgeSnapshot(state, reading);
        previous = structuredClone(observations);
      }
    });
    fc.assert(property, { numRuns: fuzzRuns(40) });
  });
});
