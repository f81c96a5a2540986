import { describe } from 'vitest';
import { testAgreement } from './alert-tests.js';
import type { Phase } from './recording.js';

const HEALTHY_MINUTES = 15;
/** Longer than the range, `for` and `keep_firing_for` of the critical alerts of these scenarios. */
const AFTERWARDS_MINUTES = 80;

const FAILING = { bridge: { fails: 'timeout' }, crosschain: { fails: 'timeout' } } as const;

/** An incident, and an interruption of the data that begins some minutes after it. */
function interrupted(scenario: NonNullable<Phase['scenario']>, afterMinutes: number, interruption: Phase) {
  const what = interruption.frozen === true ? 'the height is constant' : 'polls fail';
  return {
    title: `${what} for ${interruption.minutes} min, ${afterMinutes} min after the scenario ${scenario} began`,
    phases: [
      { minutes: HEALTHY_MINUTES },
      { minutes: afterMinutes, scenario },
      interruption,
      { minutes: AFTERWARDS_MINUTES },
    ],
  };
}

describe('the alerts after an interruption of the data', () => {
  testAgreement([
    // The series are withdrawn, outdated, and away for longer than a firing alert is kept.
    ...[8, 12, 22].map((minutes) => interrupted('stalled-oracle', 8, { minutes, ...FAILING })),
    ...[12, 40].map((minutes) => interrupted('stalled-oracle', 30, { minutes, ...FAILING })),
    // An alert without a range; the first interruption is too short to affect it.
    ...[3, 12].map((minutes) => interrupted('conflicting-claims', 4, { minutes, ...FAILING })),
    interrupted('stuck', 10, { minutes: 12, frozen: true }),
    {
      title: 'the height is constant from the first poll on',
      phases: [{ minutes: 30, frozen: true }, { minutes: 20 }],
    },
  ]);
});
