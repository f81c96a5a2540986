import { expect, it } from 'vitest';
import { hasTool } from '../support/tools.js';
import { firings, usedNames } from './promtool.js';
import { record } from './recording.js';

/** Samples of a day this far apart are enough: no alert looks at less than 10 minutes. */
const SAMPLE_SECONDS = 300;

const hasPromtool = hasTool('promtool');

/**
 * Seven days of a bridge in health, in which nothing but the watchdog fires. Each is another chain (another seed): a model
 * that lives for a week keeps the signatures of the week and takes minutes.
 */
export function silentWeek(scenario: 'healthy' | 'quiet'): void {
  it.skipIf(!hasPromtool).each([1, 2, 3, 4, 5, 6, 7])('day %i', (seed) => {
    const options = { scenario, seed, sampleSeconds: SAMPLE_SECONDS, valsets: 3, keep: usedNames };
    const recorded = record([{ minutes: 24 * 60 }], options);
    expect(recorded.samples).toBe((24 * 3600) / SAMPLE_SECONDS);
    const last = ((recorded.samples - 1) * SAMPLE_SECONDS) / 60;
    expect(firings(recorded)).toEqual([
      { alert: 'BridgeWatchdog', severity: 'info', labels: {}, from: 0, until: last, times: 1 },
    ]);
  });
}
