import type { Cctx, Outbound } from '../../chain/rate-limiter-input.js';
import { toLabelValue } from '../family.js';
import { firstBy, groupBy } from '../grouping.js';
import { memoize } from '../memoize.js';
import { optional, required, rows } from '../required-fields.js';
import type { CrosschainInput } from './input.js';

export const listNames = ['missed', 'pending'] as const;
export type ListName = (typeof listNames)[number];

/** The rows of a list as in the document. */
export function rowsOf({ document }: CrosschainInput, list: ListName): readonly Cctx[] {
  return rows(list === 'missed' ? document.cctxs_missed : document.cctxs_pending);
}

/** The distinct transactions of a list by index: real nodes can list a transaction twice, under two chains. */
export const cctxsByIndex = memoizePerList((input, list): ReadonlyMap<string, Cctx> =>
  firstBy(rowsOf(input, list), ({ index }) => required(index)),
);

export const distinctCctxs = memoizePerList((input, list): readonly Cctx[] => {
  const all = rowsOf(input, list);
  const byIndex = cctxsByIndex[list](input);
  return byIndex.size === all.length ? all : Array.from(byIndex.values());
});

/** The transactions of a list that are pending on one chain. */
export interface ChainBacklog {
  readonly chainId: string;
  readonly chain: string;
  readonly cctxs: readonly Cctx[];
}

export const cctxsByChain = memoizePerList((input, list): readonly ChainBacklog[] => {
  const byChainId = groupBy(distinctCctxs[list](input), chainIdLabel);
  return Array.from(byChainId, ([chainId, cctxs]) => ({ chainId, chain: chainName(chainId, input), cctxs }));
});

function memoizePerList<T>(derive: (input: CrosschainInput, list: ListName) => T) {
  return {
    missed: memoize((input: CrosschainInput) => derive(input, 'missed')),
    pending: memoize((input: CrosschainInput) => derive(input, 'pending')),
  } as const satisfies Record<ListName, unknown>;
}

/** The current outbound is the last one; that of a failed transaction is its revert. `undefined` when there is none. */
export function currentOutbound({ outbound_params }: Cctx): Outbound | undefined {
  const outbounds = required(outbound_params);
  return outbounds.length === 0 ? undefined : required(outbounds.at(-1));
}

/** Label `chain_id`: the chain on which a transaction is pending; empty when it is unknown. */
export function chainIdLabel(cctx: Cctx): string {
  return toLabelValue(optional(outboundForLabels(cctx)?.receiver_chainId) ?? '');
}

/** Label `chain`: the configured name of the chain; empty without one. */
export function chainName(chainId: string, { chains }: CrosschainInput): string {
  return toLabelValue(Object.hasOwn(chains, chainId) ? (chains[chainId] ?? '') : '');
}

/** The current outbound, or `undefined` when it is missing, for labels that are empty then. */
export function outboundForLabels({ outbound_params }: Cctx): Outbound | undefined {
  return optional(optional(outbound_params)?.at(-1));
}
