import type { Job, Outcome } from './collect.js';

/** Whoever carries out polls: a thread in the daemon, the calling thread in `once` and in tests. */
export interface Collector {
  readonly collect: (job: Job) => Promise<Outcome>;
  readonly close: () => Promise<void>;
}
