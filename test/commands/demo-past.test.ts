import { describe, expect, it } from 'vitest';
import { clock } from '../support/clock.js';
import { demoConfig, pollPast } from '../../src/commands/demo.js';
import { createJobs } from '../../src/engine/jobs.js';
import type { Model } from '../../src/simulator/model.js';
import { knownValidators } from '../../src/queries/validator-queries.js';

/* What the demo shows when it starts. */

describe('the past of a demo', () => {
  it('ends now, with a chain whose blocks are of now', async () => {
    const at = clock();
    const configOf = (chain: Model) => demoConfig('http://127.0.0.1:1', chain);
    // Slow blocks make a fast test.
    const options = { seed: 1, scenario: 'stalled-oracle', blockTimeMs: 20_000, startTime: Math.floor(at.at) } as const;
    const { model, demoState, incidentMinutes } = await pollPast(options, configOf, at);
    // The alert fires after 20 minutes, and is found by the next poll.
    expect(incidentMinutes).toBeGreaterThanOrEqual(20);
    expect(incidentMinutes).toBeLessThanOrEqual(28);
    const pasts = createJobs(configOf(model)).map((job) => demoState(job));
    expect(pasts.map((past) => past?.lastSuccess?.at)).toEqual([at.at, at.at, at.at]);
    const secondsAgo = pasts.map((past) => at.at - (past?.addedAt ?? 0));
    expect(secondsAgo).toEqual(Array.from(secondsAgo, () => (incidentMinutes + 12) * 60));
    const createdAt = model
      .rateLimiterInput()
      .cctxs_pending.map(({ cctx_status }) => Number(cctx_status.created_timestamp));
    expect(at.at - Math.max(...createdAt)).toBeLessThan(120);
    expect(knownValidators(pasts[0]?.queries ?? new Map()).names.size).toBeGreaterThan(10);
  });
});
