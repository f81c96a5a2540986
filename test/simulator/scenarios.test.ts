import { describe, expect, it } from 'vitest';
import { createModel, type Model } from '../../src/simulator/model.js';
import { isScenarioName, type ScenarioName, scenarioNames } from '../../src/simulator/scenarios.js';
import { fuzzRuns } from '../support/fuzz.js';
import { type ChainSummary, summarize } from './chain-summary.js';

/** One in `npm test`, two in `.ci/run`. */
const seeds = Array.from({ length: Math.ceil(fuzzRuns(0.5)) }, (_, index) => index + 1);

const BLOCKS_PER_MINUTE = 30;
/** A limit of 1e18 per block over a window of 500 blocks. */
const RATE_LIMIT = 500n * 10n ** 18n;

/** Statements about a scenario, and whether they hold between two moments some minutes apart. */
type Statements = (now: ChainSummary, before: ChainSummary) => Record<string, boolean>;

const statements: Record<ScenarioName, Statements> = {
  healthy: (now, before) => ({
    'events are observed': now.lastObservedNonce > before.lastObservedNonce + 10,
    'all old transfers are finished': now.oldestTransferId > before.lastPoolId - 250,
    'few events are pending': now.newestAttestedNonce - now.lastObservedNonce < 15,
    'no claims conflict': now.conflictingEvents === 0,
    'no cctx is missed': now.missed === 0,
    'batches are far from their timeout': now.blocksToTimeout > 3500,
    'the set in the contract is recent': now.valsetDrift < 0.15 && now.unrelayedValsets <= 2,
    'no signer is silent': now.silentSigners === 0,
  }),
  quiet: (now, before) => ({
    'there are hardly any new transfers': now.lastPoolId - before.lastPoolId <= 3,
    'the backlog is empty': now.unbatched <= 1 && now.totalPending <= 3,
    'no cctx is missed': now.missed === 0,
  }),
  backlog: (now, before) => ({
    'many transfers are unbatched': now.unbatched > 500,
    'many cctxs are pending': now.totalPending > 100,
    'the queue moves': now.oldestTransferId > before.oldestTransferId,
    'events are observed': now.lastObservedNonce > before.lastObservedNonce,
  }),
  stuck: (now, before) => ({
    'no event is observed': now.lastObservedNonce === before.lastObservedNonce,
    'events are pending': now.newestAttestedNonce > before.newestAttestedNonce,
    'the oldest transfer does not change': now.oldestTransferId === before.oldestTransferId,
    'the queue grows': now.unbatched > before.unbatched + 50,
    'no cctx finishes': now.totalPending > before.totalPending + 15,
    'no lowest nonce moves': Object.entries(before.lowestNonces).every(([id, nonce]) => now.lowestNonces[id] === nonce),
  }),
  'unsigned-batch': (now, before) => ({
    'a batch stays below the threshold': now.lowestSignedShare < 0.6 && before.lowestSignedShare < 0.6,
    'its transfers remain': now.oldestTransferId === before.oldestTransferId,
    'events are observed': now.lastObservedNonce > before.lastObservedNonce,
    'batches of other tokens are executed': now.batches < 15,
  }),
  'silent-signer': (now, before) => ({
    'two signers are silent': now.silentSigners === 2,
    'events are observed': now.lastObservedNonce > before.lastObservedNonce,
    'batches are executed': now.oldestTransferId > before.oldestTransferId,
  }),
  'missed-blocks': (now, before) => ({
    'a validator misses blocks': now.missedBlocks > before.missedBlocks + 100,
    'events are observed': now.lastObservedNonce > before.lastObservedNonce,
  }),
  'stalled-oracle': (now, before) => ({
    'no event is observed': now.lastObservedNonce === before.lastObservedNonce,
    'events are pending': now.newestAttestedNonce > before.newestAttestedNonce,
    // The quorum counts stakes, from which the powers of the newest set differ by a few percent.
    'votes stay below the quorum': now.nextEventVotedShare > 0.2 && now.nextEventVotedShare < 0.7,
    'cctxs finish': now.totalPending < 60,
  }),
  'conflicting-claims': (now, before) => ({
    'one event has two claims': now.conflictingEvents === 1,
    'neither has a quorum': now.nextEventVotedShare > 0.2 && now.nextEventVotedShare < 0.66,
    'no event is observed': now.lastObservedNonce === before.lastObservedNonce,
  }),
  'batch-timeout': (now, before) => ({
    'batches have timed out on the external chain': now.blocksToTimeout <= 0,
    'they were near their timeout before': before.blocksToTimeout > now.blocksToTimeout && before.blocksToTimeout < 100,
    'the hub still holds them': now.expiredBatches === 0 && now.batches > 0,
  }),
  'no-relayer': (now, before) => ({
    'batches stay signed': now.batches > 0 && now.batches >= before.batches,
    'no event is observed': now.lastObservedNonce === before.lastObservedNonce,
    'withdrawals go on': now.lastPoolId > before.lastPoolId,
  }),
  'valset-drift': (now, before) => ({
    'the set in the contract differs much from the newest': now.valsetDrift > 0.15,
    'sets are created and not relayed': now.unrelayedValsets > before.unrelayedValsets,
    'events are observed': now.lastObservedNonce > before.lastObservedNonce,
  }),
  'missed-cctxs': (now) => ({ 'cctxs are missed': now.missed > 2, 'others finish': now.totalPending < 80 }),
  'unlisted-cctxs': (now) => ({
    'few cctxs are listed as missed': now.missed <= 4,
    'others finish': now.totalPending < 150,
  }),
  'stuck-chain': (now, before) => ({
    'one chain is stuck': now.lowestNonces['56'] === before.lowestNonces['56'],
    'others move': ['1', '137', '8332', '42161'].some((id) => now.lowestNonces[id] !== before.lowestNonces[id]),
  }),
  truncated: (now) => ({
    'some cctxs are hidden': now.totalPending > now.listedPending + now.missed,
    '500 are listed': now.listedPending === 500,
  }),
  'outbound-disabled': (now, before) => ({
    'no cctx finishes': now.totalPending > before.totalPending + 15,
    'events are observed': now.lastObservedNonce > before.lastObservedNonce,
  }),
  syncing: (now, before) => ({
    'documents go on': now.lastObservedNonce > before.lastObservedNonce && now.lastPoolId > before.lastPoolId,
  }),
  'rate-limited': (now) => ({ 'the value is far above the limit': now.pastValue + now.pendingValue > 2n * RATE_LIMIT }),
  mainnet: (now, before) => ({
    'transfers wait for which nobody builds a batch': now.unbatched >= 5 && now.unbatched < 40,
    'a signed batch is not executed': before.batches > 0 && now.batches > 0,
    'cctxs have been missed for long': now.missed === 4 && before.missed === 4,
    'the others finish': now.totalPending < 40,
    'no claims conflict': now.conflictingEvents === 0,
  }),
};

