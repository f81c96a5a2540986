import { describe, expect, it } from 'vitest';
import { fuzzRuns, fuzzTimeoutMs } from '../support/fuzz.js';
import { hasCounted, week } from './simulated-week.js';

/** Of each scenario; longer in `.ci/run`. */
const incidentHours = fuzzRuns(0.075);

describe.each(['healthy', 'mainnet'] as const)(
  'the flow of all scenarios on a chain that starts as %s',
  { timeout: fuzzTimeoutMs(5000) },
  (start) => {
    it('equals the event counts of the chain at polls every 30 s, some of which fail', () => {
      const { above, different, gaps, polls, total } = week({
        start,
        incidentHours,
        pollSeconds: 30,
        failedShare: 0.1,
      });
      expect(different.slice(0, 3)).toEqual([]);
      expect(above).toEqual([]);
      // On the busy bridge, several events are observed between two polls.
      expect(gaps).toBeLessThan(start === 'mainnet' ? polls / 20 : polls * 0.6);
      for (const name of ['batches_executed', 'withdrawn', 'deposited']) {
        expect(hasCounted(total, name), name).toBe(true);
      }
    });

    // With fewer minutes of a scenario, one poll is in each, which the other test has as well.
    it.skipIf(incidentHours < 0.2)('is never above the event counts of the chain at polls every 4 minutes', () => {
      const { above, total } = week({ start, incidentHours, pollSeconds: 240, failedShare: 0 });
      expect(above).toEqual([]);
      expect(hasCounted(total, 'deposited')).toBe(true);
    });
  },
);
