import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { namesAfter, NO_NAMES } from '../../src/poll/validator-names.js';
import type { Instant } from '../../src/clock.js';
import { createPollExecutor, type PollJob } from '../../src/poll/poll.js';
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
    const before = namesAfter(NO_NAMES, await executor.fetchNames(job), at(0));
    expect(before.byOperator.size).toBeGreaterThan(10);

    simulator.fault('validators', fault);
    const requests = simulator.requests.validators;
    const during = namesAfter(before, await executor.fetchNames(job), at(3600));
    expect(simulator.requests.validators).toBe(requests + 1);
    expect(during.byOperator).toBe(before.byOperator);
    expect(during.readAt).toBe(before.readAt);
    expect(during.failure?.reason).toBe(reason);
    expect(during.failure?.message).toContain('/cosmos/staking/v1beta1/validators');
    const result = await pollNode(executor, job, { sideInput: { names: during.byOperator } });
    expect(result.outcome.ok).toBe(true);

    simulator.fault('validators', undefined);
    const after = namesAfter(during, await executor.fetchNames(job), at(7200));
    expect(after).toMatchObject({ readAt: at(7200), failure: undefined });
  });
});
