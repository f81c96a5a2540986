import {
  consideredCctxs,
  distinctCctxs,
  groupByChain,
  hasNoHash,
  listNames,
  oldestCreation,
} from '../crosschain/cctxs.js';
import {
  ageLimitMs,
  cctxsOfChain,
  chainName,
  frozenSince,
  highestNonce,
  limitReachedAt,
  lowestMissedNonce,
  lowestNonce,
  missedOnly,
  type CctxList,
} from '../crosschain/chains.js';
import type { CrosschainInput } from '../crosschain/input.js';
import { required } from '../required-fields.js';
import { decimalOrNull, isoTimeOrNull, itemList, optionalKey, orNull } from './item-list.js';
import type { ChainItem, ItemList } from './items.js';

/** The chains of both lists. Unreadable if neither list can be read. */
export function chainItems(input: CrosschainInput): ItemList<ChainItem> {
  return itemList(
    () => chainIds(input),
    [optionalKey((chainId) => limitReachedAt(input, chainId))],
    (chainId) => chainItem(input, chainId),
    { isFirst: (chainId) => (orNull(() => cctxsOfChain(input, consideredCctxs.missed, chainId).length) ?? 0) > 0 },
  );
}

function chainIds(input: CrosschainInput): readonly string[] {
  const ids = listNames.map((list) => orNull(() => Array.from(groupByChain(distinctCctxs[list](input)).keys())));
  const readable = ids.filter((own) => own !== null);
  return Array.from(new Set(required(readable.length === 0 ? undefined : readable.flat())));
}

function chainItem(input: CrosschainInput, chainId: string): ChainItem {
  const listed = (list: CctxList) => cctxsOfChain(input, list, chainId);
  return {
    chainId,
    chain: chainName(chainId, input) || null,
    pending: orNull(() => listed(consideredCctxs.pending).length),
    missed: orNull(() => listed(consideredCctxs.missed).length),
    ignored: orNull(() =>
      listNames
        .map((list) => listed(distinctCctxs[list]).length - listed(consideredCctxs[list]).length)
        .reduce((sum, count) => sum + count, 0),
    ),
    withoutHash: orNull(() => listed(consideredCctxs.pending).filter(hasNoHash).length),
    oldestCreatedAt: isoTimeOrNull(() => oldestCreation(listed(consideredCctxs.pending))),
    ageLimitSeconds: ageLimitMs(chainId, input.settings) / 1000,
    lowestPendingNonce: decimalOrNull(() => lowestNonce(listed(distinctCctxs.pending))),
    highestPendingNonce: decimalOrNull(() => highestNonce(listed(distinctCctxs.pending))),
    lowestMissedNonce: decimalOrNull(() => lowestMissedNonce(listed(missedOnly), listed(distinctCctxs.pending))),
    frozenSince: isoTimeOrNull(() => frozenSince(input, chainId)),
  };
}
