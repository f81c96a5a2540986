import type { Job, JobBase } from './collect/collect.js';
import type { Config } from './config.js';

/** One job for each endpoint of each target. */
export function jobsOf({ targets, poll, limits }: Config): Job[] {
  return targets.flatMap(({ name, bridge, crosschain }) => {
    const base: JobBase = {
      target: name,
      limits: { timeoutMs: poll.timeoutMs, maxBodyBytes: poll.maxBodyBytes },
      maxSeries: limits.maxSeriesPerFamily,
    };
    const jobs: Job[] = [];
    if (bridge !== undefined) jobs.push({ ...base, document: 'module_state', settings: bridge });
    if (crosschain !== undefined) jobs.push({ ...base, document: 'rate_limiter_input', settings: crosschain });
    return jobs;
  });
}
