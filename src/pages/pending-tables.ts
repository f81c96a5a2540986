import { isLate } from '../facts/items/block-spans.js';
import type {
  BatchItem,
  BatchState,
  CoinItem,
  DecimalString,
  Signatures,
  TransferItem,
  ValsetItem,
  WaitingTokenItem,
} from '../facts/items/items.js';
import * as cells from './cells.js';
import { markup, type Markup } from './html.js';
import { alertClass, type ItemColumn, type ItemTable, type PageContext } from './item-table.js';
import { anchor } from './layout.js';
import { exact } from './table.js';

/* The tables of pending items. */

export const transferTable: ItemTable<TransferItem> = {
  name: 'transfers',
  title: 'Unbatched transfers',
  emptyText: 'No transfer is waiting.',
  rowId: ({ id }) => anchor('transfers', id),
  columns: [
    numberColumn('Id', 'id', ({ id }) => id),
    {
      title: 'Token',
      cell: ({ amount }, { links }) => cells.token(amount, links),
      sort: { key: 'token', value: ({ amount }) => nameOf(amount) },
    },
    coinColumn('amount', 'Amount', ({ amount }) => amount),
    coinColumn('fee', 'Fee', ({ fee }) => fee),
    { title: 'Sender', cell: ({ sender }) => cells.identifier(sender) },
    { title: 'Destination', cell: ({ destination }) => cells.identifier(destination) },
  ],
};

/** Amounts of different tokens have no common unit, so they are sorted within each token. */
function coinColumn(key: string, title: string, coinOf: (row: TransferItem) => CoinItem): ItemColumn<TransferItem> {
  return {
    title,
    cell: (row) => cells.coin(coinOf(row)),
    sort: {
      key,
      value: (row) => exact(coinOf(row).amount),
      group: (row) => nameOf(coinOf(row)) ?? '',
      largestFirst: true,
    },
  };
}

function nameOf({ symbol, denom, contract }: CoinItem): string | null {
  return symbol ?? denom ?? contract;
}

export const tokenTable: ItemTable<WaitingTokenItem> = {
  name: 'tokens',
  title: 'Waiting by token',
  emptyText: 'No transfer is waiting.',
  orderText: 'the most worth first by multiples of their minimum fee, then by transfers',
  openRows: 12,
  rowId: ({ token }) => anchor('tokens', token.contract ?? ''),
  columns: [
    { title: 'Token', cell: ({ token }, { links }) => cells.token(token, links), type: 'row-header' },
    countColumn('In no batch', 'unbatched', ({ unbatchedTransfers }) => unbatchedTransfers),
    { title: 'Amount in no batch', cell: ({ unbatched }) => cells.coin(unbatched) },
    countColumn('In batches', 'batched', ({ batchedTransfers }) => batchedTransfers),
    { title: 'Amount in batches', cell: ({ batched }) => cells.coin(batched) },
  ],
};

export const batchTable: ItemTable<BatchItem> = {
  name: 'batches',
  title: 'Live batches',
  emptyText: 'No batch is live.',
  orderText: 'those that lack signatures first, then the oldest',
  rowId: ({ nonce, token }) => anchor('batches', `${nonce} ${token.contract ?? ''}`),
  columns: [
    numberColumn('Nonce', 'nonce', ({ nonce }) => nonce),
    { title: 'Token', cell: ({ token }, { links }) => cells.token(token, links) },
    countColumn('Transfers', 'transfers', ({ transfers }) => transfers),
    {
      title: 'Amount',
      cell: ({ amount, fee }) => markup`${cells.coin(amount)}<small>fees ${cells.coin(fee)}</small>`,
    },
    createdColumn(),
    {
      title: 'Timeout',
      cell: timeoutCell,
      type: 'wide',
      sort: { key: 'timeout', value: ({ timeoutHeight }) => exact(timeoutHeight) },
    },
    signedColumn('BridgeBatchUnsigned'),
    missingColumn(),
  ],
};

const batchStates: Readonly<Record<BatchState, { readonly word: string; readonly title: string } | null>> = {
  live: null,
  overdue: { word: 'overdue', title: 'timed out at the estimated external height, but still held by the hub' },
  expired: { word: 'expired', title: 'timed out at the external height known to the hub, which will cancel it' },
};

