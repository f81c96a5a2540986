import { add, compare, lowest, subtract, toDecimalString } from '../../chain/decimal.js';
import { isScheduledByDistance } from '../../chain/known-chains.js';
import type { Cctx } from '../../chain/rate-limiter-input.js';
import type { DecimalString, Numeral } from '../../chain/numeral.js';
import {
  chainName,
  consideredCctxs,
  createdAt,
  distinctCctxs,
  groupByChain,
  hasNoHash,
  isCreationUnknown,
  listNames,
} from '../crosschain/cctxs.js';
import type { CrosschainInput } from '../crosschain/input.js';
import { ageLimitMs, scheduleLookahead } from '../crosschain/limits.js';
import { highestNonce, lowestMissedNonce, lowestNonce, missedOnly, outboundNonce } from '../crosschain/nonces.js';
import { required } from '../required-fields.js';
import { decimalOrNull, isoTimeOrNull, itemList, optionalKey, orNull } from './item-list.js';
import type { ChainItem, ItemList } from './items.js';

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
  return oldestOf(cctxsOf(input, consideredCctxs.pending, chainId));
}

function oldestOf(cctxs: readonly Cctx[]): Numeral | undefined {
  return lowest(cctxs.map(createdAt));
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
    oldestCreatedAt: isoTimeOrNull(() => oldestCreation(input, chainId)),
    ageLimitSeconds: ageLimitMs(chainId, input.settings) / 1000,
    lowestPendingNonce: decimalOrNull(() => lowestNonce(listed(distinctCctxs.pending))),
    highestPendingNonce: decimalOrNull(() => highestNonce(listed(distinctCctxs.pending))),
    lowestMissedNonce: decimalOrNull(() => lowestMissedNonce(listed(missedOnly), listed(distinctCctxs.pending))),
    frozenSince: isoTimeOrNull(() => frozenSince(input, chainId)),
  };
}

/** Those that got their nonce when they were created, because they come from the hub. */
function sentFromHub({ settings }: CrosschainInput, cctxs: readonly Cctx[]): readonly Cctx[] {
  return cctxs.filter(
    (cctx) =>
      !isCreationUnknown(cctx) &&
      settings.hubChainIds.includes(required(required(cctx.inbound_params).sender_chain_id)),
  );
}

/** When the first pending transaction was created whose nonce is out of reach of the clients: the lowest missed one was not finished then. */
function frozenSince(input: CrosschainInput, chainId: string): Numeral | undefined {
  const lookahead = scheduleLookahead(chainId, input);
  const pending = cctxsOf(input, distinctCctxs.pending, chainId);
  const missed = lowestMissedNonce(cctxsOf(input, missedOnly, chainId), pending);
  if (!isScheduledByDistance(chainId) || missed === undefined) return undefined;
  const beyond = pending.filter((cctx) => compare(subtract(required(outboundNonce(cctx)), missed), lookahead) >= 0);
  return oldestOf(sentFromHub(input, beyond));
}

/** Since when more transactions than `backlog_limit` have been missed or pending. Those that are listed now were listed then. */
export function aboveLimitSince(input: CrosschainInput): Numeral | undefined {
  const all = sentFromHub(
    input,
    listNames.flatMap((list) => distinctCctxs[list](input)),
  );
  const times = all.map((cctx) => required(createdAt(cctx))).toSorted(compare);
  return times[input.settings.backlogLimit];
}
