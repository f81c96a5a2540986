import type { Cctx } from '../chain/rate-limiter-input.js';
import { chainType, type ChainType } from '../chain/known-chains.js';
import { chainName } from '../facts/crosschain/chains.js';
import { currentOutbound, distinctCctxs } from '../facts/crosschain/cctxs.js';
import type { CrosschainInput } from '../facts/crosschain/input.js';
import { orUndefined, required } from '../facts/required-fields.js';
import { count } from '../text/format.js';
import { cctxAmountsText, shortName } from './sentence.js';

/* What the sentences and actions about cross-chain transactions say of a chain, and of the hash of an outbound. */

/** The chain in the summaries of alerts. */
export const THE_CHAIN = 'chain {{ $labels.chain_id }}';

/** A chain by its configured name and id. */
export function chainText(input: Pick<CrosschainInput, 'chains'>, chainId: string): string {
  if (chainId === '') return 'without id';
  const name = chainName(chainId, input);
  return name === '' ? shortName(chainId) : `${shortName(name)} (${shortName(chainId)})`;
}

/** What the hash of an outbound proves. */
export const hashActions: Readonly<Record<ChainType, string>> = {
  evm: 'On an EVM chain, an outbound with a hash should be in a block: without a receipt the hash is wrong. Without a hash, compare its nonce with the transactions of the signers: it is not sent, in the mempool, or executed.',
  bitcoin:
    'On Bitcoin, an outbound with a hash was broadcast: check its fee and its confirmations. Without one, check the signers.',
  other:
    'On this chain, an outbound with a hash was executed and waits for votes. Without one, check the relayer and the signers.',
};

/** What follows for an outbound that is known to have a hash, or to have none. */
const knownHashActions: Readonly<Record<ChainType, readonly [withHash: string, withoutHash: string]>> = {
  evm: [
    'The outbound has a hash, so it should be in a block: look it up on the chain. Without a receipt the hash is wrong; with one, check its confirmations, then the observers.',
    'The outbound has no hash: compare its nonce with the transactions of the signers. It is not sent, in the mempool, or executed.',
  ],
  bitcoin: [
    'The outbound has a hash, so it was broadcast: check its fee and its confirmations.',
    'The outbound has no hash: check the signers.',
  ],
  other: [
    'The outbound has a hash, so it was executed and waits for votes: check the observers.',
    'The outbound has no hash: check the relayer and the signers.',
  ],
};

/** The outbound hash of a pending transaction, empty while nobody has posted one; `undefined` for a node that lists no hashes. */
export function outboundHash(input: CrosschainInput, cctx: Cctx | undefined): string | undefined {
  const hashOf = (other: Cctx): string | undefined => orUndefined(() => required(currentOutbound(other)?.hash));
  const hasHashes = distinctCctxs.pending(input).some((other) => (hashOf(other) ?? '') !== '');
  return hasHashes && cctx !== undefined ? hashOf(cctx) : undefined;
}

export function hashAction(chainId: string, hash: string | undefined): string {
  const type = chainType(chainId);
  if (hash === undefined) return hashActions[type];
  const [withHash, withoutHash] = knownHashActions[type];
  return hash === '' ? withoutHash : withHash;
}

export function hashText(hash: string | undefined): string {
  if (hash === undefined) return '';
  return hash === '' ? ' without an outbound hash' : ' with an outbound hash';
}

/** "80 transactions pending on the chain" and "1.3 eth in them". */
export function pendingTexts(input: CrosschainInput, cctxs: readonly Cctx[]): readonly string[] {
  return [`${count(cctxs.length, 'transaction')} pending on the chain`, cctxAmountsText(input, cctxs)];
}
