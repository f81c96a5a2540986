import { performance } from 'node:perf_hooks';
import type { Instant } from './endpoint-state.js';

export function clock(): Instant {
  return { epochSeconds: Date.now() / 1000, monotonicMs: performance.now() };
}