describe.each(seeds)('a chain with seed %i', (seed) => {
  // The other test has the same scenarios, so that the first block of each is left to the slow tests.
  it.skipIf(seeds.length === 1).each(scenarioNames)('is in the scenario %s from its first block', (scenario) => {
    const model = createModel({ seed, scenario, startTime: 1_760_000_000, blockTimeMs: 2000 });
    const before = summarize(model);
    model.advance(8 * BLOCKS_PER_MINUTE);
    expect(falseStatements(model, scenario, before)).toEqual([]);
  });

  it.each(scenarioNames.filter((name) => name !== 'mainnet'))('changes from healthy to %s and recovers', (scenario) => {
    const model = createModel({ seed, scenario: 'healthy', startTime: 1_760_000_000, blockTimeMs: 2000 });
    model.setScenario(scenario);
    model.advance(10 * BLOCKS_PER_MINUTE);
    const duringIncident = summarize(model);
    model.advance(8 * BLOCKS_PER_MINUTE);
    expect(falseStatements(model, scenario, duringIncident)).toEqual([]);
    model.setScenario('healthy');
    model.advance(6 * BLOCKS_PER_MINUTE);
    const recovered = summarize(model);
    model.advance(5 * BLOCKS_PER_MINUTE);
    expect(falseStatements(model, 'healthy', recovered)).toEqual([]);
  });
});

describe('the scenario rate-limited', () => {
  it('is below the limit 500 blocks after it ends', () => {
    const model = createModel({ seed: 1, scenario: 'rate-limited', startTime: 1_760_000_000, blockTimeMs: 2000 });
    model.setScenario('healthy');
    model.advance(500 + 10 * BLOCKS_PER_MINUTE);
    const { pastValue, pendingValue } = summarize(model);
    expect(pastValue + pendingValue).toBeLessThan(RATE_LIMIT);
  });
});

describe('the scenarios', () => {
  it('are recognized by their exact name', () => {
    expect(['healthy', 'toString', 'Stuck', ''].map(isScenarioName)).toEqual([true, false, false, false]);
  });
});

function falseStatements(model: Model, scenario: ScenarioName, before: ChainSummary): string[] {
  const results = Object.entries(statements[scenario](summarize(model), before));
  return results.filter(([, holds]) => !holds).map(([statement]) => statement);
}
