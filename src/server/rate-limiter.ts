import type { RateLimit } from './web-config.js';

/** Says of each request whether it may pass: a bucket of tokens that fills by one each interval. */
export function createRateLimiter({ intervalMs, burst }: RateLimit): () => boolean {
  let tokens = burst;
  let countedAt = performance.now();
  return () => {
    const now = performance.now();
    tokens = Math.min(burst, tokens + (now - countedAt) / intervalMs);
    countedAt = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
