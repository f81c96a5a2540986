import type {
  BatchItem,
  BatchState,
  ClaimItem,
  CoinItem,
  DecimalString,
  Signatures,
  TransferItem,
  ValsetItem,
} from '../pending/items.js';
import * as cells from './cells.js';
import { markup, type Markup } from './html.js';
import { byDecimalString, byNumber, byString, groupedBy } from './sort-order.js';
import type { Column, Table } from './table.js';

export const transferTable: Table<TransferItem> = {
  name: 'transfers',
  title: 'Transfers waiting for a batch',
  emptyText: 'No transfer is waiting.',
  columns: [
    { key: 'id', title: 'Id', cell: ({ id }) => markup`${id}`, order: byDecimalString(({ id }) => id) },
    {
      key: 'token',
      title: 'Token',
      cell: ({ amount }) => cells.token(amount),
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
  columns: [
    {
      key: 'nonce',
      title: 'Nonce',
      cell: ({ nonce }) => markup`${nonce}`,
      order: byDecimalString(({ nonce }) => nonce),
    },
    { key: 'token', title: 'Token', cell: ({ token }) => cells.token(token) },
    {
      key: 'transfers',
      title: 'Transfers',
      cell: ({ transfers }) => cells.text(transfers),
      order: byNumber(({ transfers }) => transfers),
      largestFirst: true,
    },
    {
      key: 'created',
      title: 'Created',
      cell: ({ createdHeight, age }) => heightAndSpan(createdHeight, cells.blocks(age, 'hub blocks', 'ago')),
      order: byDecimalString(({ createdHeight }) => createdHeight),
    },
    {
      key: 'timeout',
      title: 'Timeout',
      cell: timeoutCell,
      isWide: true,
      order: byDecimalString(({ timeoutHeight }) => timeoutHeight),
    },
    signedColumn(),
    missingColumn('Missing signatures'),
  ],
};

const batchStates: Readonly<Record<BatchState, Markup>> = {
  live: markup``,
  overdue: markup`<span class="badge bad" title="timed out at the estimated external height, but still held by the hub">overdue</span>`,
  expired: markup`<span class="badge bad" title="timed out at the external height known to the hub, which will cancel it">expired</span>`,
};

function timeoutCell({ timeoutHeight, projectedHeadroom, headroom, state }: BatchItem): Markup {
  const badge = state === null ? markup`` : batchStates[state];
  return markup`${cells.blocks(projectedHeadroom, 'external blocks', 'left')} ${badge}<small>known to the hub: ${cells.blocks(headroom, 'blocks', 'left')}</small><small>at external height ${cells.digits(timeoutHeight)}</small>`;
}

export const valsetTable: Table<ValsetItem> = {
  name: 'valsets',
  title: 'Unrelayed validator sets',
  emptyText: 'No validator set is unrelayed.',
  columns: [
    {
      key: 'nonce',
      title: 'Nonce',
      cell: ({ nonce }) => markup`${nonce}`,
      order: byDecimalString(({ nonce }) => nonce),
    },
    { key: 'members', title: 'Members', cell: ({ members }) => cells.text(members) },
    {
      key: 'created',
      title: 'Created',
      cell: ({ createdHeight, age }) => heightAndSpan(createdHeight, cells.blocks(age, 'hub blocks', 'ago')),
      order: byDecimalString(({ createdHeight }) => createdHeight),
    },
    {
      key: 'deadline',
      title: 'Signing deadline',
      cell: ({ deadlineHeight, headroom }) =>
        heightAndSpan(deadlineHeight, cells.blocks(headroom, 'hub blocks', 'left'), 'jailed after'),
      order: byDecimalString(({ deadlineHeight }) => deadlineHeight),
    },
    signedColumn(),
    missingColumn('Missing signatures'),
  ],
};

export const claimTable: Table<ClaimItem> = {
  name: 'claims',
  title: 'Claims of pending events',
  emptyText: 'No event is pending.',
  columns: [
    {
      key: 'event',
      title: 'Event',
      cell: ({ eventNonce, conflicting }) =>
        markup`${eventNonce} ${conflicting ? markup`<span class="badge bad" title="validators voted for different claims of this event">conflict</span>` : ''}`,
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
      cell: ({ votedPowerRatio }) => cells.share(votedPowerRatio, null),
      order: byNumber(({ votedPowerRatio }) => votedPowerRatio),
    },
    {
      key: 'first',
      title: 'First vote',
      cell: ({ firstVoteHeight, age }) => heightAndSpan(firstVoteHeight, cells.blocks(age, 'hub blocks', 'ago')),
      order: byDecimalString(({ firstVoteHeight }) => firstVoteHeight),
    },
    missingColumn('Missing votes'),
  ],
};

function heightAndSpan(height: DecimalString | null, span: Markup, preposition = 'at'): Markup {
  return markup`${span}<small>${preposition} height ${cells.digits(height)}</small>`;
}

function signedColumn<Row extends Signatures>(): Column<Row> {
  return {
    key: 'signed',
    title: 'Signed power',
    cell: ({ signedPowerRatio, belowThreshold }) =>
      markup`${cells.share(signedPowerRatio, belowThreshold)}${belowThreshold === null ? '' : thresholdNote(belowThreshold)}`,
    order: byNumber(({ signedPowerRatio }) => signedPowerRatio),
  };
}

function thresholdNote(belowThreshold: boolean): Markup {
  return belowThreshold
    ? markup`<small class="bad">below threshold</small>`
    : markup`<small class="ok">sufficient</small>`;
}

function missingColumn<Row extends Pick<ClaimItem, 'missing'>>(title: string): Column<Row> {
  return {
    key: 'missing',
    title,
    cell: ({ missing }) => cells.missing(missing),
    order: byNumber(({ missing }) => missing?.total ?? null),
    isWide: true,
    largestFirst: true,
  };
}
