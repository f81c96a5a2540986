import { haveOrHas, membersOf, validators } from '../problems/sentence.js';
import { isLate } from '../facts/items/block-spans.js';
import { groupBy } from '../facts/grouping.js';
import type { BridgeItems, ClaimItem, Members } from '../facts/items/items.js';
import { count } from '../text/format.js';
import * as cells from './cells.js';
import { isolated, markup, type Markup } from './html.js';
import { alertClass, type ItemTable, type PageContext } from './item-table.js';
import { anchor } from './layout.js';
import { countColumn } from './pending-tables.js';
import { exact } from './table.js';

/* The claims of events that are not observed yet: what is claimed, and by whom. */

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
