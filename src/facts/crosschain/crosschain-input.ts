import type { RateLimiterInput } from '../../chain/rate-limiter-input.js';
import type { Config } from '../../config/config.js';
import type { CrosschainSettings } from '../../config/endpoint-config.js';
import type { Numeral } from '../../chain/numeral.js';
import type { Instant } from '../../clock.js';
import { isValid, validOrUndefined } from '../../chain/field.js';
import { heightSamples, type HeightSample } from '../hub-blocks.js';
import { rememberedNonces, type LowestNonce } from './chains.js';
import { MAX_KEYS, signerKey } from './cctxs.js';

/** The answer of the node about a transaction. */
export type CctxAnswer = 'pending' | 'finished';

/** The answers about transactions, by index, to find new answers in the next poll. */
export type SeenAnswers = ReadonlyMap<string, unknown>;

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
  /** The time of the last such query. */
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
}

/** The past of the next document. */
export function crosschainPast(input: CrosschainInput): CrosschainPast {
  return { at: input.at, heights: heightSamples(input), lowestNonces: rememberedNonces(input) };
}

/** The hub of a document: its chain id, if a transaction comes from there, and the public keys of the signers. */
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
