import type { CctxItem } from '../pending/items.js';
import * as cells from './cells.js';
import { transactionUrl } from './external-links.js';
import { isolated, markup, type Markup } from './html.js';
import { byDecimalString, byString, groupedBy } from './sort-order.js';
import type { Column, PageContext, Table } from './table.js';
import { ago, timeElement } from './time.js';

const columns: readonly Column<CctxItem>[] = [
  {
    key: 'created',
    title: 'Created',
    cell: ({ createdAt }, page) => cells.orUnknown(createdAt, (iso) => createdCell(iso, page)),
    order: byString(({ createdAt }) => createdAt),
  },
  { key: 'index', title: 'Index', cell: ({ index }) => cells.identifier(index) },
  {
    key: 'chain',
    title: 'Chain',
    cell: chainCell,
    order: byString(chainOf),
  },
  {
    key: 'nonce',
    title: 'Nonce',
    cell: ({ nonce }) => cells.text(nonce),
    order: groupedBy(
      (row) => chainOf(row) ?? '',
      byDecimalString(({ nonce }) => nonce),
    ),
  },
  {
    key: 'status',
    title: 'Status',
    cell: ({ status }) => cells.text(status),
    order: byString(({ status }) => status),
  },
  {
    key: 'amount',
    title: 'Amount',
    cell: ({ amount, coinType }) => markup`${cells.smallestUnits(amount)}<small>${cells.text(coinType)}</small>`,
    order: groupedBy(
      ({ coinType }) => coinType ?? '',
      byDecimalString(({ amount }) => amount),
    ),
    largestFirst: true,
  },
  { key: 'hash', title: 'Outbound hash', cell: hashCell, order: byString(({ hash }) => hash) },
];

export const missedTable: Table<CctxItem> = {
  name: 'missed',
  title: 'Missed cctxs, overtaken by a later nonce of their chain',
  emptyText: 'The node lists no missed cctx.',
  rowKey,
  columns,
};

export const pendingTable: Table<CctxItem> = {
  name: 'pending',
  title: 'Pending cctxs',
  emptyText: 'The node lists no pending cctx.',
  rowKey,
  columns,
};

function rowKey({ index }: CctxItem): string {
  return index;
}

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
