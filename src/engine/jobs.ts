import { chainNames } from '../chain/known-chains.js';
import { hash48, type Config, type TargetConfig } from '../config/config.js';
import {
  documentNames,
  type DocumentName,
  type DocumentTypes,
  type StepContext,
  type TargetOptions,
} from '../document-types.js';
import { documents, type ConfiguredDocument } from '../documents.js';
import type { RequestLimits } from '../http/client.js';
import type { EndpointState } from './endpoint-state.js';

/* The jobs of the configuration. */

/** One endpoint to poll. */
export interface PollJob extends Omit<ConfiguredDocument, 'settings'> {
  readonly limits: RequestLimits;
  readonly intervalMs: number;
  readonly context: StepContext;
}

export function isContract({ context: { document } }: PollJob): boolean {
  return document === 'external_contract';
}

export function createJobs(config: Config): PollJob[] {
  return config.targets.flatMap((target) =>
    documentNames.flatMap((document) => createJob(config, target, document) ?? []),
  );
}

type PolledEndpoint = Pick<EndpointState, 'target' | 'document' | 'lastSuccess' | 'restored'>;

/** The hash of `bridge_exporter_endpoint_hash`: of the bridge whose document is polled, as far as it is known. */
export function endpointHash(state: PolledEndpoint): number {
  const { target, document } = state;
  const { identity = [] } = state.lastSuccess?.snapshot ?? state.restored ?? {};
  return hash48(JSON.stringify([target, document, ...identity.toSorted()]));
}

/** The hash of `bridge_exporter_targets_hash`: equal for the same endpoints in any order. */
export function targetsHash(states: readonly PolledEndpoint[]): number {
  return hash48(
    states
      .map(endpointHash)
      .toSorted((a, b) => a - b)
      .join(),
  );
}

function createJob(config: Config, target: TargetConfig, document: DocumentName): PollJob | undefined {
  const request = documents[document].request(target);
  if (request === undefined) return undefined;
  const { settings, intervalMs, ...rest } = request;
  const { timeout: timeoutMs, max_body_size: maxBodyBytes, interval } = config.poll;
  const context = stepContext(targetOptions(config, target), document, settings, intervalMs);
  const limits = { timeoutMs, maxBodyBytes };
  return { ...rest, limits, intervalMs: intervalMs ?? interval, context };
}

/**
 * `intervalMs`: the interval of a document that is not polled every `poll.interval`. The document is not stale between
 * two polls.
 */
export function stepContext<Name extends DocumentName>(
  options: TargetOptions,
  document: Name,
  settings: DocumentTypes[Name]['settings'],
  intervalMs = 0,
): StepContext<Name> {
  const { maxBodyBytes = Infinity } = documents[document];
  return {
    ...options,
    document,
    settings,
    maxBodyBytes: Math.min(options.maxBodyBytes, maxBodyBytes),
    staleAfterMs: Math.max(options.staleAfterMs, 2 * intervalMs),
  };
}

export function targetOptions(
  { limits, poll, tokens, chains, validators, problems }: Config,
  { name, labels: targetLabels }: Pick<TargetConfig, 'name' | 'labels'>,
): TargetOptions {
  return {
    target: name,
    ...(targetLabels && { targetLabels }),
    names: {
      tokens,
      chains: { ...chainNames, ...Object.fromEntries(Object.entries(chains).map(([id, chain]) => [id, chain.name])) },
      validators,
    },
    maxSeries: limits.max_series_per_family,
    problemSettings: problems,
    maxBodyBytes: poll.max_body_size,
    staleAfterMs: poll.stale_after,
  };
}
