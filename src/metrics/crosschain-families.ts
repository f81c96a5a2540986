import { anomalyFamilies, cctxFamilies } from '../facts/crosschain/cctxs.js';
import { limitFamilies } from '../facts/crosschain/limits.js';
import { nonceFamilies } from '../facts/crosschain/nonces.js';
import { rateLimitFamilies } from '../facts/crosschain/rate-limit.js';
import { totalFamilies } from '../facts/crosschain/totals.js';

/** All families of the rate limiter input, in the order of the exposition. */
export const crosschainFamilies = [
  ...totalFamilies,
  ...cctxFamilies,
  ...nonceFamilies,
  ...limitFamilies,
  ...rateLimitFamilies,
  ...anomalyFamilies,
];
