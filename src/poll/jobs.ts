import type { Job, DocumentSource, DocumentSourceBase } from './collect.js';
import type { Config, TargetConfig } from '../config/config.js';
import { moduleStateDocument, rateLimiterInputDocument } from '../documents.js';
import type { EndpointKey } from './snapshots.js';

/** One job for each endpoint of each target. */
export function jobsOf(config: Config): Job[] {
  const { timeoutMs, maxBodyBytes } = config.poll;
  const limits = { timeoutMs, maxBodyBytes };
  return config.targets.flatMap((target) => {
    const base = documentSourceBase(config, target);
    const jobs: Job[] = [];
    if (target.bridge) {
      const { url, httpClient: reach, ...settings } = target.bridge;
      const reading: DocumentSource = { ...base, document: 'module_state', settings };
      jobs.push({
        url: url + moduleStateDocument.path(settings),
        ...(reach && { httpClient: reach }),
        limits,
        source: reading,
      });
    }
    if (target.crosschain) {
      const { url, httpClient: reach, ...settings } = target.crosschain;
      const reading: DocumentSource = { ...base, document: 'rate_limiter_input', settings };
      jobs.push({
        url: url + rateLimiterInputDocument.path(settings),
        ...(reach && { httpClient: reach }),
        limits,
        source: reading,
      });
    }
    return jobs;
  });
}

export function documentSourceBase(
  { limits, tokens, chains }: Config,
  { name }: Pick<TargetConfig, 'name'>,
): DocumentSourceBase {
  return { target: name, labels: { tokens, chains }, maxSeries: limits.maxSeriesPerFamily };
}

export function endpointKeyOf({ target, document }: DocumentSource): EndpointKey {
  return { target, endpoint: document };
}
