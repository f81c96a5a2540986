import { anomalyFamilies, cctxFamilies } from './cctxs.js';
import { limitFamilies } from './limits.js';
import { nonceFamilies } from './nonces.js';
import { rateLimitFamilies } from './rate-limit.js';
import { totalFamilies } from './totals.js';

/** All families of the rate limiter input, in the order of the exposition. */
export const crosschainFamilies = [
  ...totalFamilies,
  ...cctxFamilies,
  ...nonceFamilies,
  ...limitFamilies,
  ...rateLimitFamilies,
  ...anomalyFamilies,
];
