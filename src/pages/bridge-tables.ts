import { isLate } from '../facts/bridge/block-times.js';
import { haveOrHas, listMembers, validators } from '../problems/sentence.js';
import { firingVerdicts } from '../engine/verdicts.js';
import { durationInWords, percent } from '../text/format.js';
import * as cells from './cells.js';
import { markup, type Markup } from './html.js';
import { anchor } from './layout.js';
import { alertClass, itemSection, type ItemTable, type ListSection, type PageContext } from './table.js';
import type { BatchItem, BridgeItems, TransferItem, ValsetItem, WaitingTokenItem } from '../facts/items/bridge.js';
import type { ValidatorItem } from '../facts/items/validator-items.js';
import type { WaitReason } from '../facts/bridge/batches.js';
import { WAIT_TEXTS, waitAdvice } from '../problems/waits.js';
import type { VerdictView } from './view.js';
import type { ClaimItem } from '../facts/bridge/claims.js';
import type { CoinItem } from '../facts/bridge/coins.js';

/*
 * The waiting items of a bridge, and their reasons: transfers, batches, validator sets, and claims of pending events.
 */

/** The fees, and the minimum from which on a batch is worth it. */
function feeCell(fee: CoinItem, minimum: CoinItem | null): Markup {
  return markup`${cells.coin(fee)}${minimum === null ? '' : markup`<small>of at least ${cells.coin(minimum)}</small>`}`;
}

function waitCell(reason: WaitReason | null): Markup {
  return cells.orUnknown(reason, (known) => markup`${WAIT_TEXTS[known].row}`);
}

/** What can be done without an alert. */
function adviceHtml(reason: WaitReason, { bridge }: PageContext): Markup {
  return markup`<small>${waitAdvice(reason, bridge?.isContractPaused ?? undefined)}</small>`;
}

const NOTHING_WAITS: Markup = markup`<span class="quiet">all in batches</span>`;

const tokenTable: ItemTable<WaitingTokenItem> = {
  name: 'tokens',
  title: 'Waiting tokens',
  orderText: 'the most worth first by multiples of their minimum fee, then by transfers',
  openRows: 12,
  rowId: ({ token }) => anchor('tokens', token.contract ?? ''),
  columns: [
    { title: 'Token', cell: ({ token }, { links }) => cells.token(token, links), type: 'row-header' },
    { title: 'In no batch', cell: ({ unbatchedTransfers }) => cells.text(unbatchedTransfers) },
    { title: 'Amount in no batch', cell: ({ unbatched }) => cells.coin(unbatched) },
    {
      title: 'Fees of the next batch',
      cell: ({ queue }) => (queue ? feeCell(queue.fees, queue.minimumFee) : NOTHING_WAITS),
    },
    {
      title: 'Why it waits',
      cell: ({ queue }, page) =>
        queue
          ? markup`${waitCell(queue.waitsFor)}${queue.waitsFor === null ? '' : adviceHtml(queue.waitsFor, page)}`
          : NOTHING_WAITS,
    },
    { title: 'In batches', cell: ({ batchedTransfers }) => cells.text(batchedTransfers) },
    { title: 'Amount in batches', cell: ({ batched }) => cells.coin(batched) },
  ],
};

const transferTable: ItemTable<TransferItem> = {
  name: 'transfers',
  title: 'Transfers in no batch',
  rowId: ({ id, batch }) => anchor('transfers', id, ...(batch === null ? [] : [batch])),
  columns: [
    { title: 'Id', cell: ({ id }) => markup`${id}` },
    { title: 'Token', cell: ({ amount }, { links }) => cells.token(amount, links) },
    { title: 'Amount', cell: ({ amount }) => cells.coin(amount) },
    { title: 'Fee', cell: ({ fee }) => cells.coin(fee) },
    {
      title: 'Waits for at least',
      cell: ({ age }) =>
        age === null
          ? markup`${cells.UNKNOWN}<small>no batch shows since when</small>`
          : cells.blocks(age, 'hub blocks'),
    },
    {
      title: 'Why it waits',
      cell: ({ waitsFor, queue }) =>
        markup`${waitCell(waitsFor)}${queue === null ? '' : markup`<small>fees of the next batch: ${feeCell(queue.fees, queue.minimumFee)}</small>`}`,
    },
    { title: 'Sender', cell: ({ sender }) => cells.identifier(sender) },
    { title: 'Destination', cell: ({ destination }) => cells.identifier(destination) },
  ],
};

