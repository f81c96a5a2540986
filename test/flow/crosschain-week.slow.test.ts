import { describe, expect, it } from 'vitest';
import { sumOf, week } from './crosschain-week.js';

/* Seven days of a main network, in which every scenario has its incident of an hour. */

const INCIDENT_HOURS = 1;
const CALM_HOURS = (7 * 24) / 15 - INCIDENT_HOURS;

/** 40 s of CPU time, on a busy machine minutes. */
const TIMEOUT_MS = 900_000;

describe('the cross-chain flow of a week with every scenario', { timeout: TIMEOUT_MS }, () => {
  it('equals the books of the hub at polls every 30 s, a tenth of which fail', () => {
    const { above, different, gaps, polls, short, total, unseen } = week({
      start: 'mainnet',
      incidentHours: INCIDENT_HOURS,
      calmHours: CALM_HOURS,
      pollSeconds: 30,
      failedShare: 0.1,
    });
    expect(polls).toBeGreaterThan(7 * 24 * 120 * 0.85);
    expect(different.slice(0, 3)).toEqual([]);
    expect(short).toBeLessThanOrEqual(unseen);
    expect(above).toEqual([]);
    expect(gaps).toBeLessThan(polls * 0.1);
    for (const outcome of ['mined', 'reverted', 'aborted']) expect(sumOf(total, outcome), outcome).toBeGreaterThan(0);
  });

  it('is never above the books of the hub at polls every 5 minutes', () => {
    const { above, total } = week({
      start: 'mainnet',
      incidentHours: INCIDENT_HOURS,
      calmHours: CALM_HOURS,
      pollSeconds: 300,
      failedShare: 0,
    });
    expect(above).toEqual([]);
    expect(sumOf(total, 'mined')).toBeGreaterThan(0);
  });
});
