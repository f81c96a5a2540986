import type { Numeral } from '../../json/decimal.js';
import type { RateLimiterInput } from '../../chain/rate-limiter-input.js';
import type { Places } from '../../json/read-document.js';
import type { Config, CrosschainSettings } from '../../config/config.js';
import type { Family } from '../family.js';

/** What a cross-chain family is derived from: one response and the configuration, and nothing that changes by itself. */
export interface CrosschainInput {
  readonly document: RateLimiterInput;
  /** Has what the document has only the place of. */
  readonly places: Places;
  readonly height: Numeral | undefined;
  readonly settings: CrosschainSettings;
  readonly chains: Config['chains'];
}

export type CrosschainFamily = Family<CrosschainInput>;
