import { addHistograms, histogramSamples, SERIES_PER_HISTOGRAM } from './histogram.js';
import { outcomes, type ChainCounts } from './chain-counts.js';
import type { CrosschainFlow } from './crosschain-flow.js';
import { cumulativeFamilies, type SeriesSample } from './cumulative-family.js';

/** The samples of each chain. Those above the limit share the series `other`, which are there once they have counted. */
function perChain(seriesPerChain: number, samplesOf: (counts: ChainCounts) => readonly SeriesSample[]) {
  return ({ chains }: CrosschainFlow, maxSeries: number): readonly SeriesSample[] => {
    const limit = Math.floor(maxSeries / seriesPerChain);
    if (limit === 0) return [];
    const own = chains.slice(1, limit);
    const others = [...chains.slice(0, 1), ...chains.slice(1 + own.length)].reduce(together);
    const hasCounted = Object.values(others.finished).some((count) => count > 0);
    return [...own, ...(hasCounted ? [others] : [])].flatMap(samplesOf);
  };
}

function together(first: ChainCounts, second: ChainCounts): ChainCounts {
  const { mined, reverted, aborted, unknown } = second.finished;
  return {
    ...first,
    finished: {
      mined: first.finished.mined + mined,
      reverted: first.finished.reverted + reverted,
      aborted: first.finished.aborted + aborted,
      unknown: first.finished.unknown + unknown,
    },
    durations: addHistograms(first.durations, second.durations),
  };
}

/** What happened to cross-chain transactions between polls. */
export const crosschainFlowFamilies = cumulativeFamilies<CrosschainFlow>({
  crosschain_cctxs_finished_total: {
    type: 'counter',
    help: 'Total number of cross-chain transactions that have left the lists for good, by the chain on which they were pending and by outcome, which is unknown when the node has not reported it.',
    // Four outcomes; the number of chain ids is not bounded.
    labels: ['chain_id', 'chain', 'outcome'],
    derive: perChain(outcomes.length, ({ chainId, chain, finished }) =>
      outcomes.map((outcome) => ({ labels: { chain_id: chainId, chain, outcome }, value: finished[outcome] })),
    ),
  },
  crosschain_cctx_duration_seconds: {
    type: 'histogram',
    help: 'Time from the creation of a cross-chain transaction to the first document without it, of those with a known outcome.',
    // The number of chain ids is not bounded.
    labels: ['chain_id', 'chain'],
    derive: perChain(SERIES_PER_HISTOGRAM, ({ chainId, chain, durations }) =>
      histogramSamples(durations, { chain_id: chainId, chain }),
    ),
  },
});
