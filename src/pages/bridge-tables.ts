import { groupBy } from '../facts/grouping.js';
import { isLate } from '../facts/items/block-spans.js';
import type {
  BatchItem,
  BridgeItems,
  ClaimItem,
  CoinItem,
  DecimalString,
  Members,
  QueueItem,
  Signatures,
  TransferItem,
  ValsetItem,
  WaitingTokenItem,
  WaitReason,
} from '../facts/items/items.js';
import { haveOrHas, membersOf, validators } from '../problems/sentence.js';
import { count, percent } from '../text/format.js';
import * as cells from './cells.js';
import { isolated, markup, type Markup } from './html.js';
import { anchor } from './layout.js';
import { alertClass, exact, type ItemColumn, type ItemTable, type PageContext } from './table.js';

/* What waits on a bridge, and why: transfers, batches, validator sets, and claims of events that are not observed. */

const WAITS: Readonly<Record<WaitReason, string>> = {
  timeout: 'timed out',
  signatures: 'needs signatures',
  fees: 'below the minimum: nobody takes it',
  relayer: 'signed, waits for a relayer',
  batch: 'waits for a batch',
};

/** The fees against the minimum that makes somebody take them. */
function feeCell(fee: CoinItem, minimum: CoinItem | null): Markup {
  return markup`${cells.coin(fee)}${minimum === null ? '' : markup`<small>of at least ${cells.coin(minimum)}</small>`}`;
}

function queueCell(queue: QueueItem | null): Markup {
  return cells.orUnknown(queue, ({ waitsFor }) => cells.orUnknown(waitsFor, (reason) => markup`${WAITS[reason]}`));
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
    {
      title: 'Fees of the next batch',
      cell: ({ queue }) => (queue === null ? NONE : feeCell(queue.fees, queue.minimumFee)),
    },
    { title: 'Why it waits', cell: ({ queue }) => (queue === null ? NONE : queueCell(queue)) },
    countColumn('In batches', 'batched', ({ batchedTransfers }) => batchedTransfers),
    { title: 'Amount in batches', cell: ({ batched }) => cells.coin(batched) },
  ],
};

const NONE: Markup = markup`<span class="quiet">none</span>`;

export const transferTable: ItemTable<TransferItem> = {
  name: 'transfers',
  title: 'Transfers in no batch',
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
    {
      title: 'Waits for at least',
      cell: ({ age }) => cells.orUnknown(age, (known) => cells.blocks(known, 'hub blocks')),
    },
    {
      title: 'Why it waits',
      cell: ({ queue }) =>
        markup`${queueCell(queue)}${queue === null ? '' : markup`<small>fees of the next batch: ${feeCell(queue.fees, queue.minimumFee)}</small>`}`,
    },
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

/** How many live batches wait for what. */
export function batchSummary({ batchesByWait }: BridgeItems): Markup {
  if (batchesByWait === null || batchesByWait.length === 0) return markup``;
  const parts = batchesByWait.map(
    ({ waitsFor, batches }) => `${batches} × ${waitsFor === 'unknown' ? 'unknown why' : WAITS[waitsFor]}`,
  );
  return markup`<p class="note">${parts.join('; ')}.</p>`;
}

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
    { title: 'Amount', cell: ({ amount }) => cells.coin(amount) },
    { title: 'Fees', cell: ({ fee, minimumFee }) => feeCell(fee, minimumFee) },
    createdColumn(),
    { title: 'Why it waits', cell: batchWaitCell, type: 'wide' },
    {
      title: 'Timeout',
      cell: timeoutCell,
      type: 'wide',
      sort: { key: 'timeout', value: ({ timeoutHeight }) => exact(timeoutHeight) },
    },
    signedColumn('BridgeBatchUnsigned'),
  ],
};

function batchWaitCell({ waitsFor, signedPowerRatio }: BatchItem, { required }: PageContext): Markup {
  return cells.orUnknown(waitsFor, (reason) => {
    const share =
      reason === 'signatures' && signedPowerRatio !== null && required !== null
        ? `: ${percent(signedPowerRatio, 2)} of ${percent(required, 2)}`
        : '';
    return markup`${WAITS[reason]}${share}`;
  });
}

