import { createClient } from '../http/client.js';
import { collect } from './collect.js';
import type { Collector } from './collector.js';

/** Collects on the calling thread, where nothing else has to be answered meanwhile. */
export function startInlineCollector(userAgent: string): Collector {
  const client = createClient(userAgent);
  return { collect: (job) => collect(job, client), close: client.close };
}
