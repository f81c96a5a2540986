import { createClient } from '../http/client.js';
import { collect, type Job, type PollResult } from './collect.js';

/** Executes polls: on a worker thread in the daemon (thread-collector.ts), on the calling thread in `once`. */
export interface Collector {
  readonly collect: (job: Job) => Promise<PollResult>;
  readonly close: () => Promise<void>;
}

/** Starts a collector on the calling thread. */
export function startInlineCollector(userAgent: string): Collector {
  const client = createClient(userAgent);
  return { collect: (job) => collect(job, client), close: async () => undefined };
}
