import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Instant } from '../../src/poll/clock.js';
import { createInlineExecutor } from '../../src/poll/inline-executor.js';
import { jobsOf } from '../../src/poll/jobs.js';
import type { PollExecutor, PollJob } from '../../src/poll/poll.js';
import { createValidatorNames, type ValidatorNames } from '../../src/poll/validator-names.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { faultCases } from '../e2e/faults.js';
import { parseValidConfig } from '../support/config.js';
import { startTestSimulator } from '../support/test-simulator.js';

const HOUR_MS = 3_600_000;
const IGNORE_EVENTS = { onFailure: () => undefined, onRecovery: () => undefined };

const jobAt = (url: string, rest = ''): PollJob => {
  const [job] = jobsOf(
    parseValidConfig(`poll: {timeout: 1s, max_body_size: 2MiB}
targets: [{name: a, bridge: {url: "${url}"${rest}}}]`),
  );
  if (job === undefined) throw new Error('no job');
  return job;
};

const namesIn = (job: PollJob): ReadonlyMap<string, string> => job.processing.labels.validators.staking;

/** A clock that a test sets. */
let elapsedMs = 0;
const now = (): Instant => ({ epochSeconds: 1_800_000_000 + elapsedMs / 1000, monotonicMs: elapsedMs });
const advance = (ms: number): void => {
  elapsedMs += ms;
};

describe('the names of a target', () => {
  const requests: string[] = [];
  let names: ValidatorNames;
  const executor: Pick<PollExecutor, 'fetchNames'> = {
    fetchNames: async ({ baseUrl }) => {
      requests.push(baseUrl);
      return { ok: true, names: new Map([['qqqq', `name ${requests.length}`]]) };
    },
  };

  beforeEach(() => {
    requests.length = 0;
    names = createValidatorNames(executor, IGNORE_EVENTS, now);
  });

  const job = jobAt('https://node.example');

  it('are read at most once an hour, however often a poll succeeds', async () => {
    names.retain([job]);
    await Promise.all([names.refresh(job), names.refresh(job)]);
    advance(HOUR_MS - 1);
    await names.refresh(job);
    expect(requests).toEqual(['https://node.example']);
    advance(1);
    await names.refresh(job);
    expect(requests).toHaveLength(2);
    expect(namesIn(names.addTo(job))).toEqual(new Map([['qqqq', 'name 2']]));
  });

  it('are kept by a reload, unless the address of the node changes', async () => {
    names.retain([job]);
    await names.refresh(job);
    names.retain([jobAt('https://node.example', ', power_threshold: 0.5')]);
    expect(namesIn(names.addTo(job)).size).toBe(1);
    const moved = jobAt('https://other.example');
    names.retain([moved]);
    expect(namesIn(names.addTo(moved)).size).toBe(0);
    await names.refresh(moved);
    expect(requests).toEqual(['https://node.example', 'https://other.example']);
  });

  it('are not read with validator_names: off, and forgotten when it is set', async () => {
    names.retain([job]);
    await names.refresh(job);
    const off = jobAt('https://node.example', ', validator_names: "off"');
    names.retain([off]);
    await names.refresh(off);
    expect(requests).toHaveLength(1);
    expect(namesIn(names.addTo(off)).size).toBe(0);
    expect(names.states().size).toBe(0);
  });

  it('are not those of an address that was replaced while they were being read', async () => {
    let finish = (): void => undefined;
    const slow = createValidatorNames(
      {
        fetchNames: async () => {
          await new Promise<void>((resolve) => {
            finish = resolve;
          });
          return { ok: true, names: new Map([['qqqq', 'of the previous node']]) };
        },
      },
      IGNORE_EVENTS,
    );
    slow.retain([job]);
    const refreshed = slow.refresh(job);
    slow.retain([jobAt('https://other.example')]);
    finish();
    await refreshed;
    expect(slow.states().get('a')?.names.size).toBe(0);
  });
});

describe('a node whose staking module', () => {
  let simulator: Simulator;
  const executor = createInlineExecutor('test');

  beforeAll(async () => {
    simulator = await startTestSimulator();
  });
  afterAll(async () => {
    await Promise.all([executor.close(), simulator.close()]);
  });
  afterEach(() => {
    simulator.fault('validators', undefined);
  });

  // Without those that change fields of module_state.
  const failing = faultCases.filter(
    ({ fault, reason }) => reason !== undefined && !('path' in fault) && fault.kind !== 'height',
  );

  it.each(failing)('$title changes neither the names nor the polls, and is reported once', async (faultCase) => {
    const { fault, reason } = faultCase;
    const events: string[] = [];
    const names = createValidatorNames(
      executor,
      {
        onFailure: (target, error) => events.push(`${target}: ${error.reason}`),
        onRecovery: (target) => events.push(`${target}: recovered`),
      },
      now,
    );
    const job = jobAt(simulator.url);
    names.retain([job]);
    await names.refresh(job);
    const before = names.states().get('a');
    expect(before?.names.size).toBeGreaterThan(10);

    simulator.fault('validators', fault);
    const [requests, hours] = [simulator.requests.validators, 2];
    for (let hour = 0; hour < hours; hour += 1) {
      advance(HOUR_MS);
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      await names.refresh(job);
    }
    expect(simulator.requests.validators).toBe(requests + hours);
    const during = names.states().get('a');
    expect(during?.names).toBe(before?.names);
    expect(during?.readAt).toBe(before?.readAt);
    expect(during?.failure?.message).toContain('/cosmos/staking/v1beta1/validators');
    const result = await executor.poll(names.addTo(job));
    expect(result.outcome.ok).toBe(true);

    simulator.fault('validators', undefined);
    advance(HOUR_MS);
    await names.refresh(job);
    expect(names.states().get('a')?.failure).toBeUndefined();
    expect(events).toEqual([`a: ${reason}`, 'a: recovered']);
  });
});
