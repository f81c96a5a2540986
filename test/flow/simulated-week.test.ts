import { describe, expect, it } from 'vitest';
import { hasCounted, week } from './simulated-week.js';

/* All scenarios in turn, for some minutes each; a week is in simulated-week.slow.test.ts. */

describe.each(['healthy', 'mainnet'] as const)('the flow of all scenarios on a chain that starts as %s', (start) => {
  it('equals the books of the chain at polls every 30 s, some of which fail', () => {
    const { above, different, gaps, polls, total } = week({
      start,
      incidentHours: 0.15,
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
});
