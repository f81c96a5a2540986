import { expect, it } from 'vitest';
import { hasTool } from '../support/tools.js';
import { metricsInRules, runAlerts } from './promtool.js';
import { record } from './recording.js';

/** Enough for a healthy day, and no gap. */
const DAY_SAMPLE_SECONDS = 300;

/** One chain of several days would accumulate their signatures and take minutes to simulate: each day is one with another seed. */
const DAYS = (['healthy', 'quiet'] as const).flatMap((scenario) =>
  [1, 2, 3, 4].map((seed) => [scenario, seed] as const),
);

it.skipIf(!hasTool('promtool')).each(DAYS)(
  'no alert fires and no page shows a problem on a day of the scenario %s with seed %i',
  (scenario, seed) => {
    const shown = new Set<string>();
    const recording = record([{ minutes: 24 * 60 }], {
      scenario,
      seed,
      sampleSeconds: DAY_SAMPLE_SECONDS,
      valsets: 3,
      keep: metricsInRules,
      observe: (targets) => {
        for (const { alert, state } of targets.flatMap(({ problems }) => problems))
          if (state === 'firing') shown.add(alert);
      },
    });
    expect(recording.samples).toBe((24 * 3600) / DAY_SAMPLE_SECONDS);
    const last = ((recording.samples - 1) * DAY_SAMPLE_SECONDS) / 60;
    expect(runAlerts(recording)).toEqual([
      { alert: 'BridgeWatchdog', severity: 'none', labels: {}, from: 0, until: last, isWithoutGap: true },
    ]);
    expect(Array.from(shown)).toEqual([]);
  },
);
