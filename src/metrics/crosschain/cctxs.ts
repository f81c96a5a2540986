import { compare, highest, lowest } from '../../chain/decimal.js';
import { NATIVE, type Cctx, type Outbound } from '../../chain/rate-limiter-input.js';
import type { Numeral } from '../../json/numeral.js';
import { families, gauge, labeledGauge, perKind, type ExactSample, toLabelValue } from '../family.js';
import { countByLabels, firstBy, groupBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { optional, orEmpty, required, rows } from '../required-fields.js';
import type { CrosschainInput } from './input.js';
import { listedCount } from './totals.js';

const listNames = ['missed', 'pending'] as const;
type ListName = (typeof listNames)[number];

/** The rows of a list as in the document. */
export function rowsOf({ document }: CrosschainInput, list: ListName): readonly Cctx[] {
  return rows(list === 'missed' ? document.cctxs_missed : document.cctxs_pending);
}

/** The distinct transactions of a list by index: real nodes can list a transaction twice, under two chains. */
const cctxsByIndex = memoizePerList((input, list): ReadonlyMap<string, Cctx> =>
  firstBy(rowsOf(input, list), ({ index }) => required(index)),
);

export const distinctCctxs = memoizePerList((input, list): readonly Cctx[] => {
  const all = rowsOf(input, list);
  const byIndex = cctxsByIndex[list](input);
  return byIndex.size === all.length ? all : Array.from(byIndex.values());
});

/** The transactions of a list that are pending on one chain. */
interface ChainBacklog {
  readonly chainId: string;
  readonly chain: string;
  readonly cctxs: readonly Cctx[];
}

const cctxsByChain = memoizePerList((input, list): readonly ChainBacklog[] => {
  const byChainId = groupBy(distinctCctxs[list](input), chainIdLabel);
  return Array.from(byChainId, ([chainId, cctxs]) => ({ chainId, chain: chainName(chainId, input), cctxs }));
});

function memoizePerList<T>(derive: (input: CrosschainInput, list: ListName) => T) {
  return {
    missed: memoize((input: CrosschainInput) => derive(input, 'missed')),
    pending: memoize((input: CrosschainInput) => derive(input, 'pending')),
  } as const satisfies Record<ListName, unknown>;
}

/** The current outbound is the last one; that of a failed transaction is its revert. `undefined` when there is none. */
export function currentOutbound({ outbound_params }: Cctx): Outbound | undefined {
  const outbounds = required(outbound_params);
  return outbounds.length === 0 ? undefined : required(outbounds.at(-1));
}

/** Label `chain_id`: the chain on which a transaction is pending; empty when it is unknown. */
export function chainIdLabel(cctx: Cctx): string {
  return toLabelValue(optional(outboundForLabels(cctx)?.receiver_chainId) ?? '');
}

/** Label `chain`: the configured name of the chain; empty without one. */
export function chainName(chainId: string, { chains }: CrosschainInput): string {
  return toLabelValue(Object.hasOwn(chains, chainId) ? (chains[chainId] ?? '') : '');
}

/** The current outbound, or `undefined` when it is missing, for labels that are empty then. */
function outboundForLabels({ outbound_params }: Cctx): Outbound | undefined {
  return optional(optional(outbound_params)?.at(-1));
}

/** The samples of both lists. An invalid list withdraws only its own series. */
function eachList<Label extends string>(
  derive: (list: ListName, input: CrosschainInput) => readonly ExactSample<Label>[],
) {
  return (input: CrosschainInput): readonly ExactSample<Label>[] =>
    listNames.flatMap((list) => orEmpty(() => derive(list, input)));
}

/** One sample for each chain of a list. */
function eachChain(value: (cctxs: readonly Cctx[]) => Numeral | undefined) {
  return (list: ListName, input: CrosschainInput): readonly ExactSample<'list' | 'chain_id' | 'chain'>[] =>
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
  if (compare(created, 0) > 0) return created;
  const changed = required(required(cctx.cctx_status).lastUpdate_timestamp);
  return compare(changed, 0) > 0 ? changed : undefined;
}

function hasNoHash(cctx: Cctx): boolean {
  const outbound = currentOutbound(cctx);
  return outbound !== undefined && required(outbound.hash) === '';
}

/** The nonce of the transaction on its external chain. */
function outboundNonce(cctx: Cctx): Numeral | undefined {
  const outbound = currentOutbound(cctx);
  return outbound && required(outbound.tss_nonce);
}

/** Missed and pending transactions by chain, status, coin type and direction. */
export const cctxFamilies = families<CrosschainInput>({
  crosschain_cctxs: labeledGauge({
    help: 'Number of distinct listed transactions by list, status, coin type, chain and direction.',
    unit: 'cross-chain transactions',
    // Statuses, coin types and directions are enums; the number of chain ids is not bounded.
    labels: ['list', 'status', 'coin_type', 'chain_id', 'chain', 'direction'],
    overLimit: 'aggregate',
    derive: eachList((list, input) =>
      countByLabels(distinctCctxs[list](input), (cctx) => ({
        list,
        status: optional(optional(cctx.cctx_status)?.status) ?? '',
        coin_type: optional(outboundForLabels(cctx)?.coin_type) ?? '',
        chain_id: chainIdLabel(cctx),
        chain: chainName(chainIdLabel(cctx), input),
        direction: direction(cctx, input.settings.hubChainIds),
      })),
    ),
  }),
  crosschain_oldest_cctx_created_timestamp_seconds: labeledGauge({
    help: 'Creation time of the oldest listed transaction by chain, or its last update time when the creation time is unknown.',
    unit: 'seconds since 1970',
    // The number of chain ids is not bounded.
    labels: ['list', 'chain_id', 'chain'],
    overLimit: 'keep-lowest',
    derive: eachList(eachChain((cctxs) => lowest(cctxs.map(createdAt)))),
  }),
  crosschain_cctxs_without_hash: labeledGauge({
    help: 'Number of listed transactions by chain whose outbound has no hash and is not yet broadcast.',
    unit: 'cross-chain transactions',
    // The number of chain ids is not bounded.
    labels: ['list', 'chain_id', 'chain'],
    overLimit: 'aggregate',
    derive: eachList(eachChain((cctxs) => cctxs.filter(hasNoHash).length)),
  }),
  crosschain_lowest_pending_nonce: labeledGauge({
    help: 'Lowest nonce of the pending outbound transactions of a chain, which all later ones wait for.',
    unit: 'nonce',
    // The number of chain ids is not bounded.
    labels: ['chain_id', 'chain'],
    overLimit: 'keep-lowest',
    derive: (input) =>
      cctxsByChain.pending(input).map(({ chainId, chain, cctxs }) => ({
        labels: { chain_id: chainId, chain },
        value: lowest(cctxs.map(outboundNonce)),
      })),
  }),
  crosschain_largest_pending_native_amount: gauge({
    help: 'Largest pending amount of the native coin, in smallest units; absent when none is pending.',
    unit: 'smallest units of the native coin',
    value: (input) =>
      highest(
        distinctCctxs.pending(input).map((cctx) => {
          const outbound = currentOutbound(cctx);
          return outbound && required(outbound.coin_type) === NATIVE ? required(outbound.amount) : undefined;
        }),
      ),
  }),
});

/** Number of rows whose index occurred before, in the same list or in the other one. */
function duplicates(input: CrosschainInput): number {
  const missed = cctxsByIndex.missed(input);
  const pending = cctxsByIndex.pending(input);
  const [fewer, more] = missed.size < pending.size ? [missed, pending] : [pending, missed];
  const inBoth = Array.from(fewer.keys()).filter((index) => more.has(index)).length;
  return listedCount(input) - (missed.size + pending.size - inBoth);
}

/** Inconsistencies of the rate limiter input. */
export const anomalyFamilies = families<CrosschainInput>({
  crosschain_anomalies: labeledGauge({
    help: 'Number of inconsistencies of the rate limiter input by kind.',
    unit: 'rows; 0 or 1 for lowest_above_height',
    // Three series per target.
    labels: ['kind'],
    overLimit: 'aggregate',
    derive: perKind<CrosschainInput>({
      duplicate_cctxs: duplicates,
      lowest_above_height: ({ document }) =>
        compare(required(document.lowest_pending_cctx_height), required(document.height)) > 0 ? 1 : 0,
      cctxs_without_outbound: (input) =>
        listNames.flatMap((list) => rowsOf(input, list).filter((cctx) => currentOutbound(cctx) === undefined)).length,
    }),
  }),
});
