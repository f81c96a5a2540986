import { isDeepStrictEqual } from 'node:util';
import type { DocumentPath } from '../chain/dialects.js';
import type { Config, TargetConfig } from '../config/config.js';
import type { HttpClientConfig } from '../config/http-client-config.js';
import { moduleStateDocument, rateLimiterInputDocument } from '../documents.js';
import type { Endpoint, EndpointKey } from './endpoint-store.js';
import type { ProcessingOptions, ProcessingOptionsBase, PollJob } from './poll.js';

/** One job for each endpoint of each target. */
export function jobsOf(config: Config): PollJob[] {
  const { timeoutMs, maxBodyBytes } = config.poll;
  const limits = { timeoutMs, maxBodyBytes };
  const connectionOf = (baseUrl: string, httpClient: HttpClientConfig | undefined) => ({
    baseUrl,
    limits,
    ...(httpClient && { httpClient }),
  });
  return config.targets.flatMap((target) => {
    const base = processingOptionsBase(config, target);
    const jobs: PollJob[] = [];
    if (target.bridge) {
      const { url, httpClient, ...settings } = target.bridge;
      const connection = connectionOf(url, httpClient);
      jobs.push({
        ...connection,
        paths: moduleStateDocument.paths(settings),
        query: moduleStateDocument.query(settings),
        processing: { ...base, document: 'module_state', settings },
        ...(settings.validatorNames === 'staking' && { names: connection }),
      });
    }
    if (target.crosschain) {
      const { url, httpClient, ...settings } = target.crosschain;
      jobs.push({
        ...connectionOf(url, httpClient),
        paths: rateLimiterInputDocument.paths(settings),
        query: rateLimiterInputDocument.query(settings),
        processing: { ...base, document: 'rate_limiter_input', settings },
      });
    }
    return jobs;
  });
}

export function processingOptionsBase(
  { limits, tokens, chains, validators }: Config,
  { name, labels: targetLabels }: Pick<TargetConfig, 'name' | 'labels'>,
): ProcessingOptionsBase {
  return {
    target: name,
    ...(targetLabels && { targetLabels }),
    labels: { tokens, chains: chainNames(chains), validators: { configured: validators, staking: new Map() } },
    maxSeries: limits.maxSeriesPerFamily,
  };
}

function chainNames(chains: Config['chains']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(chains).map(([id, { name }]) => [id, name]));
}

/** Whether both jobs request the same document of the same node in the same way. */
export function haveSameEndpoint(first: PollJob, second: PollJob): boolean {
  const identityOf = ({ processing, baseUrl, paths, query, httpClient }: PollJob) => [
    endpointKeyOf(processing),
    { baseUrl, paths, query, httpClient },
  ];
  return isDeepStrictEqual(identityOf(first), identityOf(second));
}

/** The paths with this one first. */
export function startingWith(first: DocumentPath, paths: readonly DocumentPath[]): readonly DocumentPath[] {
  return [first, ...paths.filter(({ dialect }) => dialect !== first.dialect)];
}

export function endpointOf({ target, targetLabels, document }: ProcessingOptions): Endpoint {
  return { target, document, ...(targetLabels && { targetLabels }) };
}

export function endpointKeyOf({ target, document }: ProcessingOptions): EndpointKey {
  return { target, document };
}