function timeoutCell({ timeoutHeight, projectedHeadroom, headroom, state }: BatchItem, page: PageContext): Markup {
  const badge = state === null ? null : batchStates[state];
  const badgeHtml =
    badge === null
      ? ''
      : markup`<span class="badge ${alertClass(page, 'BridgeBatchOverdue')}" title="${badge.title}">${badge.word}</span>`;
  // The height known to the hub lags, so it is shown only where there is no estimate.
  const height = { preposition: 'at', value: timeoutHeight };
  const left =
    projectedHeadroom === null
      ? markup`known to the hub: ${cells.blocks(headroom, 'external blocks', 'left', height)}`
      : cells.blocks(projectedHeadroom, 'external blocks', 'left', height);
  return markup`${badgeHtml} ${left}`;
}

export const valsetTable: ItemTable<ValsetItem> = {
  name: 'valsets',
  title: 'Unrelayed validator sets',
  emptyText: 'No validator set is unrelayed.',
  rowId: ({ nonce }) => anchor('valsets', nonce),
  columns: [
    numberColumn('Nonce', 'nonce', ({ nonce }) => nonce),
    { title: 'Members', cell: ({ members }) => cells.text(members) },
    createdColumn(),
    {
      title: 'Signing deadline',
      cell: ({ deadlineHeight, headroom, missing }) =>
        missing?.total === 0
          ? markup`<span class="quiet">all have signed</span>`
          : cells.blocks(headroom, 'hub blocks', 'left', { preposition: 'jailed after', value: deadlineHeight }),
      sort: { key: 'deadline', value: ({ deadlineHeight }) => exact(deadlineHeight) },
    },
    signedColumn('BridgeValsetUnsigned'),
    missingColumn(),
  ],
};

/** An id or nonce. */
function numberColumn<Row>(title: string, key: string, numberOf: (row: Row) => DecimalString): ItemColumn<Row> {
  return { title, cell: (row) => markup`${numberOf(row)}`, sort: { key, value: (row) => exact(numberOf(row)) } };
}

export function countColumn<Row>(title: string, key: string, countOf: (row: Row) => number | null): ItemColumn<Row> {
  return { title, cell: (row) => cells.text(countOf(row)), sort: { key, value: countOf, largestFirst: true } };
}

function createdColumn<Row extends BatchItem | ValsetItem>(): ItemColumn<Row> {
  return {
    title: 'Created',
    cell: ({ createdHeight, age }) =>
      cells.blocks(age, 'hub blocks', 'ago', { preposition: 'at', value: createdHeight }),
    sort: { key: 'created', value: ({ createdHeight }) => exact(createdHeight) },
  };
}

function signedColumn<Row extends Signatures & Pick<BatchItem, 'age'>>(alert: string): ItemColumn<Row> {
  return {
    title: 'Signed power',
    cell: ({ signedPowerRatio, belowThreshold, age }, page) => {
      if (belowThreshold !== true) {
        const note = belowThreshold === null ? '' : markup`<small>sufficient</small>`;
        return markup`${cells.share(signedPowerRatio, belowThreshold === null ? '' : 'ok')}${note}`;
      }
      const cssClass = isLate(age) ? alertClass(page, alert) : '';
      const word = isLate(age) ? 'below threshold' : 'being signed';
      return markup`${cells.share(signedPowerRatio, cssClass)}<small${cssClass === '' ? '' : markup` class="${cssClass}"`}>${word}</small>`;
    },
    sort: { key: 'signed', value: ({ signedPowerRatio }) => signedPowerRatio },
  };
}

/** Only their number: who they are is in one table for all items. */
function missingColumn<Row extends Pick<Signatures, 'missing'>>(): ItemColumn<Row> {
  return {
    title: 'Missing signatures',
    cell: ({ missing }) => cells.orUnknown(missing, ({ total }) => markup`${total === 0 ? 'none' : total}`),
    sort: { key: 'missing', value: ({ missing }) => missing?.total ?? null, largestFirst: true },
  };
}
