import { describe, expect, it } from 'vitest';
import { sumOf, week } from './crosschain-week.js';

/* All scenarios in turn, for some minutes each; a week is in crosschain-week.slow.test.ts. */

describe.each(['healthy', 'mainnet'] as const)(
  'the cross-chain flow of all scenarios on a hub that starts as %s',
  (start) => {
    it('equals the books of the hub at polls every 30 s, some of which fail', () => {
      const { different, above, gaps, polls, short, total, observed, unseen } = week({
        start,
        incidentHours: 0.1,
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
  },
);
