import { families, histogram, labeledCounter, type Sample } from '../metrics/family.js';
import { outcomes, type ChainTotals, type CrosschainFlow } from './crosschain-flow.js';
import { addHistograms, histogramSamples, SERIES_PER_HISTOGRAM } from './histogram.js';
import { OTHER } from '../facts/label-value.js';
import { splitTotals } from './totals.js';

/** The samples of each chain. The chains above the limit share the chain `other`, unless it is 0. */
function perChain<Label extends string>(
  seriesPerChain: number,
  samplesOf: (chainId: string, totals: ChainTotals) => readonly Sample<Label>[],
) {
  return ({ chains }: CrosschainFlow, maxSeries: number): readonly Sample<Label>[] => {
    const limit = Math.floor(maxSeries / seriesPerChain);
    const { single, aggregated } = splitTotals(chains, limit - 1);
    const aggregate = aggregated.reduce(sumOf);
    const hasCounted = limit > 0 && outcomes.some((outcome) => aggregate.finished[outcome] > 0);
    return [...single, ...(hasCounted ? [[OTHER, aggregate] as const] : [])].flatMap(([id, totals]) =>
      samplesOf(id, totals),
    );
  };
}

function sumOf(a: ChainTotals, b: ChainTotals): ChainTotals {
  const finished = { ...a.finished };
  for (const outcome of outcomes) finished[outcome] += b.finished[outcome];
  return { ...a, finished, durations: addHistograms(a.durations, b.durations) };
}

/** What happened to cross-chain transactions between polls. */
export const crosschainFlowFamilies = families<CrosschainFlow>({
  crosschain_cctxs_finished_total: labeledCounter({
    help: 'Total number of cross-chain transactions that have left the lists for good, by the chain on which they were pending and by outcome, which is unknown when the node has not reported it.',
    stability: 'experimental',
    // Four outcomes; the number of chain ids is not bounded.
    labels: ['chain_id', 'chain', 'outcome'],
    derive: perChain(outcomes.length, (chainId, { chain, finished }) =>
      outcomes.map((outcome) => ({ labels: { chain_id: chainId, chain, outcome }, value: finished[outcome] })),
    ),
  }),
  crosschain_cctx_duration_seconds: histogram({
    help: 'Time from the creation of a cross-chain transaction to the first document without it, of those with a known outcome.',
    stability: 'experimental',
    // The number of chain ids is not bounded.
    labels: ['chain_id', 'chain'],
    derive: perChain(SERIES_PER_HISTOGRAM, (chainId, { chain, durations }) =>
      histogramSamples(durations, { chain_id: chainId, chain }),
    ),
  }),
});
