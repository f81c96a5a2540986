import { createClient } from '../http/client.js';
import { inlineDecoder, type Decoder } from './decode.js';
import { fetchNames } from './validator-names.js';
import { poll, type PollExecutor } from './poll.js';

/** Creates an executor that fetches on the calling thread, and decodes there too unless it gets another decoder. */
export function createPollExecutor(userAgent: string, decoder: Decoder = inlineDecoder): PollExecutor {
  const client = createClient(userAgent);
  return {
    poll: async (job) => poll(job, client, decoder),
    fetchNames: async (job) => fetchNames(job, client, decoder),
    close: async () => {
      client.close();
      await decoder.close();
    },
  };
}
