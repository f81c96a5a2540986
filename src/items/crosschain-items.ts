import { isScheduledByDistance } from '../chain/known-chains.js';
import { compare, subtract } from '../chain/numeral.js';
import type { Cctx, Outbound } from '../chain/rate-limiter-input.js';
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
  ignores,
  knownCreation,
  type ListName,
  listNames,
  oldestCreation,
  recordedCreation,
  type UnlistedCctx,
} from '../facts/crosschain/cctxs.js';
import {
  ageLimitMs,
  cctxsOfChain,
  chainName,
  limitReachedAt,
  lowestMissedNonce,
  lowestNonce,
  scheduleLookahead,
  type CctxList,
} from '../facts/crosschain/chains.js';
import type { CrosschainInput } from '../facts/crosschain/crosschain-input.js';
import { decimalOrNull, freeTextOrNull, isoTimeOrNull, toLabelValue, truncatedOrNull } from '../facts/plain-values.js';
import { orNull, required } from '../facts/required-fields.js';
import { durationInWords } from '../text/format.js';
import { itemList, type Filter } from './item-list.js';

export type CrosschainItems = Readonly<ReturnType<typeof crosschainItems>>;
export type ChainRow = Readonly<ReturnType<typeof chainRow>>;
export type CctxRow = Readonly<ReturnType<typeof cctxRow>>;
export type UnlistedRow = Readonly<ReturnType<typeof unlistedRow>>;

/**
 * The pending cross-chain transactions, derived from the same facts as the metrics. `unlisted` is `undefined` without
 * answers of the node.
 */
export function crosschainItems(
  input: CrosschainInput,
  unlisted: readonly UnlistedCctx[] | undefined,
  filter?: Filter,
) {
  return {
    document: 'rate_limiter_input' as const,
    height: decimalOrNull(() => input.document.height),
    chains: chainRows(input, filter),
    missed: cctxRows(input, 'missed', filter),
    unlisted:
      unlisted === undefined
        ? null
        : itemList(
            () => unlisted,
            [({ created }) => created, ({ gone }) => gone],
            (cctx) => unlistedRow(input, cctx),
            { filter, names: ({ index, nonce }) => [index, nonce] },
          ),
    pending: cctxRows(input, 'pending', filter),
  };
}

/**
 * The chains of both lists: chains with missed transactions first, then by the time of the age limit. Unreadable if
 * neither list can be read.
 */
function chainRows(input: CrosschainInput, filter: Filter | undefined) {
  return itemList(
    () => chainIds(input),
    // A constant first key: a chain without pending transactions has no such time, but is not of unknown age.
    [() => 0n, (chainId) => limitReachedAt(input, chainId)],
    (chainId) => chainRow(input, chainId),
    {
      isFirst: (chainId) => (orNull(() => cctxsOfChain(input, consideredCctxs.missed, chainId).length) ?? 0) > 0,
      filter,
      names: (chainId) => [chainId, chainName(chainId, input)],
    },
  );
}

function chainIds(input: CrosschainInput): readonly string[] {
  const ids = listNames.map((list) => orNull(() => Array.from(groupByChain(distinctCctxs[list](input)).keys())));
  const readable = ids.filter((listIds) => listIds !== null);
  return Array.from(new Set(required(readable.length === 0 ? undefined : readable.flat())));
}

/** `null` if it cannot be derived; absent if there is none. */
function orAbsent<T>(derive: () => T | undefined): T | null | undefined {
  const found = orNull(() => ({ value: derive() }));
  return found && found.value;
}

const asText = (value: number | bigint | undefined): string | undefined =>
  value === undefined ? value : String(value);

/** As in the metrics, ignored transactions count only in the nonces. */
function chainRow(input: CrosschainInput, chainId: string) {
  const listed = (list: CctxList) => cctxsOfChain(input, list, chainId);
  const oldest = orAbsent(() => oldestCreation(listed(consideredCctxs.pending)));
  return {
    /** Empty for transactions without a chain. */
    chainId,
    chain: chainName(chainId, input) || (chainId === '' ? 'no chain' : undefined),
    pending: orNull(() => listed(consideredCctxs.pending).length),
    missed: orNull(() => listed(consideredCctxs.missed).length),
    /** Pending transactions whose outbound has no posted hash. */
    withoutHash: orNull(() => listed(consideredCctxs.pending).filter(hasNoHash).length),
    /** When the oldest pending transaction was created; absent without a pending one. */
    oldestCreatedAt: oldest === undefined ? undefined : isoTimeOrNull(() => oldest ?? undefined),
    ageLimit: durationInWords(ageLimitMs(chainId, input.settings) / 1000),
    /** Absent without a pending transaction. */
    lowestPendingNonce: orAbsent(() => asText(lowestNonce(listed(distinctCctxs.pending)))),
    /** Absent without a missed transaction that still affects the chain. */
    lowestMissedNonce: orAbsent(() => asText(lowestMissedNonce(input, chainId))),
  };
}

