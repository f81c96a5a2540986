import type { ChainItem, ItemList } from '../facts/items/items.js';
import { duration } from '../text/format.js';
import * as cells from './cells.js';
import { isolated, markup, type Markup } from './html.js';
import type { PageContext } from './item-table.js';
import { anchor } from './layout.js';
import { tableHtml, type Column, type Table } from './table.js';
import { severityOf } from './target-view.js';
import { distanceElement } from './time.js';

/*
 * The cross-chain transactions by chain: which chain does not move, since when, and how many wait for it.
 */

export function chainSection(chains: ItemList<ChainItem>, page: PageContext): Markup {
  const extent = chains.readable && chains.rows.length < chains.total;
  const note = extent ? markup`<p class="note">Showing ${chains.rows.length} of ${chains.total} chains.</p>` : '';
  return markup`<section id="chains" aria-labelledby="chains-title">
<h3 id="chains-title">By chain <span class="quiet">${chains.total ?? 'unknown'}</span></h3>
${chains.readable ? markup`${note}${rowsHtml(chains.rows, page)}` : markup`<p class="alert">The transactions cannot be read, so their chains are unknown.</p>`}
</section>
`;
}

function rowsHtml(rows: readonly ChainItem[], page: PageContext): Markup {
  if (rows.length === 0) return markup`<p class="quiet">No transaction is pending on any chain.</p>`;
  const hasMissed = rows.some(({ missed }) => missed !== 0);
  const columns = hasMissed ? [...pendingColumns, ...missedColumns] : pendingColumns;
  return tableHtml({ ...chainTable, columns }, rows, page);
}

type ChainColumn = Column<ChainItem, PageContext>;

/** Colored, with the word of the severity, while one of the alerts about the chain fires. */
function judged(value: Markup, { chainId }: ChainItem, { view }: PageContext, ...alerts: readonly string[]): Markup {
  const severity = severityOf(view, alerts, { chain_id: chainId });
  return severity === undefined
    ? value
    : markup`<span class="${severity}">${value}</span> <span class="state ${severity}">${severity}</span>`;
}

const pendingColumns: readonly ChainColumn[] = [
  {
    title: 'Chain',
    cell: ({ chain, chainId }) =>
      markup`${chain === null ? '' : isolated(chain)} <span class="quiet">${chainId === '' ? 'no chain' : isolated(chainId)}</span>`,
    type: 'row-header',
  },
  {
    title: 'Pending',
    cell: ({ pending, ignored }) =>
      markup`${cells.text(pending)}${ignored === null || ignored === 0 ? '' : markup`<small>and ${ignored} ignored</small>`}`,
  },
  {
    title: 'Oldest',
    cell: (chain, page) =>
      chain.oldestCreatedAt === null
        ? markup`<span class="quiet">none</span>`
        : judged(
            age(chain.oldestCreatedAt, page),
            chain,
            page,
            'CrosschainOldestPendingTooOld',
            'CrosschainBacklogStuck',
          ),
  },
  { title: 'Age limit', cell: ({ ageLimitSeconds }) => markup`${duration(ageLimitSeconds)}` },
  {
    title: 'Lowest nonce',
    cell: (chain, page) => judged(orNone(chain.lowestPendingNonce), chain, page, 'CrosschainBacklogStuck'),
  },
  { title: 'Highest nonce', cell: ({ highestPendingNonce }) => orNone(highestPendingNonce) },
  { title: 'No hash', cell: ({ withoutHash }) => cells.text(withoutHash) },
];

const missedColumns: readonly ChainColumn[] = [
  { title: 'Missed', cell: (chain, page) => judged(cells.text(chain.missed), chain, page, 'CrosschainCctxsMissed') },
  {
    title: 'Lowest missed nonce',
    cell: (chain, page) => judged(orNone(chain.lowestMissedNonce), chain, page, 'CrosschainFreezeNear'),
  },
];

const chainTable: Omit<Table<ChainItem, PageContext>, 'columns'> = {
  title: 'By chain',
  cssClass: 'chains',
  rowId: ({ chainId }) => anchor('chains', chainId),
};

function age(iso: string, { nowMs }: PageContext): Markup {
  return distanceElement(iso, duration((nowMs - Date.parse(iso)) / 1000));
}

function orNone(nonce: string | null): Markup {
  return nonce === null ? markup`<span class="quiet">none</span>` : markup`${nonce}`;
}
