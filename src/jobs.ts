import type { Job, Reading, ReadingBase } from './collect/collect.js';
import type { Config, Target } from './config.js';
import { moduleStateDocument, rateLimiterInputDocument } from './documents.js';
import type { EndpointKey } from './snapshots.js';

/** One job for each endpoint of each target. */
export function jobsOf(config: Config): Job[] {
  const { timeoutMs, maxBodyBytes } = config.poll;
  return config.targets.flatMap((target) => {
    const base = readingBase(config, target);
    const job = (url: string, reading: Reading): Job => ({ url, limits: { timeoutMs, maxBodyBytes }, reading });
    const { bridge, crosschain } = target;
    return [
      ...(bridge === undefined
        ? []
        : [
            job(bridge.url + moduleStateDocument.path(bridge), { ...base, document: 'module_state', settings: bridge }),
          ]),
      ...(crosschain === undefined
        ? []
        : [
            job(crosschain.url + rateLimiterInputDocument.path(crosschain), {
              ...base,
              document: 'rate_limiter_input',
              settings: crosschain,
            }),
          ]),
    ];
  });
}

export function readingBase({ limits, tokens, chains }: Config, { name }: Pick<Target, 'name'>): ReadingBase {
  return { target: name, labels: { tokens, chains }, maxSeries: limits.maxSeriesPerFamily };
}

export function keyOf({ target, document }: Reading): EndpointKey {
  return { target, endpoint: document };
}
