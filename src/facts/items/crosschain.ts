import { coinOf, type Coin } from '../../chain/known-chains.js';
import type { Cctx, Outbound } from '../../chain/rate-limiter-input.js';
import type { Field } from '../../chain/field.js';
import {
  chainIdLabel,
  createdAt,
  currentOutbound,
  distinctCctxs,
  hiddenCount,
  ignoredBy,
  isCreationUnknown,
  listedCount,
  type ListName,
} from '../crosschain/cctxs.js';
import type { CrosschainInput } from '../crosschain/input.js';
import { aboveLimitSince, chainName } from '../crosschain/chains.js';
import { toLabelValue } from '../label-value.js';
import { lengthOf, required } from '../required-fields.js';
import { chainItems } from './chains.js';
import {
  decimalOrNull,
  freeTextOrNull,
  inWholeUnits,
  isoTimeOrNull,
  itemList,
  optionalKey,
  orNull,
  truncatedOrNull,
  type SortKeys,
} from './item-list.js';
import type { CctxItem, CrosschainItems, ItemList, UnlistedItem } from './items.js';
import { configuredTokens } from '../bridge/tokens.js';

/** A transaction that the node does not list and that is pending, as it says itself. Times are Unix seconds. */
interface UnlistedCctx {
  readonly index: string;
  readonly chainId: string;
  readonly created?: number | undefined;
  readonly gone: number;
  readonly isIgnored: boolean;
}

/**
 * The pending cross-chain transactions, derived from the same lists as the metrics. `unlisted` is `undefined` if the node has not said
 * anything about those that it does not list.
 */
export function crosschainItems(
  input: CrosschainInput,
  unlisted: readonly UnlistedCctx[] | undefined,
): CrosschainItems {
  const { document } = input;
  return {
    document: 'rate_limiter_input',
    height: decimalOrNull(() => document.height),
    totalPending: decimalOrNull(() => document.total_pending),
    listed: orNull(() => listedCount(input)),
    hidden: decimalOrNull(() => hiddenCount(input)),
    chains: chainItems(input),
    aboveLimitSince: isoTimeOrNull(() => aboveLimitSince(input)),
    missed: cctxItems(input, 'missed'),
    pending: cctxItems(input, 'pending'),
    unlisted:
      unlisted === undefined
        ? null
        : itemList(
            () => unlisted,
            [({ created }) => created ?? null, ({ gone }) => gone],
            (cctx) => unlistedItem(input, cctx),
          ),
  };
}

/** The transactions of a list, oldest first. */
export function cctxItems(input: CrosschainInput, list: ListName, maxRows?: number): ItemList<CctxItem> {
  const { cctxs_missed: missed, cctxs_pending: pending } = input.document;
  return itemList(
    () => distinctCctxs[list](input),
    byAge,
    (cctx) => cctxItem(input, cctx),
    { countRows: () => lengthOf(list === 'missed' ? missed : pending), ...(maxRows !== undefined && { maxRows }) },
  );
}

function unlistedItem(
  input: CrosschainInput,
  { index, chainId, created, gone, isIgnored }: UnlistedCctx,
): UnlistedItem {
  return {
    index: toLabelValue(index),
    chainId: chainId || null,
    chain: chainName(chainId, input) || null,
    createdAt: isoTimeOrNull(() => created),
    goneAt: isoTimeOrNull(() => gone),
    ignored: isIgnored,
  };
}

const byAge: SortKeys<Cctx> = [
  optionalKey(createdAt),
  optionalKey((cctx) => required(required(currentOutbound(cctx)).tss_nonce)),
];

function cctxItem(input: CrosschainInput, cctx: Cctx): CctxItem {
  const outbound = (): Outbound => required(currentOutbound(cctx));
  const inbound = orNull(() => required(cctx.inbound_params));
  const chainId = orNull(() => chainIdLabel(cctx)) ?? '';
  const sourceChainId = orNull(() => toLabelValue(required(inbound?.sender_chain_id))) ?? '';
  const coinType = orNull(() => required(outbound().coin_type));
  const amount = decimalOrNull(() => required(outbound().amount));
  const coin = coinOf(coinType ?? '', chainId, input.settings.hubChainIds) ?? tokenOf(input, coinType, inbound?.asset);
  return {
    index: toLabelValue(required(cctx.index)),
    status: orNull(() => required(required(cctx.cctx_status).status)),
    statusMessage: freeTextOrNull(() => required(required(cctx.cctx_status).status_message)),
    error: freeTextOrNull(() => required(required(cctx.cctx_status).error_message)),
    ignored: orNull(() => ignoredBy(input)?.(cctx)) ?? false,
    sourceChainId: sourceChainId || null,
    sourceChain: chainName(sourceChainId, input) || null,
    sender: truncatedOrNull(() => required(inbound?.sender)),
    origin: truncatedOrNull(() => required(inbound?.tx_origin)),
    receiver: truncatedOrNull(() => required(outbound().receiver)),
    inboundHash: truncatedOrNull(() => required(inbound?.observed_hash)),
    chainId: chainId || null,
    chain: chainName(chainId, input) || null,
    coinType,
    symbol: coin?.symbol ?? null,
    amount,
    wholeAmount: coin?.decimals === undefined ? null : inWholeUnits(amount, coin.decimals),
    createdAt: isoTimeOrNull(() => createdAt(cctx)),
    isCreationEstimated: orNull(() => isCreationUnknown(cctx) && createdAt(cctx) !== undefined) ?? false,
    hash: orNull(() => toLabelValue(required(outbound().hash))),
    nonce: decimalOrNull(() => outbound().tss_nonce),
  };
}

/** The configured token of a transfer of tokens. */
function tokenOf(input: CrosschainInput, coinType: string | null, asset: Field<string>): Partial<Coin> | undefined {
  const contract = orNull(() => required(asset));
  const token = coinType === 'ERC20' && contract !== null ? configuredTokens(input).get(contract) : undefined;
  if (token === undefined) return undefined;
  const { symbol, decimals } = token;
  return { ...(symbol !== undefined && { symbol: toLabelValue(symbol) }), ...(decimals !== undefined && { decimals }) };
}
