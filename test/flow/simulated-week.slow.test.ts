import { describe, expect, it } from 'vitest';
import { hasCounted, week } from './simulated-week.js';

/* Seven days, in which every scenario has its incident of an hour. */

const HOURS_PER_SCENARIO = (7 * 24) / 15;
const INCIDENT_HOURS = 1;
const CALM_HOURS = HOURS_PER_SCENARIO - INCIDENT_HOURS;
/** What a week of all scenarios has to have. */
const COUNTED = ['batches_executed', 'batches_canceled', 'transfers_executed', 'withdrawn', 'deposited'];

/** 45 s of CPU time, on a busy machine minutes. */
const TIMEOUT_MS = 900_000;

describe('the flow of a week with every scenario', { timeout: TIMEOUT_MS }, () => {
  it('equals the books of the chain at polls every 30 s, a tenth of which fail', () => {
    const { above, different, gaps, polls, total } = week({
      start: 'healthy',
      incidentHours: INCIDENT_HOURS,
      calmHours: CALM_HOURS,
      pollSeconds: 30,
      failedShare: 0.1,
    });
    expect(polls).toBeGreaterThan(7 * 24 * 120 * 0.85);
    expect(different.slice(0, 3)).toEqual([]);
    expect(above).toEqual([]);
    expect(gaps).toBeLessThan(polls * 0.1);
    expect(COUNTED.filter((name) => !hasCounted(total, name))).toEqual([]);
  });

  it('is never above the books of the chain at polls every 5 minutes', () => {
    const { above, total } = week({
      start: 'healthy',
      incidentHours: INCIDENT_HOURS,
      calmHours: CALM_HOURS,
      pollSeconds: 300,
      failedShare: 0,
    });
    expect(above).toEqual([]);
    expect(hasCounted(total, 'batches_executed')).toBe(true);
  });
});
