import { decimal, double, highest, isPositive, lowestNumeral, toDouble, type Numeral } from '../../chain/decimal.js';
import { NATIVE, type Cctx } from '../../chain/rate-limiter-input.js';
import { ifPresent, need } from '../../chain/reading.js';
import { gauge, labelledGauge, type Sample } from '../family.js';
import { groupByLabels } from '../grouping.js';
import { unlessWithdrawn } from '../singly.js';
import { chainLabels, currentOutbound, distinctCctxs, lists, outboundForLabels, type ListName } from './cctxs.js';
import type { CrosschainFamily, CrosschainInput } from './input.js';

/** The samples of both lists; a list that cannot be read takes only its own series away. */
function eachList(derive: (cctxs: readonly Cctx[], list: ListName, input: CrosschainInput) => readonly Sample[]) {
  return (input: CrosschainInput): readonly Sample[] =>
    lists.flatMap((list) => unlessWithdrawn(() => derive(distinctCctxs[list](input), list, input)));
}

/** One sample for each set of labels that occurs, of the rows that have it. */
function byLabels<T>(
  all: readonly T[],
  labelsOf: (row: T) => readonly string[],
  value: (group: readonly T[]) => number | undefined,
): readonly Sample[] {
  return groupByLabels(all, labelsOf).map(({ labels, rows }) => ({ labels, value: value(rows) }));
}

function direction({ inbound_params }: Cctx, hubChainIds: readonly string[] | undefined): string {
  if (hubChainIds === undefined) return 'unknown';
  const sender = ifPresent(ifPresent(inbound_params)?.sender_chain_id);
  if (sender === undefined) return '';
  return hubChainIds.includes(sender) ? 'outgoing' : 'incoming';
}

/** The instant it was created; when that is not known, that of its last change; 0 for neither. */
export function createdAt({ cctx_status }: Cctx): Numeral | undefined {
  const status = need(cctx_status);
  const created = need(status.created_timestamp);
  if (isPositive(created)) return created;
  const changed = need(status.lastUpdate_timestamp);
  return isPositive(changed) ? changed : undefined;
}

function hasNoHash(cctx: Cctx): boolean {
  const outbound = currentOutbound(cctx);
  return outbound !== undefined && need(outbound.hash) === '';
}

function lowestOf(values: readonly Numeral[]): number | undefined {
  const low = lowestNumeral(values);
  return low === undefined ? undefined : double(low);
}

const LISTS = ['cctxs_missed', 'cctxs_pending'] as const;

function fieldsOf(...fields: readonly string[]): readonly string[] {
  return LISTS.flatMap((list) => [list, ...['index', ...fields].map((field) => `${list}[].${field}`)]);
}

const CHAIN_FIELD = 'outbound_params[].receiver_chainId';

/** What is missed and pending, by what it is and where it waits. */
export const breakdownFamilies: readonly CrosschainFamily[] = [
  labelledGauge({
    name: 'crosschain_cctxs',
    help: 'Listed transactions, each once, by what they are and the chain they wait on.',
    unit: 'cross-chain transactions',
    reads: [
      ...fieldsOf('cctx_status.status', 'outbound_params[].coin_type', CHAIN_FIELD, 'inbound_params.sender_chain_id'),
      'configuration hub_chain_ids, chains',
    ],
    // Statuses, coin types and directions are closed lists; chain ids are the chain's to choose.
    labels: ['list', 'status', 'coin_type', 'chain_id', 'chain', 'direction'],
    keep: 'fold',
    derive: eachList((cctxs, list, input) =>
      byLabels(
        cctxs,
        (cctx) => [
          list,
          ifPresent(ifPresent(cctx.cctx_status)?.status) ?? '',
          ifPresent(outboundForLabels(cctx)?.coin_type) ?? '',
          ...chainLabels(cctx, input),
          direction(cctx, input.settings.hubChainIds),
        ],
        (group) => group.length,
      ),
    ),
  }),
  labelledGauge({
    name: 'crosschain_oldest_cctx_created_timestamp_seconds',
    help: 'When the oldest listed transaction that waits on a chain was created; of very old ones, when it last changed.',
    unit: 'seconds since 1970',
    reads: [
      ...fieldsOf('cctx_status.created_timestamp', 'cctx_status.lastUpdate_timestamp', CHAIN_FIELD),
      'configuration chains',
    ],
    // Chain ids are the chain's to choose.
    labels: ['list', 'chain_id', 'chain'],
    keep: 'lowest',
    derive: eachList((cctxs, list, input) =>
      byLabels(
        cctxs,
        (cctx) => [list, ...chainLabels(cctx, input)],
        (group) => lowestOf(group.map(createdAt).filter((at) => at !== undefined)),
      ),
    ),
  }),
  labelledGauge({
    name: 'crosschain_cctxs_without_hash',
    help: 'Listed transactions without an outbound hash: not broadcast yet, so the signers are what they wait for.',
    unit: 'cross-chain transactions',
    reads: [...fieldsOf('outbound_params[].hash', CHAIN_FIELD), 'configuration chains'],
    // Chain ids are the chain's to choose.
    labels: ['list', 'chain_id', 'chain'],
    keep: 'fold',
    derive: eachList((cctxs, list, input) =>
      byLabels(
        cctxs,
        (cctx) => [list, ...chainLabels(cctx, input)],
        (group) => group.filter(hasNoHash).length,
      ),
    ),
  }),
  labelledGauge({
    name: 'crosschain_lowest_pending_nonce',
    help: 'Lowest nonce pending on a chain; while it stands still, what comes after it waits as well.',
    unit: 'nonce of the signers on that chain',
    reads: [
      'cctxs_pending',
      'cctxs_pending[].index',
      'cctxs_pending[].outbound_params[].tss_nonce',
      `cctxs_pending[].${CHAIN_FIELD}`,
      'configuration chains',
    ],
    // Chain ids are the chain's to choose.
    labels: ['chain_id', 'chain'],
    keep: 'lowest',
    derive: (input) =>
      byLabels(
        distinctCctxs.pending(input).filter((cctx) => currentOutbound(cctx) !== undefined),
        (cctx) => chainLabels(cctx, input),
        (group) => lowestOf(group.map((cctx) => need(currentOutbound(cctx)?.tss_nonce))),
      ),
  }),
  gauge({
    name: 'crosschain_largest_pending_native_amount',
    help: 'Largest pending amount of the native coin; one that is larger than the limiter allows holds up the others. Absent when none is pending.',
    unit: 'smallest units of the native coin',
    reads: [
      'cctxs_pending',
      'cctxs_pending[].index',
      'cctxs_pending[].outbound_params[].coin_type',
      'cctxs_pending[].outbound_params[].amount',
    ],
    value: (input) => {
      const outbounds = distinctCctxs.pending(input).map(currentOutbound);
      const native = outbounds.filter((outbound) => outbound !== undefined && need(outbound.coin_type) === NATIVE);
      const largest = highest(native.map((outbound) => decimal(need(outbound?.amount))));
      return largest && toDouble(largest);
    },
  }),
];
