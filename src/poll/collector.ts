import { createClient } from '../http/client.js';
import { poll, type PollJob, type PollResult } from './collect.js';

/** Executes polls: on a worker thread in the daemon (thread-collector.ts), on the calling thread in `once`. */
export interface PollExecutor {
  readonly poll: (job: PollJob) => Promise<PollResult>;
  readonly close: () => Promise<void>;
}

/** Starts a collector on the calling thread. */
export function createInlineExecutor(userAgent: string): PollExecutor {
  const client = createClient(userAgent);
  return { poll: (job) => poll(job, client), close: async () => undefined };
}
