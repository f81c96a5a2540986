import type { RateLimiterInput } from '../../chain/rate-limiter-input.js';
import type { Config } from '../../config/config.js';
import type { CrosschainSettings } from '../../config/endpoint-config.js';
import type { Numeral } from '../../chain/numeral.js';
import type { Instant } from '../../clock.js';
import type { CrosschainObservations } from './observations.js';

/** What the node answers about a transaction: its outcome, or that it is still pending. */
export type CctxAnswer = 'mined' | 'reverted' | 'aborted' | 'unknown' | 'pending';

/** The input of the cross-chain families: one response and the configuration. */
export interface CrosschainInput extends Pick<Config, 'tokens'> {
  readonly document: RateLimiterInput;
  readonly height: Numeral | undefined;
  readonly settings: CrosschainSettings;
  /** Name by chain id. The ids looked up are untrusted: use `Object.hasOwn`, or `constructor` is found. */
  readonly chains: Readonly<Record<string, string>>;
  /** How far above the lowest missed nonce clients schedule, by chain id, as far as the node has answered. */
  readonly lookaheads?: Readonly<Record<string, number>> | undefined;
  /** What the node has answered since the last document about transactions that have left the lists. */
  readonly cctxAnswers?: ReadonlyMap<string, CctxAnswer> | undefined;
  /** When the response was received. */
  readonly at: Instant;
  /** `undefined` for the first document of an endpoint. */
  readonly previous: CrosschainObservations | undefined;
}
