import type { Config, TargetConfig } from '../config/config.js';
import type { HttpClientConfig } from '../config/http-client-config.js';
import { moduleStateDocument, rateLimiterInputDocument } from '../documents.js';
import type { EndpointKey } from './endpoint-store.js';
import type { DocumentSource, DocumentSourceBase, PollJob } from './poll.js';

/** One job for each endpoint of each target. */
export function jobsOf(config: Config): PollJob[] {
  const { timeoutMs, maxBodyBytes } = config.poll;
  const createJob = (url: string, httpClient: HttpClientConfig | undefined, source: DocumentSource): PollJob => ({
    url,
    ...(httpClient && { httpClient }),
    limits: { timeoutMs, maxBodyBytes },
    source,
  });
  return config.targets.flatMap((target) => {
    const base = documentSourceBase(config, target);
    const jobs: PollJob[] = [];
    if (target.bridge) {
      const { url, httpClient, ...settings } = target.bridge;
      const source: DocumentSource = { ...base, document: 'module_state', settings };
      jobs.push(createJob(url + moduleStateDocument.path(settings), httpClient, source));
    }
    if (target.crosschain) {
      const { url, httpClient, ...settings } = target.crosschain;
      const source: DocumentSource = { ...base, document: 'rate_limiter_input', settings };
      jobs.push(createJob(url + rateLimiterInputDocument.path(settings), httpClient, source));
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
  return { target, document };
}
