import { compare, highest, lowest, type Exact } from '../../chain/decimal.js';
import { NATIVE, type Cctx, type Outbound } from '../../chain/rate-limiter-input.js';
import type { Field } from '../../chain/field.js';
import type { Numeral } from '../../chain/numeral.js';
import {
  eachPart,
  families,
  gauge,
  labeledGauge,
  perKind,
  type Derived,
  type ExactSample,
  type LabelValues,
  toLabelValue,
} from '../../metrics/family.js';
import { countByLabels, firstBy, groupBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { optional, required, rows } from '../required-fields.js';
import type { CrosschainInput } from './input.js';
import { listedCount } from './totals.js';

/** The lists of the document. */
export const listNames = ['missed', 'pending'] as const;
export type ListName = (typeof listNames)[number];

/** The rows of a list as in the document. */
export function rowsOf({ document }: CrosschainInput, list: ListName): readonly Cctx[] {
  return rows(list === 'missed' ? document.cctxs_missed : document.cctxs_pending);
}

/** The distinct transactions of a list by index: real nodes can list a transaction twice, under two chains. */
export const cctxsByIndex = memoizePerList((input, list): ReadonlyMap<string, Cctx> =>
  firstBy(rowsOf(input, list), ({ index }) => required(index)),
);

export const distinctCctxs = memoizePerList((input, list): readonly Cctx[] => {
  const all = rowsOf(input, list);
  const byIndex = cctxsByIndex[list](input);
  return byIndex.size === all.length ? all : Array.from(byIndex.values());
});

/** The distinct transactions of a list, without those that the configuration ignores. */
export const consideredCctxs = memoizePerList((input, list): readonly Cctx[] => {
  const all = distinctCctxs[list](input);
  const isIgnored = ignoredBy(input);
  return isIgnored === undefined ? all : all.filter((cctx) => !isIgnored(cctx));
});

/** Whether a transaction is ignored; `undefined` when none can be. */
export const ignoredBy = memoize(
  ({ settings: { ignore }, at }: CrosschainInput): ((cctx: Cctx) => boolean) | undefined => {
    const { indexes, olderThanMs } = ignore;
    if (indexes.length === 0 && olderThanMs === 0) return undefined;
    const ignored = new Set(indexes);
    const oldest: Exact = { units: BigInt(Math.round(at.epochSeconds * 1000) - olderThanMs), scale: 3 };
    const isOlder = (cctx: Cctx): boolean => {
      const created = olderThanMs === 0 ? undefined : knownCreation(cctx);
      return created !== undefined && compare(created, oldest) < 0;
    };
    return (cctx) => ignored.has(required(cctx.index)) || isOlder(cctx);
  },
);

/** Groups transactions by the label `chain_id`. */
export const groupByChain = memoize((cctxs: readonly Cctx[]) => groupBy(cctxs, chainIdLabel));

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
  const outbound = outboundForLabels(cctx);
  return outbound === undefined ? '' : chainIdOf(outbound);
}

function chainIdOf({ receiver_chainId }: Outbound): string {
  return toLabelValue(optional(receiver_chainId) ?? '');
}

/** Label `chain`: the configured or built-in name of the chain; empty without one. */
export function chainName(chainId: string, { chains }: Pick<CrosschainInput, 'chains'>): string {
  return toLabelValue(Object.hasOwn(chains, chainId) ? (chains[chainId] ?? '') : '');
}

// The number of chain ids is not bounded.
export const PER_CHAIN = { labels: ['chain_id', 'chain'] } as const;

export function chainLabels(
  chainId: string,
  input: Pick<CrosschainInput, 'chains'>,
): LabelValues<'chain_id' | 'chain'> {
  return { chain_id: chainId, chain: chainName(chainId, input) };
}

/** The current outbound, or `undefined` when it is missing, for labels that are empty then. */
function outboundForLabels({ outbound_params }: Cctx): Outbound | undefined {
  return optional(optional(outbound_params)?.at(-1));
}

/** The samples of both lists. An invalid list withdraws only its own series. */
function eachList<Label extends string>(
  derive: (list: ListName, input: CrosschainInput) => readonly ExactSample<Label>[],
) {
  return (input: CrosschainInput): Derived<Label, Exact> => eachPart(listNames, (list) => derive(list, input));
}

/** One sample for each chain of a list. */
function eachChain(value: (cctxs: readonly Cctx[]) => Numeral | undefined) {
  return (list: ListName, input: CrosschainInput): readonly ExactSample<'list' | 'chain_id' | 'chain'>[] =>
    Array.from(groupByChain(consideredCctxs[list](input)), ([chainId, cctxs]) => ({
      labels: { list, ...chainLabels(chainId, input) },
      value: value(cctxs),
    }));
}

/** The current outbounds of both lists, for labels. */
function outboundsForLabels(input: CrosschainInput): readonly Outbound[] {
  return listNames.flatMap((list) => consideredCctxs[list](input).flatMap((cctx) => outboundForLabels(cctx) ?? []));
}

