import type { RateLimiterInput } from '../../chain/rate-limiter-input.js';
import type { Config, CrosschainSettings } from '../../config/config.js';
import type { Numeral } from '../../json/numeral.js';
import type { Family } from '../family.js';

/** The input of the cross-chain families: one response and the configuration. */
export interface CrosschainInput {
  readonly document: RateLimiterInput;
  readonly height: Numeral | undefined;
  readonly settings: CrosschainSettings;
  readonly chains: Config['chains'];
}

export type CrosschainFamily = Family<CrosschainInput>;
