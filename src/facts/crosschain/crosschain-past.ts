import { isValid, validOrUndefined } from '../../chain/field.js';
import type { RateLimiterInput } from '../../chain/rate-limiter-input.js';
import type { CrosschainSettings } from '../../config/endpoint-config.js';
import { heightSamples } from '../hub-blocks.js';
import { MAX_KEYS, signerKey } from './cctxs.js';
import { chainsOfDay, rememberedNonces } from './chains.js';
import type { CrosschainInput, CrosschainPast } from './crosschain-input.js';

/** The past of the next document. */
export function crosschainPast(input: CrosschainInput): CrosschainPast {
  return {
    at: input.at,
    heights: heightSamples(input),
    lowestNonces: rememberedNonces(input),
    chains: chainsOfDay(input),
  };
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