/** The transactions of a list, oldest first. */
function cctxRows(input: CrosschainInput, list: ListName, filter: Filter | undefined) {
  return itemList(
    () => distinctCctxs[list](input),
    [createdAt, (cctx) => required(required(currentOutbound(cctx)).tss_nonce)],
    (cctx) => cctxRow(input, cctx),
    {
      filter,
      names: (cctx) => [...Object.values(cctxNames(cctx)), orNull(() => currentOutbound(cctx)?.tss_nonce)],
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

/** "bsc", "chain 56"; `null` without an id. */
function chainText(input: CrosschainInput, chainId: string): string | null {
  return chainName(chainId, input) || (chainId === '' ? null : `chain ${chainId}`);
}

const IGNORED = 'left out of metrics and alerts by crosschain.ignore';

function unlistedRow(input: CrosschainInput, cctx: UnlistedCctx) {
  const { index, chainId, nonce, coinType = null, amount, asset, created, gone, isIgnored } = cctx;
  return {
    createdAt: isoTimeOrNull(() => created),
    /** When the first document without the transaction was received. */
    goneAt: isoTimeOrNull(() => gone),
    index: toLabelValue(index),
    chainId: chainId || null,
    chain: chainText(input, chainId),
    /** The nonce of its outbound when it was last listed. */
    nonce: decimalOrNull(() => nonce),
    coin: coinAmountItem(input, chainId, { coinType, amount: decimalOrNull(() => amount), asset }),
    ignored: isIgnored ? IGNORED : undefined,
  };
}

function cctxRow(input: CrosschainInput, cctx: Cctx) {
  const { cctx_status: status } = cctx;
  const inbound = orNull(() => required(cctx.inbound_params));
  const chainId = orNull(() => chainIdLabel(cctx)) ?? '';
  const sourceChainId = orNull(() => toLabelValue(required(inbound?.sender_chain_id))) ?? '';
  const coin = cctxCoin(input, cctx);
  const created = isoTimeOrNull(() => createdAt(cctx));
  return {
    createdAt: created,
    /** Where the creation is unknown, `createdAt` is the time of the last update. */
    createdText:
      created !== null && recordedCreation(cctx) === undefined
        ? 'time of the last update; the creation was earlier'
        : undefined,
    ...cctxNames(cctx),
    sourceChainId: sourceChainId || null,
    sourceChain: chainText(input, sourceChainId),
    /** The chain on which the transaction is pending. */
    chainId: chainId || null,
    chain: chainText(input, chainId),
    nonce: decimalOrNull(() => required(currentOutbound(cctx)).tss_nonce),
    waits: orNull(() => waitText(input, cctx, chainId)),
    status: orNull(() => required(required(status).status)),
    statusMessage: freeTextOrNull(() => required(required(status).status_message)) ?? undefined,
    error: freeTextOrNull(() => required(required(status).error_message)) ?? undefined,
    ignored:
      orNull(() => ignores(input, required(cctx.index), () => knownCreation(cctx))) === true ? IGNORED : undefined,
    coin,
    coinType: coin.coinType,
  };
}

/**
 * What a transaction waits for. A chain executes nonces in order; observers post the hash of an outbound that they see
 * on the chain. Withdrawn when a nonce of any transaction cannot be read.
 */
function waitText(input: CrosschainInput, cctx: Cctx, chainId: string): string {
  const { tss_nonce, hash } = required(currentOutbound(cctx));
  const [nonce, isSent] = [required(tss_nonce), required(hash) !== ''];
  const lowest = lowestNonce(cctxsOfChain(input, distinctCctxs.pending, chainId));
  if (lowest === undefined || compare(nonce, lowest) < 0)
    return 'overtaken by a later nonce: an observer has to post the hash';
  if (isSent) return 'sent, waits for confirmations and votes';
  const missed = isScheduledByDistance(chainId) ? lowestMissedNonce(input, chainId) : undefined;
  if (missed !== undefined && subtract(nonce, missed) > scheduleLookahead(chainId, input))
    return `waits behind the missed nonce ${missed}`;
  return nonce === lowest ? 'not sent, or not seen on its chain yet' : `waits behind nonce ${lowest}`;
}
