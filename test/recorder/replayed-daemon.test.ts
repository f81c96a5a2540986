import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/config.js';
import { wallSeconds, type Moment } from '../../src/clock.js';
import type { EndpointState } from '../../src/engine/endpoint-state.js';
import { judgeTargets } from '../../src/engine/target-problems.js';
import { failure } from '../../src/http/failure-reasons.js';
import { readRecording, replay } from '../../src/sources/recording.js';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { createTempFolder } from '../support/temp-folder.js';
import { recordChain } from './recorded-chain.js';

/* What a daemon found while it recorded a chain, and what is found in the recording. */

const START = 1_790_000_000;
const HOLD_MINUTES = 10;

type Firing = Map<string, number>;

/** Adds since which minute an alert fires. */
function addFiring(firing: Firing, states: readonly EndpointState[], now: Moment): void {
  for (const { alert, severity, document, state } of judgeTargets(states, now).flatMap(({ problems }) => problems)) {
    const key = `${severity} ${alert} ${document}`;
    if (state === 'firing' && !firing.has(key)) firing.set(key, (wallSeconds(now.at, now) - START) / 60);
  }
}

async function replayed(directory: string, intervalMinutes: number): Promise<Firing> {
  const firing: Firing = new Map();
  const config = { ...defaultConfig, recorder: { ...defaultConfig.recorder, interval: intervalMinutes * 60_000 } };
  const range = { fromMs: 0, toMs: Infinity };
  const onProblem = (message: string) => expect(message).toBe('');
  const polls = readRecording(directory, { ...range, maxBodyBytes: 2 ** 26, onProblem });
  for await (const { states, now, isStep } of replay(polls, config, { ...range, stepMs: 60_000 })) {
    if (isStep) addFiring(firing, states, now);
  }
  return firing;
}

describe('the recording of a daemon', { timeout: 120_000 }, () => {
  it.each<readonly [ScenarioName, number, string]>([
    ['stalled-oracle', 5, 'critical BridgeOracleStalled module_state'],
    ['missed-cctxs', 0, 'warning CrosschainCctxsMissed rate_limiter_input'],
  ])('of the scenario %s every %s min has the alerts that the daemon had', async (scenario, intervalMinutes, alert) => {
    const { path: directory } = createTempFolder();
    const firing: Firing = new Map();
    const minutes = 40;
    await recordChain({
      directory,
      scenario: 'healthy',
      incident: [5, scenario],
      minutes,
      startTime: START,
      intervalMinutes,
      polled: (states, now) => addFiring(firing, states, now),
    });
    expect(Array.from(firing.keys())).toContain(alert);
    const found = await replayed(directory, intervalMinutes);
    for (const [key, minute] of firing) {
      // A problem can begin up to an interval later, and after the end.
      if (minute + intervalMinutes + 1 > minutes) continue;
      expect(Math.abs((found.get(key) ?? NaN) - minute), key).toBeLessThanOrEqual(intervalMinutes + 1);
    }
    expect(Array.from(found).filter(([key, minute]) => !firing.has(key) && minute <= minutes)).toEqual([]);
  });

  it('has the failed polls of an outage, of which only the first is recorded, from its beginning to its end', async () => {
    const { path: directory } = createTempFolder();
    await recordChain({
      directory,
      scenario: 'healthy',
      minutes: 40,
      startTime: START,
      respond: (received, seconds) => (seconds >= 10 * 60 && seconds < 35 * 60 ? failure('timeout', 'slow') : received),
    });
    const found = await replayed(directory, 5);
    const stale = found.get('critical BridgeSnapshotStale module_state') ?? NaN;
    expect(stale).toBeGreaterThan(10);
    expect(stale).toBeLessThanOrEqual(10 + HOLD_MINUTES + 1);
  });
});
