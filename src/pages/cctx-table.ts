import type { CctxItem, UnlistedItem } from '../facts/items/items.js';
import type { FoundCctx } from '../facts/items/search.js';
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
