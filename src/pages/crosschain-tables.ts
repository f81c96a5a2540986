import type { CctxItem, ChainItem, ItemList, UnlistedItem } from '../facts/items/items.js';
import type { FoundCctx, SearchResult } from '../facts/items/search.js';
import { count, duration } from '../text/format.js';
import * as cells from './cells.js';
import { transactionUrl } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor, pendingLink, relative } from './layout.js';
import {
  exact,
  tableHtml,
  type Column,
  type ItemColumn,
  type ItemTable,
  type PageContext,
  type Table,
} from './table.js';
import { severityOf } from './target-view.js';
import { ago, distanceElement, timeElement } from './time.js';

/*
 * Cross-chain transactions: by chain, by what was searched for, and one by one.
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

const columns: readonly ItemColumn<CctxItem>[] = [
  {
    title: 'Created',
    cell: (cctx, page) => cells.orUnknown(cctx.createdAt, (iso) => createdCell(iso, cctx, page)),
    sort: { key: 'created', value: ({ createdAt }) => createdAt },
  },
  { title: 'Index', cell: ({ index }) => cells.identifier(index) },
  { title: 'From', cell: sourceCell, sort: { key: 'source', value: sourceOf } },
  { title: 'Pending on', cell: chainCell, sort: { key: 'chain', value: chainOf } },
  {
    title: 'Nonce',
    cell: ({ nonce }) => cells.text(nonce),
    sort: { key: 'nonce', value: ({ nonce }) => exact(nonce), group: (row) => chainOf(row) ?? '' },
  },
  {
    title: 'Status',
    cell: statusCell,
    type: 'wide',
    sort: { key: 'status', value: ({ status }) => status },
  },
  {
    title: 'Amount',
    cell: (cctx) => markup`${cells.coin(cctx)}<small>${cells.text(cctx.coinType)}</small>`,
    sort: {
      key: 'amount',
      value: ({ amount }) => exact(amount),
      group: ({ coinType, symbol }) => symbol ?? coinType ?? '',
      largestFirst: true,
    },
  },
  { title: 'Outbound hash', cell: hashCell, sort: { key: 'hash', value: ({ hash }) => hash } },
];

/** The rows have several ids each, so that more of them would be most of the page. */
const MAX_PAGE_ROWS = 25;

export const missedTable: ItemTable<CctxItem> = {
  name: 'missed',
  title: 'Missed cctxs, overtaken by a later nonce of their chain',
  emptyText: 'The node lists no missed cctx.',
  maxRows: MAX_PAGE_ROWS,
  rowId: ({ index }) => anchor('missed', index),
  columns,
};

export const pendingTable: ItemTable<CctxItem> = {
  name: 'pending',
  title: 'Pending cctxs',
  emptyText: 'The node lists no pending cctx.',
  maxRows: MAX_PAGE_ROWS,
  rowId: ({ index }) => anchor('pending', index),
  columns,
};

export const unlistedTable: ItemTable<UnlistedItem> = {
  name: 'unlisted',
  title: 'Unlisted cctxs: no longer listed, pending according to the node',
  emptyText: 'No cctx that has left the lists is pending.',
  maxRows: MAX_PAGE_ROWS,
  rowId: ({ index }) => anchor('unlisted', index),
  columns: [
    {
      title: 'Created',
      cell: ({ createdAt }, page) => cells.orUnknown(createdAt, (iso) => timeCell(iso, page)),
      sort: { key: 'created', value: ({ createdAt }) => createdAt },
    },
    { title: 'Index', cell: ({ index }) => cells.identifier(index) },
    { title: 'Pending on', cell: chainName, sort: { key: 'chain', value: chainOf } },
    {
      title: 'No longer listed',
      cell: ({ goneAt, ignored }, page) =>
        markup`${cells.orUnknown(goneAt, (iso) => timeCell(iso, page))}${ignored ? IGNORED : ''}`,
      sort: { key: 'gone', value: ({ goneAt }) => goneAt },
    },
  ],
};

/** The result of a search. */
export const foundTable: Table<FoundCctx, PageContext> = {
  title: 'Found cctxs',
  columns: [
    { title: 'List', cell: ({ list }) => markup`${list}` },
    ...columns,
    { title: 'Origin', cell: ({ origin }) => cells.identifier(origin) },
  ],
  rowId: ({ list, index }) => anchor('found', list, index),
};

