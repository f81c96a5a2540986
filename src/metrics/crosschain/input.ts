import type { RateLimiterInput } from '../../chain/rate-limiter-input.js';
import type { Digits } from '../../chain/decimal.js';
import type { Family } from '../family.js';

/** What a cross-chain family is derived from: one response, and nothing that changes by itself. */
export interface CrosschainInput {
  readonly document: RateLimiterInput;
  readonly height: Digits | undefined;
}

export type CrosschainFamily = Family<CrosschainInput>;
