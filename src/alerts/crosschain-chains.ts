import { TARGET } from './promql.js';
import { chainName } from './sentences.js';
import { labelOf, type Samples } from './samples.js';
import type { AlertLabels } from './view.js';

/* What the alerts on cross-chain transactions have in common. */

export const RATE_LIMITER_INPUT = 'rate_limiter_input';

/** Transactions by list, chain, status, coin type and direction. */
export const CCTXS = 'crosschain_cctxs';

export const CHAIN = `${TARGET}, chain_id`;
export const ON_CHAIN = `on (${CHAIN})`;

/** In the texts of an alert about a chain. */
export const THE_CHAIN =
  'chain {{ with $labels.chain }}{{ . }} ({{ $labels.chain_id }}){{ else }}{{ $labels.chain_id }}{{ end }}';

export function chainOf(labels: AlertLabels): string {
  return chainName(labelOf(labels, 'chain'), labelOf(labels, 'chain_id'));
}

/** The values of a family by chain. */
export function byChain<Family extends string>(samples: Samples<Family>, family: Family): ReadonlyMap<string, number> {
  return new Map(samples.series(family).map(({ labels, value }) => [labelOf(labels, 'chain_id'), value]));
}
