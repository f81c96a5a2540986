import { describe, expect, it } from 'vitest';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { expectExactReplay, useSimulatedTime } from './every-poll.js';

/** The scenario begins with the fourth one. */
const POLLS = 16;

useSimulatedTime();

describe('a recording of every poll', () => {
  it.each(scenarioNames)('replays to the series that were exported in the scenario %s', async (scenario) => {
    const { bridge, contract } = await expectExactReplay(scenario, POLLS);
    expect([bridge.length, contract.length]).toEqual([POLLS, POLLS]);
  });
});
