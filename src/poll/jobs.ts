import type { Config, TargetConfig } from '../config/config.js';
import type { HttpClientConfig } from '../config/http-client-config.js';
import { moduleStateDocument, rateLimiterInputDocument } from '../documents.js';
import type { EndpointKey } from './endpoint-store.js';
import type { ProcessingOptions, ProcessingOptionsBase, PollJob } from './poll.js';

/** One job for each endpoint of each target. */
export function jobsOf(config: Config): PollJob[] {
  const { timeoutMs, maxBodyBytes } = config.poll;
  const createJob = (
    url: string,
    httpClient: HttpClientConfig | undefined,
    processing: ProcessingOptions,
  ): PollJob => ({
    url,
    ...(httpClient && { httpClient }),
    limits: { timeoutMs, maxBodyBytes },
    processing,
  });
  return config.targets.flatMap((target) => {
    const base = processingOptionsBase(config, target);
    const jobs: PollJob[] = [];
    if (target.bridge) {
      const { url, httpClient, ...settings } = target.bridge;
      const processing: ProcessingOptions = { ...base, document: 'module_state', settings };
      const job = createJob(url + moduleStateDocument.path(settings), httpClient, processing);
      const { limits } = job;
      const names = { baseUrl: url, limits, ...(httpClient && { httpClient }) };
      jobs.push(settings.validatorNames === 'staking' ? { ...job, names } : job);
    }
    if (target.crosschain) {
      const { url, httpClient, ...settings } = target.crosschain;
      const processing: ProcessingOptions = { ...base, document: 'rate_limiter_input', settings };
      jobs.push(createJob(url + rateLimiterInputDocument.path(settings), httpClient, processing));
    }
    return jobs;
  });
}

export function processingOptionsBase(
  { limits, tokens, chains, validators }: Config,
  { name }: Pick<TargetConfig, 'name'>,
): ProcessingOptionsBase {
  return {
    target: name,
    labels: { tokens, chains, validators: { configured: validators, staking: new Map() } },
    maxSeries: limits.maxSeriesPerFamily,
  };
}

export function endpointKeyOf({ target, document }: ProcessingOptions): EndpointKey {
  return { target, document };
}
