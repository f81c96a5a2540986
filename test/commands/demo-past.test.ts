import { describe, expect, it } from 'vitest';
import { clock } from '../support/clock.js';
import type { Moment } from '../../src/clock.js';
import { demoConfig, pollPast } from '../../src/commands/demo.js';
import { createJobs } from '../../src/engine/jobs.js';
import type { Model } from '../../src/simulator/model.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { knownValidators } from '../../src/queries/validator-queries.js';

/* What the demo shows when it starts. */

const now: Moment = { at: 1_790_000_000, clockOffset: 0 };

/** Slow blocks make a fast test. */
async function lapse(scenario: ScenarioName, blockTimeMs: number, at: Moment) {
  const configOf = (model: Model) => demoConfig('http://127.0.0.1:1', model);
  const past = await pollPast({ seed: 1, scenario, blockTimeMs, startTime: Math.floor(at.at) }, configOf, at);
  return { ...past, config: configOf(past.model) };
}

describe('the past of a demo', () => {
  // The slow tests have all scenarios.
  it.each([
    ['quiet', undefined],
    ['missed-cctxs', 'critical CrosschainFreezeNear'],
  ] as const)('ends with the verdict about the scenario %s', async (scenario, expected) => {
    const { verdicts } = await lapse(scenario, 20_000, now);
    const first = verdicts.find(({ state }) => state === 'firing');
    expect(first && `${first.severity} ${first.alert}`).toBe(expected);
  });

  it('ends now, with a chain whose blocks are of now', async () => {
    const at = clock();
    const { model, demoState, incidentMinutes, config: ofPast } = await lapse('stalled-oracle', 20_000, at);
    // The alert fires after 20 minutes, and is found by the next poll.
    expect(incidentMinutes).toBeGreaterThanOrEqual(20);
    expect(incidentMinutes).toBeLessThanOrEqual(28);
    const pasts = createJobs(ofPast).map((job) => demoState(job));
    expect(pasts.map((past) => past?.lastSuccess?.at)).toEqual([at.at, at.at, at.at]);
    const secondsAgo = pasts.map((past) => at.at - (past?.addedAt ?? 0));
    expect(secondsAgo).toEqual(Array.from(secondsAgo, () => (incidentMinutes + 12) * 60));
    const createdAt = model
      .rateLimiterInput()
      .cctxs_pending.map(({ cctx_status }) => Number(cctx_status.created_timestamp));
    expect(at.at - Math.max(...createdAt)).toBeLessThan(120);
    expect(knownValidators(pasts[0]?.queries ?? new Map()).names.size).toBeGreaterThan(10);
  });
});
