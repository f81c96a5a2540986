import { describe } from 'vitest';
import type { Incident } from '../alerts/incidents.js';
import type { Phase } from '../alerts/recording.js';
import { testComparison } from './alert-comparison.js';

const FAILED = { bridge: { fails: 'timeout' }, crosschain: { fails: 'timeout' } } as const;

/** Minutes without data: the series stay, are withdrawn, are outdated, and stay away for longer than alerts are kept. */
const GAPS = [3, 8, 12, 22, 40];

/** An incident, and a period without data that begins this many minutes after it. */
function interrupted(
  scenario: NonNullable<Phase['scenario']>,
  beginsAfterMinutes: number,
  interruption: Phase,
  name: string,
): Incident {
  return {
    title: `${name} for ${interruption.minutes} min, ${beginsAfterMinutes} min after the scenario ${scenario} begins`,
    phases: [{ minutes: 15 }, { minutes: beginsAfterMinutes, scenario }, interruption, { minutes: 70 }],
    beginsAtMinute: 15,
    expectedAlerts: {},
  };
}

const incidents = GAPS.flatMap((minutes) => [
  interrupted('stalled-oracle', 8, { minutes, ...FAILED }, 'polls fail'),
  interrupted('stalled-oracle', 30, { minutes, ...FAILED }, 'polls fail'),
  interrupted('conflicting-claims', 4, { minutes, ...FAILED }, 'polls fail'),
  interrupted('stuck', 10, { minutes, frozen: true }, 'the height is constant'),
]);

describe('the verdicts after a period without data', () => {
  testComparison(incidents);
});
