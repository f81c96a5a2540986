import { createClient } from '../http/client.js';
import { fetchNames } from './fetch-names.js';
import { poll, type PollExecutor } from './poll.js';

/** Creates an executor that polls on the calling thread. */
export function createInlineExecutor(userAgent: string): PollExecutor {
  const client = createClient(userAgent);
  return {
    poll: (job) => poll(job, client),
    fetchNames: (job) => fetchNames(job, client),
    close: async () => undefined,
  };
}