/** Label `chain_id` of each chain with a current outbound. */
export function chainsWithOutbounds(input: CrosschainInput): readonly string[] {
  return Array.from(new Set(outboundsForLabels(input).map(chainIdOf)));
}

/** `unknown` when `hub_chain_ids` is empty; empty when the sender is missing. */
function direction(cctx: Cctx, hubChainIds: readonly string[]): string {
  if (hubChainIds.length === 0) return 'unknown';
  const sender = optional(optional(cctx.inbound_params)?.sender_chain_id);
  if (sender === undefined) return '';
  return hubChainIds.includes(sender) ? 'outgoing' : 'incoming';
}

/** Whether the creation time of a transaction is unknown, so that `createdAt` is the time of its last update. */
export function isCreationUnknown({ cctx_status }: Cctx): boolean {
  return compare(required(required(cctx_status).created_timestamp), 0) <= 0;
}

/** Creation time of a transaction in Unix seconds, or the time of its last update when the creation time is unknown. */
export function createdAt(cctx: Cctx): Numeral | undefined {
  if (!isCreationUnknown(cctx)) return required(required(cctx.cctx_status).created_timestamp);
  const changed = required(required(cctx.cctx_status).lastUpdate_timestamp);
  return compare(changed, 0) > 0 ? changed : undefined;
}

/** Like `createdAt`, but a missing time is unknown. */
function knownCreation({ cctx_status }: Cctx): Numeral | undefined {
  const status = optional(cctx_status);
  return status && (positive(status.created_timestamp) ?? positive(status.lastUpdate_timestamp));
}

function positive(field: Field<Numeral>): Numeral | undefined {
  const value = optional(field);
  return value !== undefined && compare(value, 0) > 0 ? value : undefined;
}

export function hasNoHash(cctx: Cctx): boolean {
  const outbound = currentOutbound(cctx);
  return outbound !== undefined && required(outbound.hash) === '';
}

/** Missed and pending transactions by chain, status, coin type and direction. */
export const cctxFamilies = families<CrosschainInput>({
  crosschain_cctxs: labeledGauge({
    help: 'Number of distinct listed transactions by list, status, coin type, chain and direction, without ignored ones.',
    // Statuses, coin types and directions are enums; the number of chain ids is not bounded.
    labels: ['list', 'status', 'coin_type', 'chain_id', 'chain', 'direction'],
    overLimit: 'aggregate',
    derive: eachList((list, input) =>
      countByLabels(consideredCctxs[list](input), (cctx) => ({
        list,
        status: optional(optional(cctx.cctx_status)?.status) ?? '',
        coin_type: optional(outboundForLabels(cctx)?.coin_type) ?? '',
        ...chainLabels(chainIdLabel(cctx), input),
        direction: direction(cctx, input.settings.hubChainIds),
      })),
    ),
  }),
  crosschain_cctxs_ignored: labeledGauge({
    help: 'Number of distinct listed transactions that the configuration ignores, by list.',
    // Two series per target.
    labels: ['list'],
    derive: eachList((list, input) => [
      { labels: { list }, value: distinctCctxs[list](input).length - consideredCctxs[list](input).length },
    ]),
  }),
  crosschain_oldest_cctx_created_timestamp_seconds: labeledGauge({
    help: 'Creation time of the oldest listed transaction by chain, also of a revert, or its last update time when the creation time is unknown.',
    // The number of chain ids is not bounded.
    labels: ['list', 'chain_id', 'chain'],
    overLimit: 'keep-lowest',
    derive: eachList(eachChain((cctxs) => lowest(cctxs.map(createdAt)))),
  }),
  crosschain_cctxs_without_hash: labeledGauge({
    help: 'Number of listed transactions by chain for whose outbound nobody has posted a hash; nodes before version 29 send none for pending ones.',
    // The number of chain ids is not bounded.
    labels: ['list', 'chain_id', 'chain'],
    overLimit: 'aggregate',
    derive: eachList(eachChain((cctxs) => cctxs.filter(hasNoHash).length)),
  }),
  crosschain_largest_pending_native_amount: gauge({
    help: 'Largest pending amount of the native coin, in smallest units; absent when none is pending.',
    value: (input) =>
      highest(
        consideredCctxs.pending(input).map((cctx) => {
          const outbound = currentOutbound(cctx);
          return outbound && required(outbound.coin_type) === NATIVE ? required(outbound.amount) : undefined;
        }),
      ),
  }),
  crosschain_tss_info: labeledGauge({
    help: 'A metric with value 1 for each public key of the signers that is in a listed outbound.',
    // One series, two during a rotation; the number in a hostile document is not bounded, and the first ones by label are kept.
    labels: ['tss_pubkey'],
    derive: (input) => {
      const keys = outboundsForLabels(input).map(({ tss_pubkey }) => toLabelValue(optional(tss_pubkey) ?? ''));
      return Array.from(new Set(keys.filter((key) => key !== '')))
        .toSorted()
        .map((key) => ({ labels: { tss_pubkey: key }, value: 1 }));
    },
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