/** A search also finds transfers in batches. */
const foundTransferTable: ItemTable<TransferItem> = {
  ...transferTable,
  title: 'Transfers',
  columns: [
    { title: 'Batch', cell: ({ batch }) => (batch === null ? cells.NONE : markup`${batch}`) },
    ...transferTable.columns,
  ],
};

const registrationTable: ItemTable<ValidatorItem> = {
  name: 'registrations',
  title: 'Registered validators',
  orderText: 'in the order of the document',
  rowId: ({ externalAddress }) => anchor('registrations', externalAddress ?? ''),
  columns: [
    { title: 'Name', cell: ({ name }) => cells.orUnknown(name, cells.name), type: 'row-header' },
    { title: 'Orchestrator', cell: ({ orchestrator }) => cells.identifier(orchestrator) },
    { title: 'Account', cell: ({ sender }) => cells.identifier(sender) },
    { title: 'External address', cell: ({ externalAddress }) => cells.identifier(externalAddress) },
    {
      title: 'Power',
      cell: ({ powerRatio }) =>
        powerRatio === null ? markup`not in the newest set` : markup`${percent(powerRatio, 2)}`,
    },
  ],
};

const batchTable: ItemTable<BatchItem> = {
  name: 'batches',
  alerts: ['BridgeBatchUnsigned', 'BridgeBatchNotRelayed', 'BridgeBatchTimeoutNear', 'BridgeBatchOverdue'],
  // Those that the sentences count.
  firstRows: (batches, { view }) => batches.filter((batch) => isJudged(batch, firingVerdicts(view))),
  title: 'Live batches',
  orderText: 'those that lack signatures first, then the oldest',
  rowId: ({ nonce, token }) => anchor('batches', `${nonce} ${token.contract ?? ''}`),
  columns: [
    { title: 'Nonce', cell: ({ nonce }) => markup`${nonce}` },
    { title: 'Token', cell: ({ token }, { links }) => cells.token(token, links) },
    { title: 'Transfers', cell: ({ transfers }) => cells.text(transfers) },
    { title: 'Amount', cell: ({ amount }) => cells.coin(amount) },
    { title: 'Fees', cell: ({ fee, minimumFee }) => feeCell(fee, minimumFee) },
    { title: 'Created', cell: createdCell },
    { title: 'Why it waits', cell: batchWaitCell, type: 'wide' },
    { title: 'Timeout', cell: timeoutCell, type: 'wide' },
    { title: 'Signed power', cell: (batch, page) => signedCell(batch, alertClass(page, 'BridgeBatchUnsigned')) },
  ],
};

function isJudged({ waitsFor, belowThreshold }: BatchItem, firing: readonly Pick<VerdictView, 'alert'>[]): boolean {
  return firing.some(({ alert }) => {
    if (alert === 'BridgeBatchUnsigned') return belowThreshold === true;
    if (alert === 'BridgeBatchOverdue') return waitsFor === 'timeout';
    const isSigned = waitsFor === 'relayer' || waitsFor === 'observation';
    return isSigned && (alert === 'BridgeBatchNotRelayed' || alert === 'BridgeBatchTimeoutNear');
  });
}

/** Why the fees of a batch are probably too low, where no minimum is configured. */
function poorText(fee: CoinItem, executed: NonNullable<BatchItem['executedFee']>): Markup {
  const which = executed.isOfAll ? 'batches' : 'all but one of the batches';
  return markup`probably too poor: pays ${cells.coin(fee)}; ${which} that were executed in 14 days paid ${cells.coin(executed)} and more`;
}

