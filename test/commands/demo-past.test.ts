import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { listVerdicts } from '../../src/engine/verdicts.js';
import { clock } from '../support/clock.js';
import type { Moment } from '../../src/clock.js';
import { demoConfig } from '../../src/commands/demo.js';
import { pollPast } from '../../src/commands/simulated-polls.js';
import { createPollLoop } from '../../src/engine/loop.js';
import { createJobs } from '../../src/engine/jobs.js';
import { createNetwork } from '../../src/sources/network.js';
import type { Model } from '../../src/simulator/model.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import { waitUntil } from '../support/wait-for.js';
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

  it('is shorter with a short block time, and has the scenario nevertheless', async () => {
    const { model, incidentMinutes } = await lapse('stuck', 10, now);
    expect(incidentMinutes).toBe(1);
    expect(model.scenario).toBe('stuck');
  });

  it('ends now, with a chain whose blocks are of now, and is continued by the polls of the exporter', async () => {
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

    const simulator = await startSimulator({
      host: '127.0.0.1',
      port: 0,
      seed: 1,
      scenario: 'stalled-oracle',
      model,
      tick: false,
    });
    const network = createNetwork('test', clock);
    const loop = createPollLoop({ source: network, now: clock, log: pino({ level: 'silent' }), demoState });
    const config = demoConfig(simulator.url, model);
    const jobs = createJobs(config).map((job) => ({ ...job, intervalMs: 100 }));
    try {
      loop.reconcile(jobs, clock().at);
      const before = loop.states().map(({ polls }) => polls);
      const verdicts = () =>
        listVerdicts(loop.states(), clock()).flatMap((target) =>
          target.verdicts.filter(({ state, hiddenBy }) => state !== 'pending' && hiddenBy === null),
        );
      // On a slow machine, others fire before the end of the test.
      expect(verdicts()[0]).toMatchObject({ state: 'firing', alert: 'BridgeOracleStalled' });
      await waitUntil(() => loop.states().every(({ polls }, index) => polls > (before[index] ?? 0) + 1));
      expect(verdicts()[0]).toMatchObject({ state: 'firing', alert: 'BridgeOracleStalled' });
      expect(loop.states().every(({ lastPoll }) => lastPoll?.ok)).toBe(true);
    } finally {
      loop.close();
      network.close();
      await simulator.close();
    }
  });
});
