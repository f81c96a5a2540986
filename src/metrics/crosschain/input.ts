import type { RateLimiterInput } from '../../chain/rate-limiter-input.js';
import type { Config, CrosschainSettings } from '../../config/config.js';
import type { Family } from '../family.js';
import type { Numeral } from '../../json/numeral.js';

/** What a cross-chain family is derived from: one response and the configuration, and nothing that changes by itself. */
export interface CrosschainInput {
  readonly document: RateLimiterInput;
  readonly height: Numeral | undefined;
  readonly settings: CrosschainSettings;
  readonly chains: Config['chains'];
}

export type CrosschainFamily = Family<CrosschainInput>;