/** The creation time of a transaction whose last update alone is known is earlier. */
function createdCell(iso: string, { isCreationEstimated }: CctxItem, page: PageContext): Markup {
  return isCreationEstimated
    ? markup`<span class="nowrap">at least ${ageOf(iso, page)}</span><small>last update ${timeElement(iso)}</small>`
    : timeCell(iso, page);
}

function timeCell(iso: string, page: PageContext): Markup {
  return markup`<span class="nowrap">${ageOf(iso, page)}</span><small>${timeElement(iso)}</small>`;
}

function ageOf(iso: string, { nowMs }: PageContext): string {
  return ago((nowMs - Date.parse(iso)) / 1000);
}

/** The source chain, who sent from it, and the inbound transaction. */
function sourceCell(cctx: CctxItem, { links }: PageContext): Markup {
  const { sourceChainId, sender, inboundHash } = cctx;
  const url = inboundHash === null ? undefined : transactionUrl(links, sourceChainId, inboundHash);
  return markup`${cells.orUnknown(sourceOf(cctx), isolated)}${party('by', sender)}${party('tx', inboundHash, url)}`;
}

function party(word: string, id: string | null, url?: string): Markup {
  return id === null ? markup`` : markup`<small class="nowrap">${word} ${cells.identifier(id, url)}</small>`;
}

function sourceOf({ sourceChain, sourceChainId }: CctxItem): string | null {
  return sourceChain ?? sourceChainId;
}

type OnChain = Pick<CctxItem, 'chain' | 'chainId'>;

function chainOf({ chain, chainId }: OnChain): string | null {
  return chain ?? chainId;
}

function chainName({ chain, chainId }: OnChain): Markup {
  return chain === null ? cells.text(chainId) : markup`${isolated(chain)}<small>chain ${cells.text(chainId)}</small>`;
}

function chainCell(cctx: CctxItem): Markup {
  return markup`${chainName(cctx)}${party('to', cctx.receiver)}`;
}

const IGNORED = markup` <span class="badge" title="left out of the metrics and alerts by crosschain.ignore">ignored</span>`;

function statusCell({ status, statusMessage, error, ignored }: CctxItem): Markup {
  const badge = ignored ? IGNORED : '';
  const texts = [statusMessage, error].flatMap((text) =>
    text === null ? [] : [markup`<small>${isolated(text)}</small>`],
  );
  return markup`${cells.text(status)}${badge}${texts}`;
}

function hashCell({ hash, chainId }: CctxItem, { links }: PageContext): Markup {
  if (hash === '') return markup`<span class="badge">no hash</span>`;
  return cells.identifier(hash, hash === null ? undefined : transactionUrl(links, chainId, hash));
}

/** The text of `?q=`; `undefined` without one. */
export function parseSearch({ q }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof q === 'string' && q.trim() !== '' ? q : undefined;
}

/** The form, and what was found. It works without JavaScript. */
export function searchSection(result: SearchResult | null, page: PageContext): Markup {
  const { target } = page.view;
  return markup`<section id="search" aria-label="Search">
<form id="search-form" role="search" method="get" action="${relative('/pending')}">
<input type="hidden" name="target" value="${target}">
<label for="search-text">Find a cctx by hash, address, index or nonce</label>
<input id="search-text" type="search" name="q" maxlength="200" autocomplete="off" spellcheck="false" required value="${result?.query ?? ''}">
<button>Search</button>
</form>
${result === null ? '' : resultHtml(result, page)}
</section>
`;
}

function resultHtml({ query, searched, found, rows }: SearchResult, page: PageContext): Markup {
  const oldest = found > rows.length ? `, of which the ${rows.length} oldest follow,` : '';
  const table = rows.length === 0 ? '' : tableHtml(foundTable, rows, page);
  return markup`<p role="status"><b>${count(found, 'match', 'matches')}</b>${oldest} for “${isolated(query)}” in all ${searched} listed cctxs. <a href="${pendingLink(page.view.target)}">Clear the search</a></p>
${table}`;
}
