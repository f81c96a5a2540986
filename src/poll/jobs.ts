import type { Config, TargetConfig } from '../config/config.js';
import { documentNames, documents, type DocumentName } from '../documents.js';
import type { PollJob, ProcessingOptions, ProcessingOptionsBase } from './poll.js';

/** One job for each endpoint of each target. */
export function jobsOf(config: Config): PollJob[] {
  return config.targets.flatMap((target) => documentNames.flatMap((document) => jobOf(config, target, document) ?? []));
}

function jobOf(config: Config, target: TargetConfig, document: DocumentName): PollJob | undefined {
  const endpoint = documents[document].endpoint(target);
  if (endpoint === undefined) return undefined;
  const { connection, settings, paths, query, needsValidatorNames } = endpoint;
  const { url: baseUrl, ...client } = connection;
  const { timeoutMs, maxBodyBytes } = config.poll;
  const request = { baseUrl, ...client, limits: { timeoutMs, maxBodyBytes } };
  return {
    ...request,
    paths,
    query,
    // The settings are those of the document.
    processing: { ...processingOptionsBase(config, target), document, settings } as ProcessingOptions,
    ...(needsValidatorNames && { names: request }),
  };
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

/** The job with the names that the staking module gives to validators. */
export function withNames(job: PollJob, staking: ReadonlyMap<string, string>): PollJob {
  const { labels } = job.processing;
  const validators = { ...labels.validators, staking };
  return { ...job, processing: { ...job.processing, labels: { ...labels, validators } } };
}
