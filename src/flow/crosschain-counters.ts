import { PER_CHAIN } from '../facts/crosschain/chains.js';
import { families, histogram, labeledCounter } from '../metrics/family.js';
import { outcomes, type CrosschainFlow } from './crosschain-flow.js';
import { histogramSamples, SERIES_PER_HISTOGRAM } from './histogram.js';
import { totalSamples } from './totals.js';

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
