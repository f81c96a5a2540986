import { add, lowest, toDecimalString } from '../chain/decimal.js';
import type { Cctx } from '../chain/rate-limiter-input.js';
import type { DecimalString, Numeral } from '../json/numeral.js';
import {
  chainName,
  consideredCctxs,
  createdAt,
  distinctCctxs,
  groupByChain,
  hasNoHash,
} from '../metrics/crosschain/cctxs.js';
import type { CrosschainInput } from '../metrics/crosschain/input.js';
import { ageLimitMs } from '../metrics/crosschain/limits.js';
import { highestNonce, lowestMissedNonce, lowestNonce, missedOnly } from '../metrics/crosschain/nonces.js';
import { required } from '../metrics/required-fields.js';
import { itemList, optionalKey, orNull } from './item-list.js';
import { isoTime } from './iso-time.js';
import type { ChainItem, ItemList } from './items.js';

const listNames = ['missed', 'pending'] as const;

type CctxList = (input: CrosschainInput) => readonly Cctx[];

/** The chains of both lists. Unreadable if neither list can be read. */
export function chainItems(input: CrosschainInput): ItemList<ChainItem> {
  return itemList(
    () => chainIds(input),
    [optionalKey((chainId) => limitReachedAt(input, chainId))],
    (chainId) => chainItem(input, chainId),
    { isFirst: (chainId) => (orNull(() => cctxsOf(input, consideredCctxs.missed, chainId).length) ?? 0) > 0 },
  );
}

function chainIds(input: CrosschainInput): readonly string[] {
  const ids = listNames.map((list) => orNull(() => Array.from(groupByChain(distinctCctxs[list](input)).keys())));
  const readable = ids.filter((own) => own !== null);
  return Array.from(new Set(required(readable.length === 0 ? undefined : readable.flat())));
}

function cctxsOf(input: CrosschainInput, list: CctxList, chainId: string): readonly Cctx[] {
  return groupByChain(list(input)).get(chainId) ?? [];
}

function oldestCreation(input: CrosschainInput, chainId: string): Numeral | undefined {
  return lowest(cctxsOf(input, consideredCctxs.pending, chainId).map(createdAt));
}

/** When the oldest pending transaction reaches the age limit. */
function limitReachedAt(input: CrosschainInput, chainId: string): DecimalString | undefined {
  const created = oldestCreation(input, chainId);
  return created === undefined
    ? undefined
    : toDecimalString(add(created, { units: BigInt(ageLimitMs(chainId, input.settings)), scale: 3 }));
}

function chainItem(input: CrosschainInput, chainId: string): ChainItem {
  const listed = (list: CctxList): readonly Cctx[] => cctxsOf(input, list, chainId);
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
    oldestCreatedAt: orNull(() => isoTime(oldestCreation(input, chainId))),
    ageLimitSeconds: ageLimitMs(chainId, input.settings) / 1000,
    lowestPendingNonce: digitsOrNull(() => lowestNonce(listed(distinctCctxs.pending))),
    highestPendingNonce: digitsOrNull(() => highestNonce(listed(distinctCctxs.pending))),
    lowestMissedNonce: digitsOrNull(() => lowestMissedNonce(listed(missedOnly), listed(distinctCctxs.pending))),
  };
}

function digitsOrNull(derive: () => Numeral | undefined): DecimalString | null {
  return orNull(() => {
    const value = derive();
    return value === undefined ? undefined : toDecimalString(value);
  });
}
