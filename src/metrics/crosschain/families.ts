import { anomalyFamilies } from './anomalies.js';
import { breakdownFamilies } from './breakdown.js';
import type { CrosschainFamily } from './input.js';
import { numberFamilies } from './numbers.js';
import { rateLimitFamilies } from './rate-limit.js';

/** All families of the rate-limiter input, in the order of the exposition. */
export const crosschainFamilies: readonly CrosschainFamily[] = [
  ...numberFamilies,
  ...breakdownFamilies,
  ...rateLimitFamilies,
  ...anomalyFamilies,
];
