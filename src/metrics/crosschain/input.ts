import type { RateLimiterInput } from '../../chain/rate-limiter-input.js';
import type { CrosschainSettings } from '../../config/config.js';
import type { Numeral } from '../../json/numeral.js';

/** The input of the cross-chain families: one response and the configuration. */
export interface CrosschainInput {
  readonly document: RateLimiterInput;
  readonly height: Numeral | undefined;
  readonly settings: CrosschainSettings;
  /** Name by chain id. The ids looked up are untrusted: use `Object.hasOwn`, or `constructor` is found. */
  readonly chains: Readonly<Record<string, string>>;
}
