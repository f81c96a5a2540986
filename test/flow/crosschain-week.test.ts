import { describe, expect, it } from 'vitest';
import { fuzzRuns, fuzzTimeoutMs } from '../support/fuzz.js';
import { sumOf, week } from './crosschain-week.js';

/** Of each scenario; longer in `.ci/run`. */
const incidentHours = fuzzRuns(0.05);

describe.each(['healthy', 'mainnet'] as const)(
  'the cross-chain flow of all scenarios on a hub that starts as %s',
  { timeout: fuzzTimeoutMs(5000) },
  (start) => {
    it('equals the event counts of the hub at polls every 30 s, some of which fail', () => {
      const { different, above, gaps, polls, short, total, observed, unseen } = week({
        start,
        incidentHours,
        pollSeconds: 30,
        failedShare: 0.1,
      });
      expect(different.slice(0, 3)).toEqual([]);
      expect(short).toBeLessThanOrEqual(unseen);
      expect(above).toEqual([]);
      expect(gaps).toBeLessThan(polls / 5);
      const known = sumOf(total, 'mined') + sumOf(total, 'reverted') + sumOf(total, 'aborted');
      expect(sumOf(total, 'mined')).toBeGreaterThan(0);
      expect(observed).toBeGreaterThan(known / 2);
      expect(observed).toBeLessThanOrEqual(known);
    });

    // With fewer minutes of a scenario, one poll is in each, which the other test has as well.
    it.skipIf(incidentHours < 0.2)('is never above the event counts of the hub at polls every 4 minutes', () => {
      const { above, total } = week({ start, incidentHours, pollSeconds: 240, failedShare: 0 });
      expect(above).toEqual([]);
      expect(sumOf(total, 'mined')).toBeGreaterThan(0);
    });
  },
);
