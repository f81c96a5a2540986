import { describe, expect, it } from 'vitest';
import type { Moment } from '../../src/clock.js';
import { demoConfig } from '../../src/commands/demo.js';
import { respondTo, simulatedContractBody } from '../../src/sources/simulated-node.js';
import { initialState } from '../../src/engine/endpoint-state.js';
import { createJobs } from '../../src/engine/jobs.js';
import { answerQueries, pollInput } from '../support/polls.js';
import { contractAnswers } from '../../src/queries/contract-queries.js';
import type { QueryRequest } from '../../src/queries/query.js';
import type { RpcChanges } from '../../src/simulator/json-rpc.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import { pollContract } from '../queries/bridge-target.js';
import { pollOf } from '../support/polls.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { readPoll, step } from '../support/steps.js';

const START_SECONDS = 1_790_000_000;

/** The surpluses of the tokens of a model after some minutes, as the exporter finds them in two documents and in the answers to their queries. */
function surplusesOf(model: Model, minutes: number, changes?: RpcChanges): (bigint | undefined)[] {
  const at: Moment = { at: START_SECONDS + minutes * 60, clockOffset: 0 };
  const [bridge, contract] = createJobs(demoConfig('http://127.0.0.1:1', model)).map(({ context }) => context);
  if (bridge?.document !== 'module_state' || contract?.document !== 'external_contract') throw new Error('no contract');
  const respond = (path: string, request: QueryRequest) => respondTo(model, path, request, changes);
  const read = step(
    initialState(bridge, at.at),
    pollOf(bridge, model.moduleState(), { height: model.height, at }),
    bridge,
    at,
  );
  const ofHub = { ...read, queries: answerQueries(bridge, read, respond, at) };
  const before = initialState(contract, at.at);
  const { additionalInput } = pollInput(contract, before, () => ofHub, at);
  const received = simulatedContractBody('hubSide' in additionalInput ? additionalInput : {}, model, at.at, changes);
  if (received === undefined) throw new Error('the module state does not say where the contract is');
  const polled = step(before, readPoll(received, contract), contract, at);
  const answers = answerQueries(contract, polled, respond, at);
  const { bridge_external_address: address } = model.moduleState().state.params;
  return contractAnswers(answers, address.toLowerCase()).backing.map(({ surplus }) =>
    typeof surplus === 'bigint' ? surplus : undefined,
  );
}

describe('the simulated contract', () => {
  it.each(['healthy', 'mainnet', 'stalled-oracle', 'batch-timeout'] as const)(
    'covers the supply and what the hub owes at every moment: %s',
    (scenario) => {
      const blockTimeMs = scenario === 'mainnet' ? undefined : 20_000;
      const model = createModel({ seed: 3, scenario, startTime: START_SECONDS, blockTimeMs });
      const [steps, stepMinutes] = scenario === 'mainnet' ? [30, 30] : [6, 40];
      const surpluses = Array.from({ length: steps }, (_, index) => {
        if (index > 0) model.advanceTime(stepMinutes * 60_000);
        return surplusesOf(model, index * stepMinutes);
      }).flat();
      expect(surpluses).toHaveLength(steps * 4);
      expect(surpluses.every((surplus) => surplus !== undefined && surplus >= 0n)).toBe(true);
      // Deposits in flight.
      expect(surpluses.some((surplus) => surplus !== undefined && surplus > 0n)).toBe(scenario !== 'batch-timeout');
    },
  );

  it('is short by what is minted without a deposit, to the last unit', () => {
    const model = createModel({ seed: 3, scenario: 'batch-timeout', startTime: START_SECONDS, blockTimeMs: 20_000 });
    const before = surplusesOf(model, 0);
    const after = surplusesOf(model, 0, { supply: (supply) => supply + 1n });
    expect(after).toEqual(before.map((surplus) => (surplus ?? 0n) - 1n));
  });

  it('is served as JSON-RPC, to a poll of the exporter', async () => {
    const simulator = await startTestSimulator({ scenario: 'healthy' });
    try {
      const moduleState = simulator.model.moduleState().state;
      const { values } = await pollContract(simulator.url, { moduleState, path: '/external' });
      expect(values).toMatchObject({ bridge_contract_paused: 0, bridge_contract_valset_unknown: 0 });
      expect(values['bridge_external_height']).toBe(simulator.model.external.height);
      // The call, eth_syncing, and the slot of the implementation twice.
      expect(simulator.requests.external_contract).toBe(4);
    } finally {
      await simulator.close();
    }
  });
});
