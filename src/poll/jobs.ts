import type { Job, Reading, ReadingBase } from './collect.js';
import type { Config, Target } from '../config/config.js';
import { moduleStateDocument, rateLimiterInputDocument } from '../documents.js';
import type { EndpointKey } from './snapshots.js';

/** One job for each endpoint of each target. */
export function jobsOf(config: Config): Job[] {
  const { timeoutMs, maxBodyBytes } = config.poll;
  const limits = { timeoutMs, maxBodyBytes };
  return config.targets.flatMap((target) => {
    const base = readingBase(config, target);
    const jobs: Job[] = [];
    if (target.bridge) {
      const { url, reach, ...settings } = target.bridge;
      const reading: Reading = { ...base, document: 'module_state', settings };
      jobs.push({ url: url + moduleStateDocument.path(settings), ...(reach && { reach }), limits, reading });
    }
    if (target.crosschain) {
      const { url, reach, ...settings } = target.crosschain;
      const reading: Reading = { ...base, document: 'rate_limiter_input', settings };
      jobs.push({ url: url + rateLimiterInputDocument.path(settings), ...(reach && { reach }), limits, reading });
    }
    return jobs;
  });
}

export function readingBase({ limits, tokens, chains }: Config, { name }: Pick<Target, 'name'>): ReadingBase {
  return { target: name, labels: { tokens, chains }, maxSeries: limits.maxSeriesPerFamily };
}

export function keyOf({ target, document }: Reading): EndpointKey {
  return { target, endpoint: document };
}
