import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { QueryContext } from '../../src/queries/query.js';
import { queryStatesOf, withResults, type QueryStates } from '../../src/queries/query-state.js';
import { validators, VALIDATORS_REQUEST, validatorsAnswer, validatorsOf } from '../../src/queries/validators.js';
import type { Instant } from '../../src/clock.js';
import { createPollExecutor, type PollJob } from '../../src/poll/fetch.js';
import { jobsOf } from '../../src/poll/jobs.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { faultCases } from '../e2e/faults.js';
import { parseValidConfig } from '../support/config.js';
import { pollNode } from '../support/polls.js';
import { startTestSimulator } from '../support/test-simulator.js';

const at = (seconds: number): Instant => ({ epochSeconds: 1_800_000_000 + seconds, monotonicMs: seconds * 1000 });

function jobAt(url: string): PollJob {
  const yaml = `poll: {timeout: 1s, max_body_size: 2MiB}\ntargets: [{name: a, bridge: {url: "${url}"}}]`;
  const [job] = jobsOf(parseValidConfig(yaml));
  if (job === undefined) throw new Error('no job');
  return job;
}

describe('a node whose staking module', () => {
  let simulator: Simulator;
  const executor = createPollExecutor('test');

  beforeAll(async () => {
    simulator = await startTestSimulator();
  });
  afterAll(async () => {
    executor.close();
    await simulator.close();
  });
  afterEach(() => {
    simulator.fault('validators', undefined);
  });

  // Without those that change fields of module_state.
  const failing = faultCases.filter(
    ({ fault, reason }) => reason !== undefined && !('path' in fault) && fault.kind !== 'height',
  );

  it.each(failing)('$title changes neither the names nor the polls', async ({ fault, reason }) => {
    const job = jobAt(simulator.url);
    /** The states of the queries after one more round of this one, whose families depend on nothing. */
    const readAgain = async (states: QueryStates, seconds: number): Promise<QueryStates> => {
      const result = await executor.sendQuery(job, validators, VALIDATORS_REQUEST);
      return withResults(
        states,
        validators,
        job.context as unknown as QueryContext,
        [[VALIDATORS_REQUEST, result]],
        at(seconds),
      );
    };
    const before = await readAgain(queryStatesOf(job.context), 0);
    expect(validatorsOf(before).names.size).toBeGreaterThan(10);

    simulator.fault('validators', fault);
    const requests = simulator.requests.validators;
    const during = await readAgain(before, 3600);
    expect(simulator.requests.validators).toBe(requests + 1);
    expect(validatorsOf(during)).toBe(validatorsOf(before));
    expect(validatorsAnswer(during)?.at).toEqual(at(0));
    const { failure } = during.get(validators.name) ?? {};
    expect(failure?.reason).toBe(reason);
    expect(failure?.message).toContain('/cosmos/staking/v1beta1/validators');
    const result = await pollNode(executor, job, { sideInput: { names: validatorsOf(during).names } });
    expect(result.outcome.ok).toBe(true);

    simulator.fault('validators', undefined);
    const after = await readAgain(during, 7200);
    expect(validatorsAnswer(after)?.at).toEqual(at(7200));
    expect(after.get(validators.name)?.failure).toBeUndefined();
  });
});
