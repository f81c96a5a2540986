import { add, highest, lowest, multiply, type Numeral, ratio, subtract } from '../../chain/numeral.js';
import { type Cctx, NATIVE, type Outbound } from '../../chain/rate-limiter-input.js';
import { validOrUndefined, type Field, asNumeral } from '../../chain/fields.js';
import { firstBy, groupBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { countElements, optional, orNull, orUndefined, required, rows } from '../required-fields.js';
import type { CrosschainInput } from './crosschain-input.js';
import { findCoin } from '../../chain/known-chains.js';
import { configuredTokens, amountItem, type KnownToken } from '../bridge/tokens.js';
import { decimalOrNull, MAX_ID_CHARACTERS, toLabelValue } from '../plain-values.js';

export type Cctxs = readonly Cctx[];

/** How to find a transaction on its chain, and its amount. */
export interface OutboundContent {
  readonly nonce?: Numeral | undefined;
  readonly coinType?: string | undefined;
  readonly amount?: Numeral | undefined;
  /** The contract of the token. */
  readonly asset?: string | undefined;
}

/** A transaction that the node does not list, although it answers that it is pending. Times are Unix seconds. */
export interface UnlistedCctx extends OutboundContent {
  readonly index: string;
  readonly chainId: string;
  /** Absent when the hub has not recorded it. */
  readonly created?: number | undefined;
  /** When the first document without the transaction was received. */
  readonly gone: number;
  readonly isIgnored: boolean;
}

export const listNames = ['missed', 'pending'] as const;
export type ListName = (typeof listNames)[number];

/** The rows of a list as in the document. */
export function readList({ document }: CrosschainInput, list: ListName): readonly Cctx[] {
  return rows(list === 'missed' ? document.cctxs_missed : document.cctxs_pending);
}

/** The transactions of a list by index: real nodes can list a transaction twice, under two chains. */
export const cctxsByIndex = memoizePerList((input, list): ReadonlyMap<string, Cctx> =>
  firstBy(readList(input, list), ({ index }) => required(index)),
);

export const distinctCctxs = memoizePerList((input, list): readonly Cctx[] => {
  return Array.from(cctxsByIndex[list](input).values());
});

/** The distinct transactions of a list without ignored ones. */
export const consideredCctxs = memoizePerList((input, list): readonly Cctx[] => {
  const cctxs = distinctCctxs[list](input);
  const { indexes, older_than: olderThanMs } = input.settings.ignore;
  if (indexes.length === 0 && olderThanMs === 0) return cctxs;
  return cctxs.filter((cctx) => !ignores(input, required(cctx.index), () => knownCreation(cctx)));
});

/** Whether the configuration ignores a transaction. */
export function ignores(
  { settings: { ignore }, at, clockOffset }: CrosschainInput,
  index: string,
  created: () => Numeral | undefined,
): boolean {
  const { indexes, older_than: olderThanMs } = ignore;
  if (indexes.includes(index)) return true;
  const seconds = olderThanMs === 0 ? undefined : created();
  return seconds !== undefined && seconds < Math.round((at + clockOffset) * 1000 - olderThanMs) / 1000;
}

/** Groups transactions by the label `chain_id`. */
export const groupByChain = memoize((cctxs: readonly Cctx[]) => groupBy(cctxs, chainIdLabel));

function memoizePerList<T>(derive: (input: CrosschainInput, list: ListName) => T) {
  return {
    missed: memoize((input: CrosschainInput) => derive(input, 'missed')),
    pending: memoize((input: CrosschainInput) => derive(input, 'pending')),
  } as const satisfies Record<ListName, unknown>;
}

/** The last outbound, which of a failed transaction is the revert; `undefined` without outbounds. */
export function currentOutbound({ outbound_params }: Cctx): Outbound | undefined {
  const outbounds = required(outbound_params);
  return outbounds.length === 0 ? undefined : required(outbounds.at(-1));
}

/** Label `chain_id`: the chain on which a transaction is pending; empty when unknown. */
export function chainIdLabel(cctx: Cctx): string {
  const outbound = outboundForLabels(cctx);
  return outbound === undefined ? '' : readChainId(outbound);
}

function readChainId({ receiver_chainId }: Outbound): string {
  return toLabelValue(optional(receiver_chainId) ?? '');
}

/** The current outbound; `undefined` also when it is missing, for labels that are empty then. */
export function outboundForLabels({ outbound_params }: Cctx): Outbound | undefined {
  return optional(optional(outbound_params)?.at(-1));
}

function outboundsForLabels(input: CrosschainInput): readonly Outbound[] {
  return listNames.flatMap((list) => consideredCctxs[list](input).flatMap((cctx) => outboundForLabels(cctx) ?? []));
}

/** Label `chain_id` of each chain with a current outbound. */
export function chainsWithOutbounds(input: CrosschainInput): readonly string[] {
  return Array.from(new Set(outboundsForLabels(input).map(readChainId)));
}

/** Label `direction`: `unknown` when `hub_chain_ids` is empty; empty when the sender is missing. */
export function directionLabel(cctx: Cctx, { settings: { hub_chain_ids: hubChainIds } }: CrosschainInput): string {
  if (hubChainIds.length === 0) return 'unknown';
  const sender = optional(optional(cctx.inbound_params)?.sender_chain_id);
  if (sender === undefined) return '';
  return hubChainIds.includes(sender) ? 'outgoing' : 'incoming';
}

/** Creation time of a transaction in Unix seconds; `undefined` if the hub has not recorded it, or it is missing. */
export function recordedCreation({ cctx_status }: Cctx): Numeral | undefined {
  return positive(validOrUndefined(validOrUndefined(cctx_status)?.created_timestamp));
}

/**
 * Creation time of a transaction in Unix seconds, or the time of the last update when the hub has not recorded the
 * creation.
 */
export function createdAt({ cctx_status }: Cctx): Numeral | undefined {
  const { created_timestamp, lastUpdate_timestamp } = required(cctx_status);
  return positive(required(created_timestamp)) ?? positive(required(lastUpdate_timestamp));
}

/** Whether a transaction has the fields that `createdAt` reads. An old node leaves them out for some transactions. */
export function hasCreation({ cctx_status }: Cctx): boolean {
  const status = optional(cctx_status);
  const created = optional(status?.created_timestamp);
  return created !== undefined && (created > 0 || optional(status?.lastUpdate_timestamp) !== undefined);
}

/** Like `createdAt`; `undefined` when a field is missing. */
export function knownCreation({ cctx_status }: Cctx): Numeral | undefined {
  const status = optional(cctx_status);
  return status && (positive(status.created_timestamp) ?? positive(status.lastUpdate_timestamp));
}

function positive(field: Field<Numeral>): Numeral | undefined {
  const value = optional(field);
  return value !== undefined && value > 0 ? value : undefined;
}

export function hasNoHash(cctx: Cctx): boolean {
  const outbound = currentOutbound(cctx);
  return outbound !== undefined && required(outbound.hash) === '';
}

/** When the oldest of the transactions was created, in Unix seconds. */
export function oldestCreation(cctxs: readonly Cctx[]): Numeral | undefined {
  return lowest(cctxs.map(createdAt));
}

/** The largest pending amount of the native coin; `undefined` when none is pending. */
export function largestPendingNativeAmount(input: CrosschainInput): Numeral | undefined {
  return highest(
    consideredCctxs.pending(input).map((cctx) => {
      const outbound = currentOutbound(cctx);
      return outbound && required(outbound.coin_type) === NATIVE ? required(outbound.amount) : undefined;
    }),
  );
}

/** A chain has one key of its signers, or two during a rotation. */
export const MAX_KEYS = 10;

/** The public key of the signers of a transaction; `undefined` without a readable key. */
export function signerKey(cctx: Cctx): string | undefined {
  const key = orUndefined(() => optional(currentOutbound(cctx)?.tss_pubkey));
  return key === '' || (key !== undefined && key.length > MAX_ID_CHARACTERS) ? undefined : key;
}

/** The public keys of the signers in the listed outbounds as sorted label values. */
export function signerKeyLabels(input: CrosschainInput): readonly string[] {
  const keys = outboundsForLabels(input).map(({ tss_pubkey }) => toLabelValue(optional(tss_pubkey) ?? ''));
  return Array.from(new Set(keys.filter((key) => key !== ''))).toSorted();
}

/** Number of rows in both lists. */
function listedCount({ document }: CrosschainInput): number {
  return countElements(document.cctxs_missed) + countElements(document.cctxs_pending);
}

/** Number of pending transactions in neither list. */
export function hiddenCount(input: CrosschainInput): Numeral {
  const hidden = subtract(required(input.document.total_pending), BigInt(listedCount(input)));
  return hidden > 0n ? hidden : 0n;
}

/** Whether the node has omitted transactions from its lists. */
export function isTruncated(input: CrosschainInput): boolean {
  return hiddenCount(input) > 0;
}

/** Number of rows without outbounds. */
export function countWithoutOutbound(input: CrosschainInput): number {
  return listNames.flatMap((list) => readList(input, list)).filter((cctx) => currentOutbound(cctx) === undefined)
    .length;
}

/** Number of rows that repeat an index of either list. */
export function countDuplicates(input: CrosschainInput): number {
  const indexes = new Set([...cctxsByIndex.missed(input).keys(), ...cctxsByIndex.pending(input).keys()]);
  return listedCount(input) - indexes.size;
}

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

/** The configured window, extended to the lowest pending height. */
export function effectiveWindow({ document, settings }: CrosschainInput): Numeral {
  const configured = asNumeral(settings.window);
  const low = required(document.lowest_pending_cctx_height);
  const extended = add(subtract(required(document.height), low), 1);
  return low !== 0n && extended > configured ? extended : configured;
}

export function totalValue({ document }: CrosschainInput): Numeral {
  return add(required(document.past_cctxs_value), required(document.pending_cctxs_value));
}

/** The value in the window, compared with the value that is allowed; `undefined` without a configured rate. */
export function rateLimitUse(input: CrosschainInput) {
  const { rate } = input.settings;
  if (rate === undefined) return undefined;
  const [value, allowed] = [totalValue(input), multiply(asNumeral(rate), effectiveWindow(input))];
  return { exceeded: value > allowed ? 1 : 0, utilizationRatio: ratio(value, allowed) };
}
