import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/clock.js';
import { demoConfig } from '../../src/commands/demo.js';
import { simulatedContractBody, type ContractChanges } from '../../src/commands/simulated-responses.js';
import type { ContractReading } from '../../src/facts/contract/reading.js';
import { pastOf } from '../../src/poll/endpoint-state.js';
import { jobsOf } from '../../src/poll/jobs.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import { pollContract } from '../queries/bridge-target.js';
import { readSnapshot } from '../support/snapshots.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { readPoll } from '../../src/poll/read-poll.js';

const START_SECONDS = 1_790_000_000;

/** The two documents of a model after some minutes, as the exporter reads them. */
function readingOf(model: Model, minutes: number, changes?: ContractChanges): ContractReading {
  const at: Instant = { epochSeconds: START_SECONDS + minutes * 60, monotonicMs: minutes * 60_000 };
  const [bridge, contract] = jobsOf(demoConfig('http://127.0.0.1:1', model)).map(({ context }) => context);
  if (bridge === undefined || contract?.document !== 'external_contract') throw new Error('there is no contract');
  const facts = pastOf(
    'module_state',
    readSnapshot(bridge, model.moduleState(), { height: String(model.height), at }),
  )?.hubSide;
  if (facts === undefined) throw new Error('the module state does not say where the contract is');
  const { outcome } = readPoll(simulatedContractBody(undefined, facts, model, at, changes), contract);
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.content;
}

const surplusesOf = ({ backing }: ContractReading): (bigint | undefined)[] =>
  (backing?.tokens ?? []).map(({ surplus }) => (typeof surplus === 'bigint' ? surplus : undefined));

describe('the simulated contract', () => {
  it.each(['healthy', 'mainnet', 'stalled-oracle', 'batch-timeout'] as const)(
    'covers the supply and what the hub owes at every moment: %s',
    (scenario) => {
      const blockTimeMs = scenario === 'mainnet' ? undefined : 20_000;
      const model = createModel({ seed: 3, scenario, startTime: START_SECONDS, blockTimeMs });
      const [steps, stepMinutes] = scenario === 'mainnet' ? [30, 30] : [6, 40];
      const surpluses = Array.from({ length: steps }, (_, step) => {
        if (step > 0) model.advanceTime(stepMinutes * 60_000);
        return surplusesOf(readingOf(model, step * stepMinutes));
      }).flat();
      expect(surpluses).toHaveLength(steps * 4);
      expect(surpluses.every((surplus) => surplus !== undefined && surplus >= 0n)).toBe(true);
      // Deposits in flight.
      expect(surpluses.some((surplus) => surplus !== undefined && surplus > 0n)).toBe(scenario !== 'batch-timeout');
    },
  );

  it('is short by what is minted without a deposit, to the last unit', () => {
    const model = createModel({ seed: 3, scenario: 'batch-timeout', startTime: START_SECONDS, blockTimeMs: 20_000 });
    const before = surplusesOf(readingOf(model, 0));
    const after = surplusesOf(readingOf(model, 0, { supply: (supply) => supply + 1n }));
    expect(after).toEqual(before.map((surplus) => (surplus ?? 0n) - 1n));
  });

  it('is served as JSON-RPC, to a poll of the exporter', async () => {
    const simulator = await startTestSimulator({ scenario: 'healthy' });
    try {
      const moduleState = simulator.model.moduleState().state;
      const { values } = await pollContract(simulator.url, { moduleState, path: '/external' });
      expect(values).toMatchObject({ bridge_contract_paused: 0, bridge_contract_valset_unknown: 0 });
      expect(values['bridge_external_height']).toBe(simulator.model.external.height);
      expect(simulator.requests.external_contract).toBe(2);
    } finally {
      await simulator.close();
    }
  });
});
