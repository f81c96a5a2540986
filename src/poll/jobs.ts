import type { DocumentPath } from '../chain/dialects.js';
import { chainNames } from '../chain/known-chains.js';
import type { Instant } from '../clock.js';
import type { Config, TargetConfig } from '../config/config.js';
import type { NodeConnection } from '../config/endpoint-config.js';
import type { DocumentName, DocumentTypes, OtherAnswers, StepContext, TargetOptions } from '../document-types.js';
import { documentNames, documents, type DocumentRequest } from '../documents.js';
import type { ContractReading } from '../facts/contract/reading.js';
import type { FetchLimits } from '../http/client.js';
import { cctxAnswers } from '../queries/cctx-outcome.js';
import { lookaheadsOf } from '../queries/chain-switches.js';
import { BEHIND_SECONDS, isNodeBehind } from '../queries/node-status.js';
import { hasStakingNames, validatorsOf } from '../queries/validators.js';
import { exportedSuccess, freshAnswers, isOf, pastOf, type EndpointState } from './endpoint-state.js';

/* The jobs of the configuration, and the other inputs of a poll. */

/** One endpoint to poll. */
export interface PollJob extends NodeConnection, Omit<DocumentRequest, 'connection' | 'settings'> {
  readonly limits: FetchLimits;
  readonly intervalMs: number;
  readonly context: StepContext;
}

export function isContract({ context: { document } }: PollJob): boolean {
  return document === 'external_contract';
}

/** The inputs of a poll besides its job. */
export interface PollInput {
  /** The path of the last successful poll, which is requested first. */
  readonly foundPath?: DocumentPath | undefined;
  readonly otherAnswers?: OtherAnswers | undefined;
  /** Whether all values of a contract are read, also values that most polls leave out. */
  readonly readsAll?: boolean;
}

export function jobsOf(config: Config): PollJob[] {
  return config.targets.flatMap((target) => documentNames.flatMap((document) => jobOf(config, target, document) ?? []));
}

function jobOf(config: Config, target: TargetConfig, document: DocumentName): PollJob | undefined {
  const request = documents[document].request(target);
  if (request === undefined) return undefined;
  const { connection, settings, intervalMs, ...rest } = request;
  const { timeout: timeoutMs, max_body_size: maxBodyBytes, interval } = config.poll;
  const context = stepContext(targetOptions(config, target), document, settings, intervalMs);
  const limits = { timeoutMs, maxBodyBytes };
  return { ...connection, ...rest, limits, intervalMs: intervalMs ?? interval, context };
}

/** `intervalMs`: the interval of a document that is not polled every `poll.interval`. The document is not stale between two polls. */
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
    labels: {
      tokens,
      chains: { ...chainNames, ...Object.fromEntries(Object.entries(chains).map(([id, chain]) => [id, chain.name])) },
      validators,
    },
    maxSeries: limits.max_series_per_family,
    problems,
    maxBodyBytes: poll.max_body_size,
    staleAfterMs: poll.stale_after,
  };
}

/** `siblingOf` returns the endpoint of another document of the target. */
export function pollInput(
  context: StepContext,
  state: EndpointState,
  siblingOf: (document: DocumentName) => EndpointState | undefined,
  at: Instant,
): PollInput {
  return { foundPath: state.lastSuccess?.foundPath, otherAnswers: otherAnswersOf(context, state, siblingOf, at) };
}

function otherAnswersOf(
  context: StepContext,
  state: EndpointState,
  siblingOf: (document: DocumentName) => EndpointState | undefined,
  at: Instant,
): OtherAnswers {
  const snapshot = state.lastSuccess?.snapshot;
  switch (context.document) {
    case 'module_state': {
      const reading = currentReading(siblingOf('external_contract'), at);
      return {
        ...(hasStakingNames(context) && { names: validatorsOf(state.queries).names }),
        externalHeight: reading?.height,
        isContractPaused: reading?.paused,
        isNodeBehind: isNodeBehind(freshAnswers(state, at)),
      };
    }
    case 'rate_limiter_input': {
      const answered = freshAnswers(state, at);
      const seenBefore = isOf(context.document, snapshot) ? snapshot.otherAnswers?.seenAnswers : undefined;
      return { lookaheads: lookaheadsOf(answered), ...cctxAnswers(answered, seenBefore) };
    }
    case 'external_contract':
      return {
        lastReading: pastOf('external_contract', snapshot),
        hubSide: pastOf('module_state', siblingOf('module_state')?.lastSuccess?.snapshot)?.hubSide,
      };
  }
}

/** The last reading of a contract; `undefined` without a recent one, and while its node has only old blocks of the external chain. */
export function currentReading(contract: EndpointState | undefined, at: Instant): ContractReading | undefined {
  const reading = pastOf('external_contract', contract && exportedSuccess(contract, at)?.snapshot);
  return reading !== undefined && at.epochSeconds - reading.blockSeconds <= BEHIND_SECONDS ? reading : undefined;
}
