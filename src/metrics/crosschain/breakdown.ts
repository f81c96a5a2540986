import { compareNumerals, isPositive, lowestNumeral, numeralToDouble } from '../../chain/decimal.js';
import { NATIVE, type Cctx } from '../../chain/rate-limiter-input.js';
import type { Numeral } from '../../json/numeral.js';
import { gauge, labelledGauge, type Sample } from '../family.js';
import { countByLabels } from '../grouping.js';
import { optional, orEmpty, required } from '../required-fields.js';
import {
  cctxsByChain,
  chainIdLabel,
  chainName,
  currentOutbound,
  distinctCctxs,
  listNames,
  outboundForLabels,
  type ListName,
} from './cctxs.js';
import type { CrosschainFamily, CrosschainInput } from './input.js';

/** The samples of both lists. An invalid list withdraws only its own series. */
function eachList<Label extends string>(derive: (list: ListName, input: CrosschainInput) => readonly Sample<Label>[]) {
  return (input: CrosschainInput): readonly Sample<Label>[] =>
    listNames.flatMap((list) => orEmpty(() => derive(list, input)));
}

/** One sample for each chain of a list. */
function eachChain(value: (cctxs: readonly Cctx[]) => number | undefined) {
  return (list: ListName, input: CrosschainInput): readonly Sample<'list' | 'chain_id' | 'chain'>[] =>
    cctxsByChain[list](input).map(({ chainId, chain, cctxs }) => ({
      labels: { list, chain_id: chainId, chain },
      value: value(cctxs),
    }));
}

/** `unknown` when `hub_chain_ids` is not configured; empty when the sender is missing. */
function direction(cctx: Cctx, hubChainIds: readonly string[] | undefined): string {
  if (hubChainIds === undefined) return 'unknown';
  const sender = optional(optional(cctx.inbound_params)?.sender_chain_id);
  if (sender === undefined) return '';
  return hubChainIds.includes(sender) ? 'outgoing' : 'incoming';
}

/** Creation time of a transaction in Unix seconds, or the time of its last update when the creation time is unknown. */
export function createdAt(cctx: Cctx): Numeral | undefined {
  const created = required(required(cctx.cctx_status).created_timestamp);
  if (isPositive(created)) return created;
  const changed = required(required(cctx.cctx_status).lastUpdate_timestamp);
  return isPositive(changed) ? changed : undefined;
}

function hasNoHash(cctx: Cctx): boolean {
  const outbound = currentOutbound(cctx);
  return outbound !== undefined && required(outbound.hash).isEmpty;
}

function lowestOf(cctxs: readonly Cctx[], numeralOf: (cctx: Cctx) => Numeral | undefined): number | undefined {
  const low = lowestNumeral(cctxs, numeralOf);
  return low === undefined ? undefined : numeralToDouble(low);
}

/** The nonce of the transaction on its external chain. */
function outboundNonce(cctx: Cctx): Numeral | undefined {
  const outbound = currentOutbound(cctx);
  return outbound && required(outbound.tss_nonce);
}

const CCTX_LABELS = ['list', 'status', 'coin_type', 'chain_id', 'chain', 'direction'] as const;

/** Missed and pending transactions by chain, status, coin type and direction. */
export const breakdownFamilies: readonly CrosschainFamily[] = [
  labelledGauge({
    name: 'crosschain_cctxs',
    help: 'Number of distinct listed transactions by list, status, coin type, chain and direction.',
    unit: 'cross-chain transactions',
    // Statuses, coin types and directions are enums; the number of chain ids is not bounded.
    labels: CCTX_LABELS,
    overLimit: 'aggregate',
    derive: eachList((list, input) =>
      countByLabels(distinctCctxs[list](input), CCTX_LABELS, {
        list: () => list,
        status: (cctx) => optional(optional(cctx.cctx_status)?.status) ?? '',
        coin_type: (cctx) => optional(outboundForLabels(cctx)?.coin_type) ?? '',
        chain_id: chainIdLabel,
        chain: (cctx) => chainName(chainIdLabel(cctx), input),
        direction: (cctx) => direction(cctx, input.settings.hubChainIds),
      }),
    ),
  }),
  labelledGauge({
    name: 'crosschain_oldest_cctx_created_timestamp_seconds',
    help: 'Creation time of the oldest listed transaction by chain, or its last update time when the creation time is unknown.',
    unit: 'seconds since 1970',
    // The number of chain ids is not bounded.
    labels: ['list', 'chain_id', 'chain'],
    overLimit: 'keep-lowest',
    derive: eachList(eachChain((cctxs) => lowestOf(cctxs, createdAt))),
  }),
  labelledGauge({
    name: 'crosschain_cctxs_without_hash',
    help: 'Number of listed transactions by chain whose outbound has no hash and is not yet broadcast.',
    unit: 'cross-chain transactions',
    // The number of chain ids is not bounded.
    labels: ['list', 'chain_id', 'chain'],
    overLimit: 'aggregate',
    derive: eachList(eachChain((cctxs) => cctxs.filter(hasNoHash).length)),
  }),
  labelledGauge({
    name: 'crosschain_lowest_pending_nonce',
    help: 'Lowest nonce of the pending outbound transactions of a chain, which all later ones wait for.',
    unit: 'nonce',
    // The number of chain ids is not bounded.
    labels: ['chain_id', 'chain'],
    overLimit: 'keep-lowest',
    derive: (input) =>
      cctxsByChain.pending(input).map(({ chainId, chain, cctxs }) => ({
        labels: { chain_id: chainId, chain },
        value: lowestOf(cctxs, outboundNonce),
      })),
  }),
  gauge({
    name: 'crosschain_largest_pending_native_amount',
    help: 'Largest pending amount of the native coin, in smallest units; absent when none is pending.',
    unit: 'smallest units of the native coin',
    value: (input) => {
      let largest: Numeral | undefined;
      for (const cctx of distinctCctxs.pending(input)) {
        const outbound = currentOutbound(cctx);
        if (outbound === undefined || required(outbound.coin_type) !== NATIVE) continue;
        const amount = required(outbound.amount);
        if (largest === undefined || compareNumerals(amount, largest) > 0) largest = amount;
      }
      return largest === undefined ? undefined : numeralToDouble(largest);
    },
  }),
];
