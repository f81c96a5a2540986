import type { Items } from '../pending/items.js';
import { markup, type Markup } from './html.js';
import { anchor } from './layout.js';

interface Figure {
  readonly count: string | number | null;
  readonly label: string;
  /** The table it links to. */
  readonly table: string;
  /** Shown, and as trouble, only when there are some. */
  readonly isTrouble?: boolean;
}

function figuresOf(items: Items): readonly Figure[] {
  switch (items.document) {
    case 'module_state':
      return [
        { count: items.batches.total, label: 'Live batches', table: 'batches' },
        { count: items.batchesBelowThreshold, label: 'Batches short of signatures', table: 'batches', isTrouble: true },
        { count: items.valsets.total, label: 'Unrelayed valsets', table: 'valsets' },
        { count: items.valsetsBelowThreshold, label: 'Valsets short of signatures', table: 'valsets', isTrouble: true },
        { count: items.pendingEvents, label: 'Pending events', table: 'claims' },
        { count: items.conflictingEvents, label: 'Conflicting events', table: 'claims', isTrouble: true },
        { count: items.transfers.total, label: 'Unbatched transfers', table: 'transfers' },
      ];
    case 'rate_limiter_input':
      return [
        { count: items.missed.total, label: 'Missed cctxs', table: 'missed', isTrouble: true },
        { count: items.pending.total, label: 'Pending cctxs', table: 'pending' },
        { count: items.hidden, label: 'Hidden cctxs', table: 'pending', isTrouble: true },
      ];
  }
}

/** The headline numbers of an endpoint, each with a link to what is behind it. */
export function figures(target: string, items: Items): Markup {
  const shown = figuresOf(items).filter(({ count, isTrouble }) => isTrouble !== true || String(count) !== '0');
  const links = shown.map(
    ({ count, label, table, isTrouble }) =>
      markup`<li><a class="${isTrouble === true && count !== null ? 'bad' : ''}" href="/pending#${anchor(target, table)}">${label} <b>${count ?? 'unknown'}</b></a>`,
  );
  return markup`<ul class="figures">${links}</ul>`;
}
