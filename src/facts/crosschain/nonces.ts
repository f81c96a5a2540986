import { compare, highest, lowest, subtract, toDecimalString } from '../../chain/decimal.js';
import type { Cctx } from '../../chain/rate-limiter-input.js';
import type { DecimalString, Numeral } from '../../chain/numeral.js';
import { families, labeledGauge, type ExactSample } from '../../metrics/family.js';
import { memoize } from '../memoize.js';
import { orElse, required } from '../required-fields.js';
import { cctxsByIndex, chainLabels, currentOutbound, distinctCctxs, groupByChain, PER_CHAIN } from './cctxs.js';
import type { CrosschainInput } from './input.js';
import { hiddenCount } from './totals.js';

/*
 * Nonces of outbounds. A chain executes them in order, so one that is not finished holds up all others. Ignored transactions count, too.
 */

/** The nonce of the current outbound on its chain. */
export function outboundNonce(cctx: Cctx): Numeral | undefined {
  const outbound = currentOutbound(cctx);
  return outbound && required(outbound.tss_nonce);
}

export const lowestNonce = (cctxs: readonly Cctx[]): Numeral | undefined => lowest(cctxs.map(outboundNonce));
export const highestNonce = (cctxs: readonly Cctx[]): Numeral | undefined => highest(cctxs.map(outboundNonce));

/** The node does not list missed transactions that are further below the lowest pending nonce, unless they are in the window. */
const MAX_NONCES_BELOW = 1000;

/** A missed transaction that is also listed as pending counts as pending. */
export const missedOnly = memoize((input: CrosschainInput): readonly Cctx[] => {
  const pending = cctxsByIndex.pending(input);
  return distinctCctxs.missed(input).filter(({ index }) => !pending.has(required(index)));
});

/** The lowest missed nonce that still affects the chain. */
export function lowestMissedNonce(missed: readonly Cctx[], pending: readonly Cctx[]): Numeral | undefined {
  const lowestPending = lowestNonce(pending);
  const isNear = (nonce: Numeral | undefined): nonce is Numeral =>
    nonce !== undefined &&
    (lowestPending === undefined || compare(subtract(lowestPending, nonce), MAX_NONCES_BELOW) <= 0);
  return lowest(missed.map(outboundNonce).filter(isNear));
}

/** The lowest pending nonce of a chain, and the time of the first complete list that had it. */
export interface LowestNonce {
  readonly chainId: string;
  readonly nonce: DecimalString;
  readonly sinceSeconds: number;
}

/** A truncated list changes nothing: the lowest listed nonce of a chain need not be the lowest one. */
const lowestNonces = memoize((input: CrosschainInput): readonly LowestNonce[] => {
  const previous = input.previous?.lowestNonces ?? [];
  if (compare(hiddenCount(input), 0) > 0) return previous;
  const known = new Map(previous.map((entry) => [entry.chainId, entry]));
  return Array.from(groupByChain(distinctCctxs.pending(input))).flatMap(([chainId, cctxs]): LowestNonce[] => {
    const nonce = lowestNonce(cctxs);
    if (nonce === undefined) return [];
    const before = known.get(chainId);
    if (before !== undefined && compare(before.nonce, nonce) === 0) return [before];
    return [{ chainId, nonce: toDecimalString(nonce), sinceSeconds: input.at.epochSeconds }];
  });
});

/** Bounds the memory. The nonces that have not changed for the longest time are kept. */
const MAX_CHAINS = 1000;

function byTimeAndChain(a: LowestNonce, b: LowestNonce): number {
  return a.sinceSeconds - b.sinceSeconds || (a.chainId < b.chainId ? -1 : 1);
}

/** What the next document gets. A list that cannot be read changes nothing either. */
export function rememberedNonces(input: CrosschainInput): readonly LowestNonce[] {
  const nonces = orElse(
    () => lowestNonces(input),
    () => input.previous?.lowestNonces ?? [],
  );
  return nonces.length <= MAX_CHAINS ? nonces : nonces.toSorted(byTimeAndChain).slice(0, MAX_CHAINS);
}

/** One sample for each chain with pending transactions. */
function eachPendingChain(value: (cctxs: readonly Cctx[]) => Numeral | undefined) {
  return (input: CrosschainInput): readonly ExactSample<'chain_id' | 'chain'>[] =>
    Array.from(groupByChain(distinctCctxs.pending(input)), ([chainId, cctxs]) => ({
      labels: chainLabels(chainId, input),
      value: value(cctxs),
    }));
}

/** The order in which chains execute transactions. */
export const nonceFamilies = families<CrosschainInput>({
  crosschain_lowest_pending_nonce: labeledGauge({
    help: 'Lowest nonce of the listed pending outbounds of a chain; a missed one below it can block the chain as well.',
    ...PER_CHAIN,
    overLimit: 'keep-lowest',
    derive: eachPendingChain(lowestNonce),
  }),
  crosschain_lowest_pending_nonce_changed_timestamp_seconds: labeledGauge({
    help: 'Time of the first complete list in which this process saw the present lowest pending nonce of a chain.',
    ...PER_CHAIN,
    overLimit: 'keep-lowest',
    derive: (input) =>
      lowestNonces(input).map(({ chainId, sinceSeconds }) => ({
        labels: chainLabels(chainId, input),
        value: sinceSeconds,
      })),
  }),
  crosschain_highest_pending_nonce: labeledGauge({
    help: 'Highest nonce of the listed pending outbounds of a chain.',
    ...PER_CHAIN,
    overLimit: 'keep-largest',
    derive: eachPendingChain(highestNonce),
  }),
  crosschain_lowest_missed_nonce: labeledGauge({
    help: 'Lowest nonce of the missed outbounds of a chain that are at most 1000 below its lowest pending one; clients send nothing that is far above it.',
    ...PER_CHAIN,
    overLimit: 'keep-lowest',
    derive: (input) => {
      const missed = groupByChain(missedOnly(input));
      const pending = groupByChain(distinctCctxs.pending(input));
      return Array.from(missed, ([chainId, cctxs]) => ({
        labels: chainLabels(chainId, input),
        value: lowestMissedNonce(cctxs, pending.get(chainId) ?? []),
      }));
    },
  }),
});
