import { isScheduledByDistance } from '../../chain/known-chains.js';
import type { Numeral } from '../../chain/numeral.js';
import { NATIVE, type Cctx, type Outbound } from '../../chain/rate-limiter-input.js';
import type { CrosschainInput } from '../crosschain/crosschain-input.js';
import {
  ageLimitMs,
  cctxsOfChain,
  chainName,
  highestNonce,
  limitReachedAt,
  lowestMissedNonce,
  lowestNonce,
  missedOnly,
  scheduleLookahead,
  type CctxList,
} from '../crosschain/chains.js';
import { effectiveWindow, rateLimitUse } from '../crosschain/rate-limit.js';
import { toLabelValue } from '../label-value.js';
import { countElements, orNull, required } from '../required-fields.js';
import {
  cctxCoin,
  chainIdLabel,
  coinAmountItem,
  consideredCctxs,
  createdAt,
  currentOutbound,
  distinctCctxs,
  groupByChain,
  hasNoHash,
  hiddenCount,
  ignoredBy,
  isCreationUnknown,
  type ListName,
  listNames,
  oldestCreation,
  type UnlistedCctx,
} from '../crosschain/cctxs.js';
import { itemList, optionalKey, type Search, type SortKeys } from './item-list.js';
import { decimalOrNull, formatDecimal, freeTextOrNull, isoTimeOrNull, truncatedOrNull } from '../plain-values.js';

export type CrosschainItems = Readonly<ReturnType<typeof crosschainItems>>;
export type ChainItem = Readonly<ReturnType<typeof chainItem>>;
export type CctxItem = Readonly<ReturnType<typeof cctxItem>>;
export type UnlistedItem = Readonly<ReturnType<typeof unlistedItem>>;

/**
 * The pending cross-chain transactions, derived from the same facts as the metrics. `unlisted` is `undefined` without
 * answers of the node.
 */
export function crosschainItems(
  input: CrosschainInput,
  unlisted: readonly UnlistedCctx[] | undefined,
  search?: Search,
) {
  const { document } = input;
  return {
    document: 'rate_limiter_input' as const,
    height: decimalOrNull(() => document.height),
    /** Number of missed and pending transactions, listed or not. */
    totalPending: decimalOrNull(() => document.total_pending),
    /** Number of transactions in neither list, which may be the oldest. */
    hidden: decimalOrNull(() => hiddenCount(input)),
    chains: chainItems(input, search),
    /** The value of the outgoing transactions, at the rates of the hub. */
    pendingValue: orNull(() => hubAmountItem(input, required(document.pending_cctxs_value))),
    /** `null` without a configured rate. */
    rateLimit: orNull(() => rateLimitItem(input)),
    missed: cctxItems(input, 'missed', search),
    pending: cctxItems(input, 'pending', search),
    unlisted:
      unlisted === undefined
        ? null
        : itemList(
            () => unlisted,
            [({ created }) => created ?? null, ({ gone }) => gone],
            (cctx) => unlistedItem(input, cctx),
            { search, searched: ({ index, nonce }) => [index, nonce] },
          ),
  };
}

function rateLimitItem(input: CrosschainInput) {
  const use = rateLimitUse(input);
  if (use === undefined) return undefined;
  const { value, allowed, isExceeded, utilizationRatio = null } = use;
  return {
    isExceeded,
    utilizationRatio,
    windowBlocks: formatDecimal(effectiveWindow(input)),
    value: hubAmountItem(input, value),
    limit: hubAmountItem(input, allowed),
  };
}

/**
 * The chains of both lists: chains with missed transactions first, then by the time of the age limit. Unreadable if
 * neither list can be read.
 */
function chainItems(input: CrosschainInput, search: Search | undefined) {
  return itemList(
    () => chainIds(input),
    // A chain without pending transactions has no limit to reach, and is not of unknown age.
    [() => 0n, optionalKey((chainId) => limitReachedAt(input, chainId))],
    (chainId) => chainItem(input, chainId),
    {
      isFirst: (chainId) => (orNull(() => cctxsOfChain(input, consideredCctxs.missed, chainId).length) ?? 0) > 0,
      search,
      searched: (chainId) => [chainId, chainName(chainId, input)],
    },
  );
}

function chainIds(input: CrosschainInput): readonly string[] {
  const ids = listNames.map((list) => orNull(() => Array.from(groupByChain(distinctCctxs[list](input)).keys())));
  const readable = ids.filter((listIds) => listIds !== null);
  return Array.from(new Set(required(readable.length === 0 ? undefined : readable.flat())));
}

