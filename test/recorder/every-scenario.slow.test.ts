import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { expectExactReplay, useSimulatedTime } from './every-poll.js';

beforeEach(useSimulatedTime);

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('a recording of every poll', () => {
  it.each(scenarioNames)('replays to the series that were exported in the scenario %s', async (scenario) => {
    const { bridge, contract } = await expectExactReplay(scenario, 30);
    expect([bridge.length, contract.length]).toEqual([30, 30]);
  });
});
