import { createClient } from '../http/client.js';
import { USER_AGENT } from '../cli/version.js';
import { collect } from './collect.js';
import type { Collector } from './collector.js';

/** Collects on the calling thread, where nothing else has to be answered meanwhile. */
export function startInlineCollector(): Collector {
  const client = createClient(USER_AGENT);
  return { collect: (job) => collect(job, client), close: client.close };
}
