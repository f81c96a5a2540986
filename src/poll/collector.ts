import type { Job, PollResult } from './collect.js';

/** Whoever carries out polls: a thread in the daemon, the calling thread in `once` and in tests. */
export interface Collector {
  readonly collect: (job: Job) => Promise<PollResult>;
  readonly close: () => Promise<void>;
}
