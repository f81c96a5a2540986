import { EMPTY_HISTOGRAM, observe, type Histogram } from './histogram.js';

export const outcomes = ['mined', 'reverted', 'aborted', 'unknown'] as const;
export type Outcome = (typeof outcomes)[number];

/** What was counted of the transactions of one chain. */
export interface ChainCounts {
  readonly chainId: string;
  readonly chain: string;
  readonly finished: Readonly<Record<Outcome, number>>;
  readonly durations: Histogram;
}

/** The first one is of the chains above the limit, for the life of the process: a counter that moves to another series would count twice. */
export type FlowChains = readonly ChainCounts[];

/** What the chains are called that have no series of their own. */
export const OTHER = 'other';

export const NO_CHAINS: FlowChains = [noneOf(OTHER, OTHER)];

function noneOf(chainId: string, chain: string): ChainCounts {
  return { chainId, chain, finished: { mined: 0, reverted: 0, aborted: 0, unknown: 0 }, durations: EMPTY_HISTOGRAM };
}

/** Adds the chains that are new, and gives the others the names of today. */
export function addChains(
  [others, ...known]: FlowChains,
  chainIds: Iterable<string>,
  nameOf: (chainId: string) => string,
  maxSeries: number,
): FlowChains {
  const ids = new Set(known.map(({ chainId }) => chainId));
  const added: string[] = [];
  for (const id of chainIds) {
    if (ids.size >= maxSeries) break;
    if (!ids.has(id)) added.push(id);
    ids.add(id);
  }
  return [
    ...(others === undefined ? NO_CHAINS : [others]),
    ...known.map((counts) => ({ ...counts, chain: nameOf(counts.chainId) })),
    ...added.map((id) => noneOf(id, nameOf(id))),
  ];
}

export interface FinishedCctx {
  readonly chainId: string;
  readonly outcome: Outcome;
  readonly seconds?: number | undefined;
}

/** Transactions without a known outcome have no duration. */
export function addFinished(chains: FlowChains, finished: readonly FinishedCctx[]): FlowChains {
  const known = new Set(chains.slice(1).map(({ chainId }) => chainId));
  return chains.map((counts, position) => {
    const own = finished.filter(({ chainId }) => (position === 0 ? !known.has(chainId) : chainId === counts.chainId));
    if (own.length === 0) return counts;
    const added = { ...counts.finished };
    for (const { outcome } of own) added[outcome] += 1;
    const seconds = own.flatMap((one) => (one.outcome === 'unknown' ? [] : (one.seconds ?? [])));
    return { ...counts, finished: added, durations: observe(counts.durations, seconds) };
  });
}
