import type { CctxItem } from '../pending/items.js';
import * as cells from './cells.js';
import { transactionUrl } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import type { ItemColumn, ItemTable, PageContext } from './item-table.js';
import { anchor } from './layout.js';
import { exact } from './table.js';
import { ago, timeElement } from './time.js';

const columns: readonly ItemColumn<CctxItem>[] = [
  {
    title: 'Created',
    cell: ({ createdAt }, page) => cells.orUnknown(createdAt, (iso) => createdCell(iso, page)),
    sort: { key: 'created', value: ({ createdAt }) => createdAt },
  },
  { title: 'Index', cell: ({ index }) => cells.identifier(index) },
  { title: 'Chain', cell: chainCell, sort: { key: 'chain', value: chainOf } },
  {
    title: 'Nonce',
    cell: ({ nonce }) => cells.text(nonce),
    sort: { key: 'nonce', value: ({ nonce }) => exact(nonce), group: (row) => chainOf(row) ?? '' },
  },
  {
    title: 'Status',
    cell: ({ status }) => cells.text(status),
    sort: { key: 'status', value: ({ status }) => status },
  },
  {
    title: 'Amount',
    cell: ({ amount, coinType }) => markup`${cells.smallestUnits(amount)}<small>${cells.text(coinType)}</small>`,
    sort: {
      key: 'amount',
      value: ({ amount }) => exact(amount),
      group: ({ coinType }) => coinType ?? '',
      largestFirst: true,
    },
  },
  { title: 'Outbound hash', cell: hashCell, sort: { key: 'hash', value: ({ hash }) => hash } },
];

export const missedTable: ItemTable<CctxItem> = {
  name: 'missed',
  title: 'Missed cctxs, overtaken by a later nonce of their chain',
  emptyText: 'The node lists no missed cctx.',
  rowId: ({ index }) => anchor('missed', index),
  columns,
};

export const pendingTable: ItemTable<CctxItem> = {
  name: 'pending',
  title: 'Pending cctxs',
  emptyText: 'The node lists no pending cctx.',
  rowId: ({ index }) => anchor('pending', index),
  columns,
};

function createdCell(iso: string, { nowMs }: PageContext): Markup {
  return markup`<span class="nowrap">${ago((nowMs - Date.parse(iso)) / 1000)}</span><small>${timeElement(iso)}</small>`;
}

function chainOf({ chain, chainId }: CctxItem): string | null {
  return chain ?? chainId;
}

function chainCell({ chain, chainId }: CctxItem): Markup {
  return chain === null ? cells.text(chainId) : markup`${isolated(chain)}<small>chain ${cells.text(chainId)}</small>`;
}

function hashCell({ hash, chainId }: CctxItem, { links }: PageContext): Markup {
  if (hash === '') return markup`<span class="badge">not broadcast</span>`;
  return cells.identifier(hash, hash === null ? undefined : transactionUrl(links, chainId, hash));
}