function batchWaitCell(batch: BatchItem, page: PageContext): Markup {
  const { waitsFor, signedPowerRatio, state, executedPowerRatio, executedFee, projectedHeadroom } = batch;
  const claimed = executedPowerRatio === null ? null : `${percent(executedPowerRatio, 2)} of the power claim`;
  return cells.orUnknown(waitsFor, (reason) => {
    if (reason === 'observation') return markup`probably executed: ${claimed ?? ''} it, not observed yet`;
    const claimants = claimed === null ? '' : markup`<small>${claimed} that it was executed</small>`;
    if (reason === 'timeout') {
      const text = `${WAIT_TEXTS.timeout.row}${state === 'expired' ? ': the hub will cancel it' : ', but still held by the hub'}`;
      return markup`<span class="${alertClass(page, 'BridgeBatchOverdue')}">${text}</span>${adviceHtml(reason, page)}${claimants}`;
    }
    if (reason === 'fees') {
      const seconds = projectedHeadroom?.seconds ?? null;
      const left = seconds === null ? '' : `, in ${durationInWords(seconds)}`;
      return markup`${executedFee === null ? WAIT_TEXTS.fees.row : poorText(batch.fee, executedFee)}<small>its transfers are free again when it times out${left}</small>${claimants}`;
    }
    if (reason === 'signatures') {
      const share =
        signedPowerRatio !== null && page.bridge !== undefined
          ? `: ${percent(signedPowerRatio, 2)} of ${percent(Number(page.bridge.powerThreshold), 2)}`
          : '';
      return markup`${WAIT_TEXTS[reason].row}${share}${claimants}`;
    }
    return markup`${WAIT_TEXTS[reason].row}${adviceHtml(reason, page)}${claimants}`;
  });
}

function timeoutCell({ timeoutHeight, projectedHeadroom, headroom }: BatchItem): Markup {
  // The height known to the hub lags, so it is shown only without an estimate.
  const height = { preposition: 'at', value: timeoutHeight };
  return projectedHeadroom === null
    ? markup`known to the hub: ${cells.blocks(headroom, 'external blocks', 'left', height)}`
    : cells.blocks(projectedHeadroom, 'external blocks', 'left', height);
}

const valsetTable: ItemTable<ValsetItem> = {
  name: 'valsets',
  alerts: ['BridgeValsetUnsigned', 'BridgeValsetDrift'],
  title: 'Unrelayed validator sets',
  orderText: 'those that lack signatures first, then the oldest',
  rowId: ({ nonce }) => anchor('valsets', nonce),
  columns: [
    { title: 'Nonce', cell: ({ nonce }) => markup`${nonce}` },
    { title: 'Members', cell: ({ members }) => cells.text(members) },
    { title: 'Created', cell: createdCell },
    {
      title: 'Signing deadline',
      cell: ({ deadlineHeight, headroom, missing }) =>
        missing?.total === 0
          ? markup`<span class="quiet">all have signed</span>`
          : cells.blocks(headroom, 'hub blocks', 'left', { preposition: 'jailed after', value: deadlineHeight }),
    },
    { title: 'Signed power', cell: (valset, page) => signedCell(valset, alertClass(page, 'BridgeValsetUnsigned')) },
  ],
};

function createdCell({ createdHeight, age }: BatchItem | ValsetItem): Markup {
  return cells.blocks(age, 'hub blocks', 'ago', { preposition: 'at', value: createdHeight });
}

