import type { PollError } from '../http/errors.js';
import { clock, type Instant } from './clock.js';
import type { NamesJob, NamesResult } from './fetch-names.js';
import type { PollExecutor, PollJob } from './poll.js';

/** An hour: names change a few times a year, and the answer has megabytes. */
const REFRESH_MS = 3_600_000;

/** The names of the validators of one target, as last read from the staking module. */
export interface NamesState {
  readonly names: ReadonlyMap<string, string>;
  /** When the names were read; `undefined` before the first time. */
  readonly readAt: Instant | undefined;
  /** Why the last attempt failed; `undefined` when it succeeded, and before the first. */
  readonly failure: PollError | undefined;
}

interface Source {
  readonly job: NamesJob;
  readonly attemptedAt: Instant | undefined;
  readonly state: NamesState;
}

/** Names of validators from the staking modules of the nodes. Never affects a poll. */
export interface ValidatorNames {
  /** The job with the names that are known. */
  readonly addTo: (job: PollJob) => PollJob;
  /** Reads the names of the target at most once an hour. Call it after a successful poll: the node responds then. */
  readonly refresh: (job: PollJob) => Promise<void>;
  /** Forgets the names of targets that are no longer polled, or at another address. */
  readonly retain: (jobs: readonly PollJob[]) => void;
  /** The state of each target that reads names. */
  readonly states: () => ReadonlyMap<string, NamesState>;
}

const NOTHING_READ: NamesState = { names: new Map(), readAt: undefined, failure: undefined };

export interface NamesEvents {
  /** Reading starts to fail. */
  readonly onFailure: (target: string, error: PollError) => void;
  /** Reading succeeds again. */
  readonly onRecovery: (target: string) => void;
}

export function createValidatorNames(
  executor: Pick<PollExecutor, 'fetchNames'>,
  { onFailure, onRecovery }: NamesEvents,
  now: () => Instant = clock,
): ValidatorNames {
  let sources = new Map<string, Source>();

  return {
    addTo: (job) => {
      const names = sources.get(job.processing.target)?.state.names;
      if (job.names === undefined || names === undefined || names.size === 0) return job;
      const { labels } = job.processing;
      const validators = { ...labels.validators, staking: names };
      return { ...job, processing: { ...job.processing, labels: { ...labels, validators } } };
    },
    refresh: async ({ names: job, processing: { target } }) => {
      const source = sources.get(target);
      if (job === undefined || source === undefined) return;
      const attemptedAt = now();
      const previous = source.attemptedAt;
      if (previous !== undefined && attemptedAt.monotonicMs - previous.monotonicMs < REFRESH_MS) return;
      const attempted = { ...source, attemptedAt };
      sources.set(target, attempted);
      const result = await executor.fetchNames(job);
      // The target may have been removed or changed in the meantime.
      if (sources.get(target) !== attempted) return;
      const state = nextState(source.state, result, now());
      sources.set(target, { ...attempted, state });
      if (state.failure === undefined) {
        if (source.state.failure !== undefined) onRecovery(target);
      } else if (source.state.failure === undefined) {
        onFailure(target, state.failure);
      }
    },
    retain: (jobs) => {
      const previous = sources;
      sources = new Map(
        jobs.flatMap(({ names: job, processing: { target } }): [string, Source][] => {
          if (job === undefined) return [];
          const known = previous.get(target);
          const isKept = known?.job.baseUrl === job.baseUrl;
          return [[target, isKept ? { ...known, job } : { job, attemptedAt: undefined, state: NOTHING_READ }]];
        }),
      );
    },
    states: () => new Map(Array.from(sources, ([target, { state }]) => [target, state])),
  };
}

/** After a failure, the last names stay. */
function nextState(before: NamesState, result: NamesResult, at: Instant): NamesState {
  return result.ok ? { names: result.names, readAt: at, failure: undefined } : { ...before, failure: result.error };
}