const timeouts = {
  live: null,
  overdue: { word: 'overdue', title: 'timed out at the estimated external height, but still held by the hub' },
  expired: { word: 'expired', title: 'timed out at the external height known to the hub, which will cancel it' },
} as const;

function timeoutCell({ timeoutHeight, projectedHeadroom, headroom, state }: BatchItem, page: PageContext): Markup {
  const badge = state === null ? null : timeouts[state];
  const badgeHtml =
    badge === null
      ? ''
      : markup`<span class="badge ${alertClass(page, 'BridgeBatchOverdue')}" title="${badge.title}">${badge.word}</span> `;
  // The height known to the hub lags, so it is shown only where there is no estimate.
  const height = { preposition: 'at', value: timeoutHeight };
  const left =
    projectedHeadroom === null
      ? markup`known to the hub: ${cells.blocks(headroom, 'external blocks', 'left', height)}`
      : cells.blocks(projectedHeadroom, 'external blocks', 'left', height);
  return markup`${badgeHtml}${left}`;
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

/** Who has not signed is in one table for all items. */
function signedColumn<Row extends Signatures & Pick<BatchItem, 'age'>>(alert: string): ItemColumn<Row> {
  return {
    title: 'Signed power',
    cell: ({ signedPowerRatio, belowThreshold, age, missing }, page) => {
      const cssClass =
        belowThreshold === false ? 'ok' : belowThreshold === true && isLate(age) ? alertClass(page, alert) : '';
      const word =
        belowThreshold === null
          ? []
          : [belowThreshold ? (isLate(age) ? 'below threshold' : 'being signed') : 'sufficient'];
      const others = missing === null ? 'unknown' : missing.total === 0 ? 'none' : missing.total;
      return markup`${cells.share(signedPowerRatio, cssClass)}<small${cssClass === '' || cssClass === 'ok' ? '' : markup` class="${cssClass}"`}>${[...word, `${others} missing`].join(', ')}</small>`;
    },
    sort: { key: 'signed', value: ({ signedPowerRatio }) => signedPowerRatio },
  };
}

function conflictBadge({ conflicting }: ClaimItem, page: PageContext): Markup | '' {
  if (!conflicting) return '';
  return markup`<span class="badge ${alertClass(page, 'BridgeConflictingClaims')}" title="validators voted for different claims of this event">conflict</span>`;
}

const violations = {
  valset_claim_mismatch: {
    word: 'foreign validator set',
    title: 'the hub did not make the validator set of this claim',
    alert: 'BridgeContractValsetMismatch',
  },
  withdraw_claim_without_batch: {
    word: 'unknown batch',
    title: 'the hub does not have the batch of this claim, and halts when the claim is observed',
    alert: 'BridgeClaimWithoutBatch',
  },
} as const satisfies Record<NonNullable<ClaimItem['violation']>, object>;

function violationBadge({ violation }: ClaimItem, page: PageContext): Markup | '' {
  if (violation === null) return '';
  const { word, title, alert } = violations[violation];
  return markup`<span class="badge ${alertClass(page, alert)}" title="${title}">${word}</span>`;
}

/** What is claimed to have happened on the external chain, with what a dispute is about: amount, receiver and height. */
function claimCell(
  { type, token, amount, receiver, batchNonce, valsetNonce, externalHeight }: ClaimItem,
  page: PageContext,
): Markup {
  const height = externalHeight === null ? '' : markup`<small>external height ${cells.digits(externalHeight)}</small>`;
  const name = token === null ? cells.text(null) : cells.token(token, page.links);
  switch (type) {
    case null:
      return markup`<span class="quiet">of unknown type</span>`;
    case 'deposit':
      return markup`deposit of ${amount === null ? cells.text(null) : cells.coin(amount)} ${amount?.symbol === null ? name : markup`<small>${cells.identifier(token?.contract ?? null)}</small>`} for ${cells.identifier(receiver)}${height}`;
    case 'withdraw':
      return markup`batch ${cells.text(batchNonce)} of ${name} was executed${height}`;
    case 'valset':
      return markup`validator set ${cells.text(valsetNonce)} is in the contract${height}`;
    case 'erc20_deployed':
      return markup`contract ${name} was deployed${height}`;
  }
}

export const claimTable: ItemTable<ClaimItem> = {
  name: 'claims',
  title: 'Claims of pending events',
  emptyText: 'No event is pending.',
  rowId: ({ eventNonce }) => anchor('claims', eventNonce),
  columns: [
    {
      title: 'Event',
      cell: (claim, page) => markup`${claim.eventNonce} ${conflictBadge(claim, page)} ${violationBadge(claim, page)}`,
      sort: { key: 'event', value: ({ eventNonce }) => exact(eventNonce) },
    },
    { title: 'Claim', cell: claimCell, type: 'wide' },
    countColumn('Votes', 'votes', ({ votes }) => votes),
    {
      title: 'Voted power',
      cell: ({ votedPowerRatio, age }, page) =>
        cells.share(votedPowerRatio, isLate(age) ? alertClass(page, 'BridgeOracleStalled') : ''),
      sort: { key: 'voted', value: ({ votedPowerRatio }) => votedPowerRatio },
    },
    {
      title: 'First vote',
      cell: ({ firstVoteHeight, age }) =>
        cells.blocks(age, 'hub blocks', 'ago', { preposition: 'at', value: firstVoteHeight }),
      sort: { key: 'first', value: ({ firstVoteHeight }) => exact(firstVoteHeight) },
    },
    {
      title: 'Voted by',
      cell: ({ voted }) => cells.orUnknown(voted, (own) => markup`${validators(membersOf(own), own.total)}`),
    },
    {
      title: 'Others',
      cell: othersCell,
      sort: { key: 'missing', value: ({ missing }) => missing?.total ?? null, largestFirst: true },
    },
  ],
};

type ClaimedItems = Pick<BridgeItems, 'claims' | 'pendingEvents' | 'conflictingEvents'>;

/** Who has not voted for this claim: a vote for another claim of the event is not a missing vote. */
function othersCell({ missing, dissenting }: ClaimItem): Markup {
  return cells.orUnknown(missing, ({ total }) => {
    const others = dissenting?.total ?? 0;
    const names =
      others === 0 || dissenting === null ? '' : markup`<small>${validators(membersOf(dissenting), others)}</small>`;
    const silent = total - others;
    return markup`${silent === 0 ? 'all have voted' : `${silent} ${haveOrHas(silent)} not voted`}${others === 0 ? '' : markup`; ${others} voted for another claim${names}`}`;
  });
}

/** How many events have several claims, and events for which the same validators have not voted, in one sentence each. Empty unless that is shorter than the table. */
export function claimSummary({ claims: list, pendingEvents, conflictingEvents }: ClaimedItems): Markup {
  if (!list.readable) return markup``;
  const several =
    conflictingEvents === null || conflictingEvents === 0
      ? []
      : [
          markup`<li>${count(list.total, 'claim')} of ${count(Number(pendingEvents), 'event')}: ${count(conflictingEvents, 'event')} with several claims`,
        ];
  const silentOf = ({ missing }: ClaimItem): string =>
    JSON.stringify([missing?.total, missing?.members.map(({ externalAddress }) => externalAddress)]);
  const plain = list.rows.filter(
    ({ conflicting, violation, missing }) => !conflicting && violation === null && missing !== null,
  );
  const groups = Array.from(groupBy(plain, silentOf).values()).filter((rows) => rows.length > 1);
  const items = groups.map((rows) => {
    const [first, last] = [rows[0], rows.at(-1)];
    const missing: Members | null = first?.missing ?? null;
    const haveNot = missing === null ? '' : `${missing.total} ${haveOrHas(missing.total)} not voted`;
    const who =
      missing === null || missing.total === 0
        ? 'all have voted'
        : `${haveNot}: ${validators(membersOf(missing), missing.total)}`;
    return markup`<li>${count(rows.length, 'event')}, ${first?.eventNonce ?? ''} to ${last?.eventNonce ?? ''}: ${isolated(who)}`;
  });
  const all = [...several, ...items];
  return all.length === 0 ? markup`` : markup`<ul>${all}</ul>`;
}
