import { wallSeconds } from '../clock.js';
import type { CrosschainInput } from '../facts/crosschain/crosschain-input.js';
import { chainLabels, PER_CHAIN } from '../facts/crosschain/chains.js';
import { families, labeledGauge } from '../metrics/family.js';
import { isPending, type CrosschainFlow } from './crosschain-flow.js';
import type { UnlistedCctx } from '../facts/crosschain/cctxs.js';

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
