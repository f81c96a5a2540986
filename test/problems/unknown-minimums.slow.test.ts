import { describe, expect, it } from 'vitest';
import { createModel } from '../../src/simulator/model.js';
import { record, START_SECONDS, type Phase } from './recording.js';

/* A main network of which no token is configured, so that nobody has said which fees are too low to relay a batch. */

const DAY_MINUTES = 24 * 60;
/** The longest interval between two polls that is no gap; shorter ones see more executions. */
const SAMPLE_SECONDS = 240;

const ABOUT_RELAYING = new Set(['BridgeBatchTimeoutNear', 'BridgeBatchOverdue', 'BridgeBatchNotRelayed']);

/** The alerts about batches that are relayed late, by the minute in which they begin to fire. */
function firedIn(seed: number, phases: readonly Phase[]): readonly (readonly [minute: number, alert: string])[] {
  const firing = new Map<string, number>();
  const fired: [number, string][] = [];
  record(phases, {
    scenario: 'mainnet',
    seed,
    model: createModel({ seed, scenario: 'mainnet', startTime: START_SECONDS }),
    sampleSeconds: SAMPLE_SECONDS,
    withoutTokens: true,
    observe: (targets, minute) => {
      for (const { alert, severity, state } of targets.flatMap(({ verdicts }) => verdicts)) {
        const key = `${alert}/${severity}`;
        if (state !== 'firing' || !ABOUT_RELAYING.has(alert)) continue;
        if (minute - (firing.get(key) ?? -Infinity) > 15) fired.push([minute, key]);
        firing.set(key, minute);
      }
    },
  });
  return fired;
}

describe('on a main network without min_batch_fee', () => {
  it.each([1, 3])('no poor batch is a warning from the second day on (seed %i)', (seed) => {
    const fired = firedIn(seed, [{ minutes: 7 * DAY_MINUTES }]);
    expect(fired.filter(([minute]) => minute >= DAY_MINUTES)).toEqual([]);
  });

  it('relayers that stop are a warning, and critical, as with a configured minimum', () => {
    const stopMinute = 2 * DAY_MINUTES;
    const fired = firedIn(1, [{ minutes: stopMinute }, { minutes: DAY_MINUTES, scenario: 'no-relayer' }]);
    const after = fired.filter(([minute]) => minute >= stopMinute);
    expect(after.map(([, alert]) => alert)).toContain('BridgeBatchNotRelayed/critical');
  });
});
