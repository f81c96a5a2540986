import type { ChainNonces, CrosschainModule } from './crosschain-module.js';
import { LOOKAHEAD } from './external-chains.js';
import type { Rules } from './scenarios.js';

/** What the hub says about its cross-chain module. */
export interface CrosschainStatus {
  readonly isOutboundEnabled: boolean;
  /** The public key of the signers. */
  readonly key: string;
  readonly nonces: readonly ChainNonces[];
  /** How far above the lowest missed nonce clients schedule, by chain id. */
  readonly lookaheads: Readonly<Record<string, number>>;
}

export function crosschainStatus(
  { tssPubkey, nonces, chains }: Pick<CrosschainModule, 'tssPubkey' | 'nonces' | 'chains'>,
  { outboundEnabled }: Rules,
): CrosschainStatus {
  return {
    isOutboundEnabled: outboundEnabled,
    key: tssPubkey,
    nonces,
    lookaheads: Object.fromEntries(chains.map(({ id, lookahead = LOOKAHEAD }) => [id, lookahead])),
  };
}