/** As in the metrics, ignored transactions count only in `ignored` and the nonces. */
function chainItem(input: CrosschainInput, chainId: string) {
  const listed = (list: CctxList) => cctxsOfChain(input, list, chainId);
  return {
    /** Empty for transactions without a chain. */
    chainId,
    chain: chainName(chainId, input) || null,
    pending: orNull(() => listed(consideredCctxs.pending).length),
    missed: orNull(() => listed(consideredCctxs.missed).length),
    ignored: orNull(() =>
      listNames
        .map((list) => listed(distinctCctxs[list]).length - listed(consideredCctxs[list]).length)
        .reduce((sum, count) => sum + count, 0),
    ),
    /** Pending transactions whose outbound has no posted hash. */
    withoutHash: orNull(() => listed(consideredCctxs.pending).filter(hasNoHash).length),
    /** When the oldest pending transaction was created. */
    oldestCreatedAt: isoTimeOrNull(() => oldestCreation(listed(consideredCctxs.pending))),
    ageLimitSeconds: ageLimitMs(chainId, input.settings) / 1000,
    lowestPendingNonce: decimalOrNull(() => lowestNonce(listed(distinctCctxs.pending))),
    highestPendingNonce: decimalOrNull(() => highestNonce(listed(distinctCctxs.pending))),
    lowestMissedNonce: decimalOrNull(() => lowestMissedNonce(listed(missedOnly), listed(distinctCctxs.pending))),
    /** How far above the lowest missed nonce observers send; `null` on a chain without this limit. */
    lookaheadNonces: isScheduledByDistance(chainId) ? scheduleLookahead(chainId, input) : null,
  };
}

/** The transactions of a list, oldest first. */
function cctxItems(input: CrosschainInput, list: ListName, search: Search | undefined) {
  const { cctxs_missed: missed, cctxs_pending: pending } = input.document;
  return itemList(
    () => distinctCctxs[list](input),
    byAge,
    (cctx) => cctxItem(input, cctx),
    {
      countRows: () => countElements(list === 'missed' ? missed : pending),
      search,
      searched: (cctx) => [...Object.values(cctxNames(cctx)), orNull(() => currentOutbound(cctx)?.tss_nonce)],
    },
  );
}

/** The hashes and addresses of a transaction, truncated as they are shown; `null` when unknown. */
function cctxNames(cctx: Cctx) {
  const outbound = (): Outbound => required(currentOutbound(cctx));
  const inbound = orNull(() => required(cctx.inbound_params));
  return {
    index: toLabelValue(required(cctx.index)),
    sender: truncatedOrNull(() => required(inbound?.sender)),
    /** Account that signed the inbound transaction, for which a contract can be the sender. */
    origin: truncatedOrNull(() => required(inbound?.tx_origin)),
    receiver: truncatedOrNull(() => required(outbound().receiver)),
    inboundHash: truncatedOrNull(() => required(inbound?.observed_hash)),
    /** Empty until an observer posts the hash. */
    hash: orNull(() => toLabelValue(required(outbound().hash))),
  };
}

function unlistedItem(input: CrosschainInput, cctx: UnlistedCctx) {
  const { index, chainId, nonce, coinType = null, amount, asset, created, gone, isIgnored } = cctx;
  return {
    index: toLabelValue(index),
    /** The lowest nonce in the last complete document. */
    nonce: decimalOrNull(() => nonce),
    ...coinAmountItem(input, chainId, { coinType, amount: decimalOrNull(() => amount), asset }),
    chainId: chainId || null,
    chain: chainName(chainId, input) || null,
    createdAt: isoTimeOrNull(() => created),
    /** When it had left the lists. */
    goneAt: isoTimeOrNull(() => gone),
    ignored: isIgnored,
  };
}

const byAge: SortKeys<Cctx> = [
  optionalKey(createdAt),
  optionalKey((cctx) => required(required(currentOutbound(cctx)).tss_nonce)),
];

function cctxItem(input: CrosschainInput, cctx: Cctx) {
  const outbound = (): Outbound => required(currentOutbound(cctx));
  const inbound = orNull(() => required(cctx.inbound_params));
  const chainId = orNull(() => chainIdLabel(cctx)) ?? '';
  const sourceChainId = orNull(() => toLabelValue(required(inbound?.sender_chain_id))) ?? '';
  return {
    ...cctxNames(cctx),
    status: orNull(() => required(required(cctx.cctx_status).status)),
    statusMessage: freeTextOrNull(() => required(required(cctx.cctx_status).status_message)),
    error: freeTextOrNull(() => required(required(cctx.cctx_status).error_message)),
    ignored: orNull(() => ignoredBy(input)?.(cctx)) ?? false,
    sourceChainId: sourceChainId || null,
    sourceChain: chainName(sourceChainId, input) || null,
    /** The chain on which the transaction is pending. */
    chainId: chainId || null,
    chain: chainName(chainId, input) || null,
    ...cctxCoin(input, cctx),
    createdAt: isoTimeOrNull(() => createdAt(cctx)),
    /** Whether `createdAt` is the time of the last update. */
    isCreationEstimated: orNull(() => isCreationUnknown(cctx) && createdAt(cctx) !== undefined) ?? false,
    nonce: decimalOrNull(() => outbound().tss_nonce),
  };
}

const hubAmountItem = (input: CrosschainInput, amount: Numeral) =>
  coinAmountItem(input, '', { coinType: NATIVE, amount: formatDecimal(amount) });
