import { wallSeconds } from '../clock.js';
import type { CrosschainInput } from '../facts/crosschain/crosschain-input.js';
import { chainLabels, PER_CHAIN } from '../facts/crosschain/chains.js';
import { families, labeledGauge, histogram, labeledCounter } from '../metrics/family.js';
import { isPending, type CrosschainFlow, outcomes } from './crosschain-flow.js';
import type { UnlistedCctx } from '../facts/crosschain/cctxs.js';
import { histogramSamples, SERIES_PER_HISTOGRAM, totalSamples } from './totals.js';

/** What happened to cross-chain transactions between polls. */
export const crosschainFlowFamilies = families<CrosschainFlow>({
  crosschain_cctxs_finished_total: labeledCounter({
    help: 'Total number of cross-chain transactions that have left the lists for good, by the chain on which they were pending and by outcome, which is unknown when the node has not reported it.',
    stability: 'experimental',
    // Four outcomes; the number of chain ids is not bounded.
    labels: [...PER_CHAIN.labels, 'outcome'],
    derive: ({ chains }, maxSeries) =>
      totalSamples(chains, maxSeries, outcomes.length, (chainId, { name, counts }) =>
        outcomes.map((outcome) => ({
          labels: { chain_id: chainId, chain: name, outcome },
          value: counts.get(outcome) ?? 0n,
        })),
      ),
  }),
  crosschain_cctx_duration_seconds: histogram({
    help: 'Time from the creation of a cross-chain transaction to the first document without it, of those with a known outcome.',
    stability: 'experimental',
    ...PER_CHAIN,
    derive: ({ chains }, maxSeries) =>
      totalSamples(chains, maxSeries, SERIES_PER_HISTOGRAM, (chainId, { name, durations }) =>
        histogramSamples(durations, { chain_id: chainId, chain: name }),
      ),
  }),
});

/*
 * Unlisted transactions that are pending according to the node: far below the lowest nonce of their chain, where no
 * observer works on them.
 */

export interface TrackedDocument {
  readonly input: CrosschainInput;
  readonly flow: CrosschainFlow;
}

/** `undefined` without queries, and before the first answer of the node. */
export function unlistedCctxs({ input, flow }: TrackedDocument): readonly UnlistedCctx[] | undefined {
  const { settings, at } = input;
  if (settings.cctx_queries === 'off' || !flow.isAnswered) return undefined;
  const { indexes, older_than: olderThanMs } = settings.ignore;
  return Array.from(flow.departed).flatMap(([index, cctx]) => {
    if (!isPending(cctx)) return [];
    const { created } = cctx;
    const isOld = created !== undefined && olderThanMs > 0 && (wallSeconds(at, input) - created) * 1000 > olderThanMs;
    return [{ ...cctx, index, gone: wallSeconds(cctx.at, input), isIgnored: isOld || indexes.includes(index) }];
  });
}

export const unlistedFamilies = families<TrackedDocument>({
  crosschain_cctxs_unlisted: labeledGauge({
    help: 'Number of transactions by chain that have left the lists and are pending according to the node, without ignored ones.',
    stability: 'experimental',
    ...PER_CHAIN,
    overLimit: 'aggregate',
    derive: (tracked) => {
      const { input, flow } = tracked;
      const unlisted = unlistedCctxs(tracked);
      if (unlisted === undefined) return [];
      // The first entry is of chains above the limit.
      const counted = Array.from(flow.chains.keys()).slice(1);
      const counts = new Map(
        [...counted, ...Array.from(flow.departed.values(), ({ chainId }) => chainId)].map((id) => [id, 0]),
      );
      for (const { chainId, isIgnored } of unlisted) {
        if (!isIgnored) counts.set(chainId, (counts.get(chainId) ?? 0) + 1);
      }
      return Array.from(counts, ([chainId, value]) => ({ labels: chainLabels(chainId, input), value }));
    },
  }),
});
