import type { RateLimiterInput } from '../../chain/rate-limiter-input.js';
import type { Config } from '../../config/config.js';
import type { CrosschainSettings } from '../../config/endpoint-config.js';
import type { Numeral } from '../../chain/numeral.js';
import type { Instant } from '../../clock.js';
import { isValid, validOrUndefined } from '../../chain/field.js';
import { MAX_KEYS, signerKey } from './cctxs.js';
import { rememberedNonces, type LowestNonce } from './chains.js';

/** What the node answers about a transaction: its outcome, or that it is still pending. */
export type CctxAnswer = 'mined' | 'reverted' | 'aborted' | 'unknown' | 'pending';

/** The answers about transactions, by their index. They are compared with later answers, to find those that are new. */
export type SeenAnswers = ReadonlyMap<string, unknown>;

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
  /** When the node was last asked about such transactions, on the monotonic clock. */
  readonly cctxsAskedAtMs?: number | undefined;
  /** When the response was received. */
  readonly at: Instant;
  /** `undefined` for the first document of an endpoint. */
  readonly past: CrosschainPast | undefined;
}

/** What families remember of the earlier rate limiter inputs of an endpoint: a bounded number of values, as plain data. */
export interface CrosschainPast {
  /** When the last document was received. */
  readonly at: Instant;
  /** The lowest nonces in the last complete lists. */
  readonly lowestNonces: readonly LowestNonce[];
}

/** What the next document gets as its past. The first one of an endpoint has none. */
export function crosschainPast(input: CrosschainInput): CrosschainPast {
  return { at: input.at, lowestNonces: rememberedNonces(input) };
}

/**
 * What identifies the hub in a document: its chain id, which transactions from it have, and the public keys of the signers. More keys than a
 * rotation has identify nobody.
 */
export function crosschainIdentity(
  { cctxs_missed, cctxs_pending }: RateLimiterInput,
  { hub_chain_ids: hubChainIds }: CrosschainSettings,
): readonly string[] {
  const readable = (list: typeof cctxs_missed) => (isValid(list) ? list.filter(isValid) : []);
  const cctxs = [...readable(cctxs_missed), ...readable(cctxs_pending)];
  const senders = new Set(cctxs.map(({ inbound_params: inbound }) => validOrUndefined(inbound)?.sender_chain_id));
  const keys = new Set(cctxs.map(signerKey).filter((key) => key !== undefined));
  return [...hubChainIds.filter((id) => senders.has(id)), ...Array.from(keys).slice(0, MAX_KEYS)];
}
