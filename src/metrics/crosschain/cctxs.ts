import { once } from '../../chain/memo.js';
import type { Cctx, Outbound } from '../../chain/rate-limiter-input.js';
import { ifPresent, need, rows } from '../../chain/reading.js';
import { firstBy } from '../grouping.js';
import { labelText } from '../family.js';
import type { CrosschainInput } from './input.js';

export const lists = ['missed', 'pending'] as const;
export type ListName = (typeof lists)[number];

/** The transactions of a list, each once: real nodes can show one under two chains. */
export const distinctCctxs = {
  missed: once(({ document }: CrosschainInput): readonly Cctx[] => distinct(rows(document.cctxs_missed))),
  pending: once(({ document }: CrosschainInput): readonly Cctx[] => distinct(rows(document.cctxs_pending))),
} as const satisfies Record<ListName, unknown>;

function distinct(cctxs: readonly Cctx[]): readonly Cctx[] {
  return Array.from(firstBy(cctxs, ({ index }) => need(index)).values());
}

/** The outbound a transaction waits on: the last one, which of a failed transaction is the revert. */
export function currentOutbound({ outbound_params }: Cctx): Outbound | undefined {
  const outbounds = need(outbound_params);
  return outbounds.length === 0 ? undefined : need(outbounds.at(-1));
}

/** Labels `chain_id` and `chain` of the chain a transaction waits on; empty for what is not known. */
export function chainLabels(cctx: Cctx, { chains }: CrosschainInput): readonly [chainId: string, chain: string] {
  const id = ifPresent(outboundForLabels(cctx)?.receiver_chainId) ?? '';
  return [labelText(id), labelText(Object.hasOwn(chains, id) ? (chains[id] ?? '') : '')];
}

/** As a label only: what is missing leaves it empty. */
export function outboundForLabels({ outbound_params }: Cctx): Outbound | undefined {
  return ifPresent(ifPresent(outbound_params)?.at(-1));
}
