import { asNumeral } from '../chain/fields.js';
import { floorDivide, type Numeral } from '../chain/numeral.js';
import * as cctxs from '../facts/crosschain/cctxs.js';
import * as chains from '../facts/crosschain/chains.js';
import type { CrosschainInput } from '../facts/crosschain/crosschain-input.js';
import { countElements, optional, required } from '../facts/required-fields.js';
import {
  partByPart,
  families,
  gauge,
  gauges,
  labeledGauge,
  perKind,
  type Derived,
  type LabelValues,
  type Sample,
} from './family.js';

type ChainLabel = (typeof chains.PER_CHAIN.labels)[number];

/** The samples of both lists. An invalid list withdraws only its own series. */
function eachList<Label extends string>(
  derive: (list: cctxs.ListName, input: CrosschainInput) => readonly Sample<Label>[],
) {
  return (input: CrosschainInput): Derived<Label> => partByPart(cctxs.listNames, (list) => derive(list, input));
}

type ValueOfChain = (chainCctxs: cctxs.Cctxs) => Numeral | undefined;

/** A sample for each chain of the transactions. */
function eachChain(listCctxs: (input: CrosschainInput) => cctxs.Cctxs, value: ValueOfChain) {
  return (input: CrosschainInput): readonly Sample<ChainLabel>[] =>
    Array.from(cctxs.groupByChain(listCctxs(input)), ([chainId, chainCctxs]) => ({
      labels: chains.chainLabels(chainId, input),
      value: value(chainCctxs),
    }));
}

/** A sample for each chain of each list. */
function eachChainOfLists(value: ValueOfChain) {
  return eachList((list, input) =>
    eachChain(
      cctxs.consideredCctxs[list],
      value,
    )(input).map((sample) => ({ ...sample, labels: { list, ...sample.labels } })),
  );
}

/** A sample for each chain with listed transactions, in the order of labels. */
function eachListedChain(deriveValue: (chainId: string, input: CrosschainInput) => number) {
  return (input: CrosschainInput): readonly Sample<ChainLabel>[] =>
    cctxs
      .chainsWithOutbounds(input)
      .toSorted()
      .map((chainId) => ({ labels: chains.chainLabels(chainId, input), value: deriveValue(chainId, input) }));
}

const BREAKDOWN_LABELS = ['list', 'status', 'coin_type', 'chain_id', 'chain', 'direction'] as const;

/** The number of transactions of a list by their labels, in document order. */
function breakdown(list: cctxs.ListName, input: CrosschainInput) {
  const counts = new Map<string, { readonly labels: LabelValues<(typeof BREAKDOWN_LABELS)[number]>; value: number }>();
  for (const cctx of cctxs.consideredCctxs[list](input)) {
    const status = optional(optional(cctx.cctx_status)?.status) ?? '';
    const coin_type = optional(cctxs.outboundForLabels(cctx)?.coin_type) ?? '';
    const chainId = cctxs.chainIdLabel(cctx);
    const direction = cctxs.directionLabel(cctx, input);
    // Only the chain id can have a space.
    const key = `${status} ${coin_type} ${direction} ${chainId}`;
    const counted = counts.get(key);
    if (counted !== undefined) counted.value += 1;
    else {
      const labels = { list, status, coin_type, ...chains.chainLabels(chainId, input), direction };
      counts.set(key, { labels, value: 1 });
    }
  }
  return Array.from(counts.values());
}

