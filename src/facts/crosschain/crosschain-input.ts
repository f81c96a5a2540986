import type { RateLimiterInput } from '../../chain/rate-limiter-input.js';
import type { Config } from '../../config/config.js';
import type { CrosschainSettings } from '../../config/endpoint-config.js';
import type { Numeral } from '../../chain/numeral.js';
import type { Instant } from '../../clock.js';
import type { HeightSample } from '../hub-blocks.js';

/** The answer of the node about a transaction. */
export type CctxAnswer = 'pending' | 'finished';

/** The input of the cross-chain families: one response and the configuration. */
export interface CrosschainInput extends Pick<Config, 'tokens'> {
  readonly document: RateLimiterInput;
  /** Hub height of the response header, else of the document. */
  readonly height: Numeral | undefined;
  readonly settings: CrosschainSettings;
  /**
   * Name by chain id. Use `Object.hasOwn`: chain ids are untrusted, and `constructor` is a property of every object.
   */
  readonly chains: Readonly<Record<string, string>>;
  /** How far above the lowest missed nonce clients schedule, by chain id: the answers of the node. */
  readonly lookaheads?: Readonly<Record<string, number>> | undefined;
  /** The answers since the last document about transactions that have left the lists. */
  readonly cctxAnswers?: ReadonlyMap<string, CctxAnswer> | undefined;
  /** When the node was last asked about transactions that have left the lists. */
  readonly cctxsAskedAt?: Instant | undefined;
  /** Whether the node is behind the chain. */
  readonly isNodeBehind?: boolean | undefined;
  /** When the response was received. */
  readonly at: Instant;
  readonly clockOffset: number;
  /** `undefined` for the first document of an endpoint. */
  readonly past: CrosschainPast | undefined;
}

/** The memory of earlier rate limiter inputs of an endpoint: plain data of bounded size. */
export interface CrosschainPast {
  /** When the last document was received. */
  readonly at: Instant;
  readonly heights: readonly HeightSample[];
  /** The lowest nonces in the last complete lists. */
  readonly lowestNonces: readonly LowestNonce[];
  /** When each chain was last listed with a pending transaction, within a day. */
  readonly chains: ReadonlyMap<string, Instant>;
}

interface UnmovedNonce {
  readonly nonce: Numeral;
  /** When the first complete list with this nonce was received. */
  readonly since: Instant;
}

/** The lowest pending nonce of a chain. */
export interface LowestNonce extends UnmovedNonce {
  readonly chainId: string;
  /** The previous nonce, until a second list of a node that is not behind confirms the new one: one list can be odd. */
  readonly before?: UnmovedNonce | undefined;
  /** Whether the last list did not have the chain. */
  readonly isMissing?: true | undefined;
}
