import { findCoin } from '../../chain/known-chains.js';
import type { Cctx, Outbound } from '../../chain/rate-limiter-input.js';
import type { Field } from '../../chain/field.js';
import { configuredTokens } from '../bridge/tokens.js';
import { orNull, required } from '../required-fields.js';
import type { CrosschainInput } from './crosschain-input.js';
import { amountItem, type KnownToken } from '../bridge/coins.js';
import { chainIdLabel, currentOutbound } from './cctxs.js';
import { decimalOrNull } from '../plain-values.js';

/* The amounts of cross-chain transactions with their coins. */

interface OutboundAmount {
  readonly coinType: string | null;
  readonly amount: string | null;
  readonly asset?: Field<string>;
}

export function cctxCoin(input: CrosschainInput, cctx: Cctx) {
  const outbound = (): Outbound => required(currentOutbound(cctx));
  return coinAmountItem(input, orNull(() => chainIdLabel(cctx)) ?? '', {
    coinType: orNull(() => required(outbound().coin_type)),
    amount: decimalOrNull(() => required(outbound().amount)),
    asset: orNull(() => required(cctx.inbound_params))?.asset,
  });
}

/** An amount with the symbol of its coin; in whole coins if the decimals are known. */
export function coinAmountItem(input: CrosschainInput, chainId: string, { coinType, amount, asset }: OutboundAmount) {
  const coin = findCoin(coinType ?? '', chainId, input.settings.hub_chain_ids) ?? findToken(input, coinType, asset);
  return { coinType, ...amountItem(coin, amount) };
}

function findToken(input: CrosschainInput, coinType: string | null, asset: Field<string>): KnownToken | undefined {
  const contract = orNull(() => required(asset));
  return coinType === 'ERC20' && contract !== null ? configuredTokens(input).get(contract) : undefined;
}