/** All families of the rate limiter input, in the order of the exposition. */
export const crosschainFamilies = families<CrosschainInput>({
  // prettier-ignore
  ...gauges<CrosschainInput>([
    ['crosschain_height', ({ document }) => required(document.height), 'Hub height at which the rate limiter input was computed.'],
    ['crosschain_total_pending', ({ document }) => required(document.total_pending),
      'Number of missed and pending transactions, listed or not; a transaction that the node finds under two chains counts twice.'],
    ['crosschain_past_cctxs_value', ({ document }) => required(document.past_cctxs_value),
      'Value of past outgoing transactions in the window, of any status, in smallest units of the native coin; assets without a conversion rate count 0.'],
    ['crosschain_pending_cctxs_value', ({ document }) => required(document.pending_cctxs_value),
      'Value of pending transactions, listed or not, with reverts but without missed ones, in smallest units of the native coin; assets without a conversion rate count 0.'],
    ['crosschain_lowest_pending_cctx_height', ({ document }) => required(document.lowest_pending_cctx_height),
      'Lowest inbound height of pending transactions as the node reports it, which mixes heights of different chains.'],
    ['crosschain_cctxs_missed', ({ document }) => countElements(document.cctxs_missed),
      'Number of listed missed transactions, which a later nonce of their chain has overtaken; normally 0.'],
    ['crosschain_cctxs_pending', ({ document }) => countElements(document.cctxs_pending), 'Number of listed pending transactions.'],
    ['crosschain_cctxs_hidden', cctxs.hiddenCount,
      'Number of pending transactions that the node omits from its list; above 0, metrics of listed transactions are lower bounds.'],
  ]),
  crosschain_cctxs: labeledGauge({
    help: 'Number of distinct listed transactions without ignored ones, by list, status, coin type, chain and direction.',
    // Statuses, coin types and directions are enums; the number of chain ids is not bounded.
    labels: BREAKDOWN_LABELS,
    overLimit: 'aggregate',
    derive: eachList(breakdown),
  }),
  crosschain_cctxs_ignored: labeledGauge({
    help: 'Number of distinct listed transactions that the configuration ignores, by list.',
    // Two series per target.
    labels: ['list'],
    derive: eachList((list, input) => [
      { labels: { list }, value: cctxs.distinctCctxs[list](input).length - cctxs.consideredCctxs[list](input).length },
    ]),
  }),
  crosschain_oldest_cctx_created_timestamp_seconds: labeledGauge({
    help: 'Creation time of the oldest listed transaction of a chain; its last update time when the creation time is unknown.',
    // The number of chain ids is not bounded.
    labels: ['list', 'chain_id', 'chain'],
    overLimit: 'keep-lowest',
    derive: eachChainOfLists(cctxs.oldestCreation),
  }),
  crosschain_cctxs_without_hash: labeledGauge({
    help: 'Number of listed transactions of a chain whose outbound has no posted hash.',
    // The number of chain ids is not bounded.
    labels: ['list', 'chain_id', 'chain'],
    overLimit: 'aggregate',
    derive: eachChainOfLists((chainCctxs) => chainCctxs.filter(cctxs.hasNoHash).length),
  }),
  crosschain_largest_pending_native_amount: gauge({
    help: 'Largest pending amount of the native coin, in smallest units.',
    value: cctxs.largestPendingNativeAmount,
  }),
  crosschain_tss_info: labeledGauge({
    help: 'Public keys of the signers in listed outbounds.',
    // One series, two during a rotation; the number in a hostile document is not bounded, and the first ones by label
    // are kept.
    labels: ['tss_pubkey'],
    derive: (input) => cctxs.signerKeyLabels(input).map((key) => ({ labels: { tss_pubkey: key }, value: 1 })),
  }),
  crosschain_lowest_pending_nonce: labeledGauge({
    help: 'Lowest nonce of the listed pending outbounds of a chain; a lower missed nonce can block the chain, too.',
    ...chains.PER_CHAIN,
    overLimit: 'keep-lowest',
    derive: eachChain(cctxs.distinctCctxs.pending, chains.lowestNonce),
  }),
  crosschain_lowest_pending_nonce_changed_timestamp_seconds: labeledGauge({
    help: 'Time of the first complete list with the current lowest pending nonce of a chain, as far as the memory of the exporter goes back.',
    isInstant: true,
    ...chains.PER_CHAIN,
    overLimit: 'keep-lowest',
    derive: (input) =>
      chains.lowestNonces(input).map(({ chainId, since }) => ({
        labels: chains.chainLabels(chainId, input),
        value: since,
      })),
  }),
  crosschain_highest_pending_nonce: labeledGauge({
    help: 'Highest nonce of the listed pending outbounds of a chain.',
    ...chains.PER_CHAIN,
    overLimit: 'keep-largest',
    derive: eachChain(cctxs.distinctCctxs.pending, chains.highestNonce),
  }),
  crosschain_lowest_missed_nonce: labeledGauge({
    help: 'Lowest missed nonce of a chain, among those at most 1000 below the lowest pending nonce.',
    ...chains.PER_CHAIN,
    overLimit: 'keep-lowest',
    derive: (input) =>
      Array.from(cctxs.groupByChain(chains.missedOnly(input)).keys(), (chainId) => ({
        labels: chains.chainLabels(chainId, input),
        value: chains.lowestMissedNonce(input, chainId),
      })),
  }),
  crosschain_age_limit_seconds: labeledGauge({
    help: 'Age above which a pending transaction of a chain is too old.',
    ...chains.PER_CHAIN,
    derive: eachListedChain((chainId, { settings }) => chains.ageLimitMs(chainId, settings) / 1000),
  }),
  crosschain_schedule_lookahead_nonces: labeledGauge({
    help: 'Number of nonces above the lowest missed nonce of a chain that observers schedule.',
    stability: 'experimental',
    ...chains.PER_CHAIN,
    derive: eachListedChain(chains.scheduleLookahead),
  }),
  // prettier-ignore
  ...gauges<CrosschainInput>([
    ['crosschain_backlog_limit_cctxs', ({ settings }) => settings.backlog_limit,
      'Number of missed and pending transactions above which the backlog is high.'],
    ['crosschain_rate_limit_window_blocks', cctxs.effectiveWindow,
      'Effective rate limit window in hub blocks: the configured window, extended to the lowest pending height.'],
    ['crosschain_rate_limit_configured_window_blocks', ({ settings }) => asNumeral(settings.window), 'Configured rate limit window in hub blocks.'],
    ['crosschain_withdraw_amount_per_block', (input) => floorDivide(cctxs.totalValue(input), cctxs.effectiveWindow(input)),
      'Value of past and pending transactions per block of the effective window, in smallest units of the native coin.'],
    ['crosschain_rate_limit_amount_per_block', ({ settings: { rate } }) => (rate === undefined ? undefined : asNumeral(rate)),
      'Configured rate limit, in smallest units of the native coin per block.'],
    ['crosschain_rate_limit_utilization_ratio', (input) => cctxs.rateLimitUse(input)?.utilizationRatio,
      'Value of past and pending transactions divided by the rate limit over the effective window.'],
    ['crosschain_rate_limit_exceeded', (input) => cctxs.rateLimitUse(input)?.exceeded,
      'Whether the value of past and pending transactions exceeds the rate limit over the effective window.'],
  ]),
  crosschain_anomalies: labeledGauge({
    help: 'Number of inconsistencies of the rate limiter input, by kind.',
    // Three series per target.
    labels: ['kind'],
    overLimit: 'aggregate',
    derive: perKind<CrosschainInput>({
      duplicate_cctxs: cctxs.countDuplicates,
      lowest_above_height: ({ document }) =>
        required(document.lowest_pending_cctx_height) > required(document.height) ? 1 : 0,
      cctxs_without_outbound: cctxs.countWithoutOutbound,
    }),
  }),
});
