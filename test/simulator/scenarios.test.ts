import { describe, expect, it } from 'vitest';
import { createModel, type Model } from '../../src/simulator/model.js';
import { isScenarioName, type ScenarioName, scenarioNames, scenarios } from '../../src/simulator/scenarios.js';
import { type Picture, pictureOf } from './picture.js';

const BLOCKS_A_MINUTE = 30;
/** A limit of 1e18 per block over a window of 500. */
const RATE_LIMIT = 500n * 10n ** 18n;

/** What is true of a chain `minutes` after it was as in `before`. */
type Truth = (now: Picture, before: Picture) => Record<string, boolean>;

const truths: Record<ScenarioName, Truth> = {
  healthy: (now, before) => ({
    'events are observed': now.lastObservedNonce > before.lastObservedNonce + 10,
    'no transfer of before is left': now.oldestTransferId > before.lastPoolId - 250,
    'few events are pending': now.newestAttestedNonce - now.lastObservedNonce < 15,
    'nothing conflicts': now.conflictingNonces === 0,
    'nothing is missed': now.missed === 0,
    'nothing is hidden': now.listed === now.totalPending,
    'few cctxs are pending': now.totalPending < 60,
    'batches are far from their timeout': now.headroom > 3500,
    'the set in the contract is recent': now.drift < 0.15 && now.unrelayedValsets <= 2,
    'everyone is heard': now.silent === 0,
    'the queue is short': now.unbatched < 200,
  }),
  quiet: (now, before) => ({
    'hardly a transfer comes': now.lastPoolId - before.lastPoolId <= 3,
    'nothing waits': now.unbatched <= 1 && now.totalPending <= 3,
    'no event is pending for long': now.newestAttestedNonce - now.lastObservedNonce <= 2,
    'nothing is missed': now.missed === 0,
    'nobody is late': now.conflictingNonces === 0 && !(now.headroom < 3500),
  }),
  backlog: (now, before) => ({
    'many transfers wait': now.unbatched > 500,
    'many cctxs wait': now.totalPending > 100,
    'the queue moves': now.oldestTransferId > before.oldestTransferId,
    'events are observed': now.lastObservedNonce > before.lastObservedNonce,
  }),
  stuck: (now, before) => ({
    'no event is observed': now.lastObservedNonce === before.lastObservedNonce,
    'events are pending': now.newestAttestedNonce > before.newestAttestedNonce,
    'the oldest stays the oldest': now.oldestTransferId === before.oldestTransferId,
    'no batch is built or executed': now.batches === before.batches,
    'the queue grows': now.unbatched > before.unbatched + 50,
    'no cctx finishes': now.totalPending > before.totalPending + 15,
    'no lowest nonce moves': Object.entries(before.lowestNonces).every(([id, nonce]) => now.lowestNonces[id] === nonce),
  }),
  'unsigned-batch': (now, before) => ({
    'a batch stays below the threshold': now.leastSignedBatch < 0.6 && before.leastSignedBatch < 0.6,
    'its transfers stay': now.oldestTransferId === before.oldestTransferId,
    'events are observed': now.lastObservedNonce > before.lastObservedNonce,
    'batches of other tokens go': now.batches < 15,
  }),
  'silent-signer': (now, before) => ({
    'two are not heard': now.silent === 2,
    'events are observed': now.lastObservedNonce > before.lastObservedNonce,
    'batches go': now.oldestTransferId > before.oldestTransferId,
  }),
  'stalled-oracle': (now, before) => ({
    'no event is observed': now.lastObservedNonce === before.lastObservedNonce,
    'events are pending': now.newestAttestedNonce > before.newestAttestedNonce,
    // The powers of the newest set lag the stakes that decide, by a few per cent.
    'votes stay below the quorum': now.nextEventShare > 0.2 && now.nextEventShare < 0.7,
    'cctxs go on': now.totalPending < 60,
  }),
  'conflicting-claims': (now, before) => ({
    'one event has two claims': now.conflictingNonces === 1,
    'neither has a quorum': now.nextEventShare > 0.2 && now.nextEventShare < 0.66,
    'no event is observed': now.lastObservedNonce === before.lastObservedNonce,
  }),
  'batch-timeout': (now, before) => ({
    'batches are dead outside': now.headroom <= 0,
    'they came near first': before.headroom > now.headroom && before.headroom < 100,
    'they are still held here': now.expiredBatches === 0 && now.batches > 0,
  }),
  'valset-drift': (now, before) => ({
    'the set in the contract is far from the newest': now.drift > 0.15,
    'sets are made and not relayed': now.unrelayedValsets > before.unrelayedValsets,
    'events are observed': now.lastObservedNonce > before.lastObservedNonce,
  }),
  'missed-cctxs': (now) => ({ 'cctxs are missed': now.missed > 2, 'others go on': now.totalPending < 80 }),
  'stuck-chain': (now, before) => ({
    'one chain stands': now.lowestNonces['56'] === before.lowestNonces['56'],
    'others move': ['1', '137', '8332', '42161'].some((id) => now.lowestNonces[id] !== before.lowestNonces[id]),
  }),
  truncated: (now) => ({
    'some are hidden': now.totalPending > now.listed + now.missed,
    '500 are listed': now.listed === 500,
  }),
  'rate-limited': (now) => ({ 'the value is far above the limit': now.pastValue + now.pendingValue > 2n * RATE_LIMIT }),
};

describe.each([1, 2, 3])('with seed %i', (seed) => {
  it.each(scenarioNames)('a chain that starts in %s is in it at once', (scenario) => {
    const model = createModel({ seed, scenario, startTime: 1_760_000_000, blockTimeMs: 2000 });
    const before = pictureOf(model);
    model.advance(8 * BLOCKS_A_MINUTE);
    expect(untrue(model, scenario, before)).toEqual([]);
  });

  it.each(scenarioNames)('a healthy chain falls into %s and recovers', (scenario) => {
    const model = createModel({ seed, scenario: 'healthy', startTime: 1_760_000_000, blockTimeMs: 2000 });
    model.setScenario(scenario);
    model.advance(10 * BLOCKS_A_MINUTE);
    const fallen = pictureOf(model);
    model.advance(8 * BLOCKS_A_MINUTE);
    expect(untrue(model, scenario, fallen)).toEqual([]);
    model.setScenario('healthy');
    model.advance(6 * BLOCKS_A_MINUTE);
    const recovered = pictureOf(model);
    model.advance(5 * BLOCKS_A_MINUTE);
    expect(untrue(model, 'healthy', recovered)).toEqual([]);
  });
});

it('the value of a rate-limited time has left the window after 500 blocks', () => {
  const model = createModel({ seed: 1, scenario: 'rate-limited', startTime: 1_760_000_000, blockTimeMs: 2000 });
  model.setScenario('healthy');
  model.advance(500 + 10 * BLOCKS_A_MINUTE);
  const { pastValue, pendingValue } = pictureOf(model);
  expect(pastValue + pendingValue).toBeLessThan(RATE_LIMIT);
});

it('every scenario has a line of description, and other names are none', () => {
  const descriptions = scenarioNames.map((name) => scenarios[name].description);
  expect(descriptions.filter((description) => !/^[^\n]{10,100}$/.test(description))).toEqual([]);
  expect(['healthy', 'toString', 'Stuck', ''].map(isScenarioName)).toEqual([true, false, false, false]);
});

/** What should be true by now and is not. */
function untrue(model: Model, scenario: ScenarioName, before: Picture): string[] {
  const statements = Object.entries(truths[scenario](pictureOf(model), before));
  return statements.filter(([, holds]) => !holds).map(([statement]) => statement);
}
