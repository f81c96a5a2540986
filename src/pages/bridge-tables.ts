import type {
  BatchItem,
  BatchState,
  ClaimItem,
  CoinItem,
  Signatures,
  TransferItem,
  ValsetItem,
} from '../pending/items.js';
import { isLate } from './blocking.js';
import * as cells from './cells.js';
import { markup, type Markup } from './html.js';
import { byDecimalString, byNumber, byString, groupedBy } from './sort-order.js';
import { alertClass, type Column, type PageContext, type Table } from './table.js';

export const transferTable: Table<TransferItem> = {
  name: 'transfers',
  title: 'Unbatched transfers',
  emptyText: 'No transfer is waiting.',
  rowKey: ({ id }) => id,
  columns: [
    { key: 'id', title: 'Id', cell: ({ id }) => markup`${id}`, order: byDecimalString(({ id }) => id) },
    {
      key: 'token',
      title: 'Token',
      cell: ({ amount }, { links }) => cells.token(amount, links),
      order: byString(({ amount }) => nameOf(amount)),
    },
    coinColumn('amount', 'Amount', ({ amount }) => amount),
    coinColumn('fee', 'Fee', ({ fee }) => fee),
    { key: 'sender', title: 'Sender', cell: ({ sender }) => cells.identifier(sender) },
    { key: 'destination', title: 'Destination', cell: ({ destination }) => cells.identifier(destination) },
  ],
};

/** Amounts of different tokens have no common unit, so they are sorted within each token. */
function coinColumn(key: string, title: string, coinOf: (row: TransferItem) => CoinItem): Column<TransferItem> {
  const order = groupedBy(
    (row: TransferItem) => nameOf(coinOf(row)) ?? '',
    byDecimalString((row: TransferItem) => coinOf(row).amount),
  );
  return { key, title, cell: (row) => cells.coin(coinOf(row)), order, largestFirst: true };
}

function nameOf({ symbol, denom, contract }: CoinItem): string | null {
  return symbol ?? denom ?? contract;
}

export const batchTable: Table<BatchItem> = {
  name: 'batches',
  title: 'Live batches',
  emptyText: 'No batch is live.',
  rowKey: ({ nonce, token }) => `${nonce} ${token.contract ?? ''}`,
  columns: [
    {
      key: 'nonce',
      title: 'Nonce',
      cell: ({ nonce }) => markup`${nonce}`,
      order: byDecimalString(({ nonce }) => nonce),
    },
    { key: 'token', title: 'Token', cell: ({ token }, { links }) => cells.token(token, links) },
    {
      key: 'transfers',
      title: 'Transfers',
      cell: ({ transfers }) => cells.text(transfers),
      order: byNumber(({ transfers }) => transfers),
      largestFirst: true,
    },
    createdColumn(),
    {
      key: 'timeout',
      title: 'Timeout',
      cell: timeoutCell,
      isWide: true,
      order: byDecimalString(({ timeoutHeight }) => timeoutHeight),
    },
    signedColumn('BridgeBatchUnsigned'),
    missingColumn('Missing signatures'),
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

export const valsetTable: Table<ValsetItem> = {
  name: 'valsets',
  title: 'Unrelayed validator sets',
  emptyText: 'No validator set is unrelayed.',
  rowKey: ({ nonce }) => nonce,
  columns: [
    {
      key: 'nonce',
      title: 'Nonce',
      cell: ({ nonce }) => markup`${nonce}`,
      order: byDecimalString(({ nonce }) => nonce),
    },
    { key: 'members', title: 'Members', cell: ({ members }) => cells.text(members) },
    createdColumn(),
    {
      key: 'deadline',
      title: 'Signing deadline',
      cell: ({ deadlineHeight, headroom }) =>
        cells.blocks(headroom, 'hub blocks', 'left', { preposition: 'jailed after', value: deadlineHeight }),
      order: byDecimalString(({ deadlineHeight }) => deadlineHeight),
    },
    signedColumn('BridgeValsetUnsigned'),
    missingColumn('Missing signatures'),
  ],
};

export const claimTable: Table<ClaimItem> = {
  name: 'claims',
  title: 'Claims of pending events',
  emptyText: 'No event is pending.',
  rowKey: ({ eventNonce }) => eventNonce,
  columns: [
    {
      key: 'event',
      title: 'Event',
      cell: ({ eventNonce, conflicting }, page) =>
        markup`${eventNonce} ${conflicting ? markup`<span class="badge ${alertClass(page, 'BridgeConflictingClaims')}" title="validators voted for different claims of this event">conflict</span>` : ''}`,
      order: byDecimalString(({ eventNonce }) => eventNonce),
    },
    {
      key: 'votes',
      title: 'Votes',
      cell: ({ votes }) => cells.text(votes),
      order: byNumber(({ votes }) => votes),
      largestFirst: true,
    },
    {
      key: 'voted',
      title: 'Voted power',
      cell: ({ votedPowerRatio, age }, page) =>
        cells.share(votedPowerRatio, isLate(age) ? alertClass(page, 'BridgeOracleStalled') : ''),
      order: byNumber(({ votedPowerRatio }) => votedPowerRatio),
    },
    {
      key: 'first',
      title: 'First vote',
      cell: ({ firstVoteHeight, age }) =>
        cells.blocks(age, 'hub blocks', 'ago', { preposition: 'at', value: firstVoteHeight }),
      order: byDecimalString(({ firstVoteHeight }) => firstVoteHeight),
    },
    missingColumn('Missing votes'),
  ],
};

function createdColumn<Row extends BatchItem | ValsetItem>(): Column<Row> {
  return {
    key: 'created',
    title: 'Created',
    cell: ({ createdHeight, age }) =>
      cells.blocks(age, 'hub blocks', 'ago', { preposition: 'at', value: createdHeight }),
    order: byDecimalString(({ createdHeight }) => createdHeight),
  };
}

function signedColumn<Row extends Signatures & Pick<BatchItem, 'age'>>(alert: string): Column<Row> {
  return {
    key: 'signed',
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
    order: byNumber(({ signedPowerRatio }) => signedPowerRatio),
  };
}

/** Only their number: who they are is in one table for all items. */
function missingColumn<Row extends Pick<ClaimItem, 'missing'>>(title: string): Column<Row> {
  return {
    key: 'missing',
    title,
    cell: ({ missing }) => cells.orUnknown(missing, ({ total }) => markup`${total === 0 ? 'none' : total}`),
    order: byNumber(({ missing }) => missing?.total ?? null),
    largestFirst: true,
  };
}