/** The table of validators has the missing signers. */
function signedCell({ signedPowerRatio, belowThreshold, age, missing }: BatchItem | ValsetItem, late: string): Markup {
  const cssClass = belowThreshold === true && isLate(age) ? late : '';
  const words = { true: isLate(age) ? 'below threshold, ' : 'being signed, ', false: 'sufficient, ', null: '' };
  const signers = missing === null ? 'unknown' : missing.total || 'none';
  return markup`${cells.share(signedPowerRatio, belowThreshold === false ? 'ok' : cssClass)}<small${cssClass === '' ? '' : markup` class="${cssClass}"`}>${words[`${belowThreshold}`]}${signers} missing</small>`;
}

/** The badges of a claim, with their alerts. */
const contradictions = {
  conflict: {
    word: 'conflict',
    title: 'validators voted for different claims of this event',
    alert: 'BridgeConflictingClaims',
  },
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
} as const satisfies Record<NonNullable<ClaimItem['violation']> | 'conflict', object>;

function eventCell({ eventNonce, conflicting, violation }: ClaimItem, page: PageContext): Markup {
  const badges = [...(conflicting ? ['conflict' as const] : []), ...(violation === null ? [] : [violation])].map(
    (key) => {
      const { word, title, alert } = contradictions[key];
      return markup` <span class="badge ${alertClass(page, alert)}" title="${title}">${word}</span>`;
    },
  );
  return markup`${eventNonce}${badges}`;
}

/** The claimed event, with the subjects of disputes: amount, receiver and height. */
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

const claimTable: ItemTable<ClaimItem> = {
  name: 'claims',
  alerts: ['BridgeOracleStalled', 'BridgeConflictingClaims', 'BridgeClaimWithoutBatch', 'BridgeContractValsetMismatch'],
  // No later event is observed before it.
  firstRows: (claims) => {
    const blocking = claims.find(({ conflicting }) => conflicting) ?? claims[0];
    return claims.filter(({ eventNonce }) => eventNonce === blocking?.eventNonce);
  },
  title: 'Claims of pending events',
  rowId: ({ eventNonce }) => anchor('claims', eventNonce),
  columns: [
    { title: 'Event', cell: eventCell },
    { title: 'Claim', cell: claimCell, type: 'wide' },
    { title: 'Votes', cell: ({ votes }) => cells.text(votes) },
    {
      title: 'Voted power',
      cell: ({ votedPowerRatio, age }, page) =>
        cells.share(votedPowerRatio, isLate(age) ? alertClass(page, 'BridgeOracleStalled') : ''),
    },
    {
      title: 'First vote',
      cell: ({ firstVoteHeight, age }) =>
        cells.blocks(age, 'hub blocks', 'ago', { preposition: 'at', value: firstVoteHeight }),
    },
    {
      title: 'Voted by',
      cell: ({ voted }) => cells.orUnknown(voted, (voters) => markup`${validators(listMembers(voters), voters.total)}`),
    },
    { title: 'Others', cell: othersCell },
  ],
};

/** A vote for another claim of the event is not a missing vote. */
function othersCell({ missing, dissenting }: ClaimItem): Markup {
  return cells.orUnknown(missing, ({ total }) => {
    const dissenters = dissenting?.total ?? 0;
    const names =
      dissenters === 0 || dissenting === null
        ? ''
        : markup`<small>${validators(listMembers(dissenting), dissenters)}</small>`;
    const silent = total - dissenters;
    return markup`${silent === 0 ? 'all have voted' : `${silent} ${haveOrHas(silent)} not voted`}${dissenters === 0 ? '' : markup`; ${dissenters} voted for another claim${names}`}`;
  });
}

/** The lists of a bridge; those that are `null` exist only with a search. */
export function bridgeLists(items: BridgeItems, page: PageContext): readonly ListSection[] {
  return [
    itemSection(tokenTable, items.tokens, page),
    itemSection(batchTable, items.batches, page),
    itemSection(valsetTable, items.valsets, page),
    itemSection(claimTable, items.claims, page),
    itemSection(page.search === null ? transferTable : foundTransferTable, items.transfers, page),
    ...(items.registrations === null ? [] : [itemSection(registrationTable, items.registrations, page)]),
  ];
}
