import type { CctxItem } from '../pending/items.js';
import type { FoundCctx } from '../pending/search.js';
import * as cells from './cells.js';
import { transactionUrl } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import type { ItemColumn, ItemTable, PageContext } from './item-table.js';
import { anchor } from './layout.js';
import { exact, type Table } from './table.js';
import { ago, timeElement } from './time.js';

/* The tables of cross-chain transactions. */

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
function createdCell(iso: string, { isCreationEstimated }: CctxItem, { nowMs }: PageContext): Markup {
  const age = ago((nowMs - Date.parse(iso)) / 1000);
  return isCreationEstimated
    ? markup`<span class="nowrap">at least ${age}</span><small>last update ${timeElement(iso)}</small>`
    : markup`<span class="nowrap">${age}</span><small>${timeElement(iso)}</small>`;
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

function chainOf({ chain, chainId }: CctxItem): string | null {
  return chain ?? chainId;
}

function chainCell({ chain, chainId, receiver }: CctxItem): Markup {
  const name =
    chain === null ? cells.text(chainId) : markup`${isolated(chain)}<small>chain ${cells.text(chainId)}</small>`;
  return markup`${name}${party('to', receiver)}`;
}

function statusCell({ status, statusMessage, error, ignored }: CctxItem): Markup {
  const badge = ignored
    ? markup` <span class="badge" title="left out of the metrics and alerts by crosschain.ignore">ignored</span>`
    : '';
  const texts = [statusMessage, error].flatMap((text) =>
    text === null ? [] : [markup`<small>${isolated(text)}</small>`],
  );
  return markup`${cells.text(status)}${badge}${texts}`;
}

function hashCell({ hash, chainId }: CctxItem, { links }: PageContext): Markup {
  if (hash === '') return markup`<span class="badge">no hash</span>`;
  return cells.identifier(hash, hash === null ? undefined : transactionUrl(links, chainId, hash));
}
