import { firstDispute, type Dispute } from '../problems/disputes.js';
import type { Subject } from '../problems/problem.js';
import type { BridgeItems, MissingItems, WatchedItem } from '../facts/items/items.js';
import { duration, percent } from '../text/format.js';
import { lateItemsOf, type BlockingValidator } from './blocking.js';
import * as cells from './cells.js';
import { isolated, markup, sentenceHtml, type Markup } from './html.js';
import { anchor, pendingLink } from './layout.js';
import type { NodeView, WatchedStatus } from './node-view.js';
import { tableHtml, type Column, type Table } from './table.js';
import { firingVerdicts, severityOf, type TargetView, type VerdictView } from './target-view.js';
import { statusLabel } from './verdict-entry.js';

/*
 * The validators of `watch`, before everything else and also when all is well.
 */

/** One bridge and its own validators. */
export interface OwnValidators {
  readonly view: TargetView;
  readonly items: BridgeItems;
  readonly node: NodeView;
}

interface Row extends WatchedItem {
  readonly view: TargetView;
  /** What the node has answered about it; `undefined` if it is not asked. */
  readonly status: WatchedStatus | undefined;
  readonly lastObservedNonce: string | null;
  /** The first event with several claims. */
  readonly dispute: Dispute | undefined;
  /** What waits for it for longer than usual, if anything does. */
  readonly late: BlockingValidator | undefined;
}

/** Empty without an entry of `watch`. */
export function ownValidatorsSection(bridges: readonly OwnValidators[], page: 'status' | 'target'): Markup {
  const rows = bridges.flatMap(({ view, items, node }) =>
    items.watched.map((own): Row => ({
      ...own,
      view,
      status: node.watched.find(({ orchestrator }) => orchestrator === own.orchestrator),
      lastObservedNonce: items.lastObservedNonce,
      dispute: firstDispute(items),
      late: own.externalAddress === null ? undefined : lateItemsOf(items, own.externalAddress),
    })),
  );
  if (rows.length === 0) return markup``;
  return markup`<section id="own" class="part" aria-labelledby="own-title">
<h2 id="own-title">Your validators <span class="quiet">${rows.length}</span></h2>
${tableHtml(page === 'status' ? { ...table, columns: [targetColumn, ...columns] } : table, rows, undefined)}
</section>
`;
}

const targetColumn: Column<Row> = {
  title: 'Target',
  cell: ({ view }) => markup`<a href="${pendingLink(view.target)}">${isolated(view.target)}</a>`,
};

const columns: readonly Column<Row>[] = [
  { title: 'Validator', cell: who, type: 'row-header' },
  { title: 'State', cell: stateOf },
  { title: 'Power', cell: ({ powerRatio }) => cells.orUnknown(powerRatio, (ratio) => markup`${percent(ratio, 2)}`) },
  { title: 'Signatures', cell: signatures, type: 'wide' },
  { title: 'Votes', cell: votes, type: 'wide' },
  { title: 'Last claim', cell: lastClaim },
  { title: 'Funds', cell: funds },
  { title: 'Jailed', cell: jailed },
  { title: 'What to do', cell: whatToDo, type: 'wide' },
];

const table: Table<Row> = {
  title: 'Your validators',
  cssClass: 'blocking',
  columns,
  rowId: ({ view, address }) => anchor('own', view.target, address),
};

function who({ name, address, orchestrator }: Row): Markup {
  const label = name === null ? markup`<span class="quiet">no name</span>` : markup`<b>${cells.name(name)}</b>`;
  return markup`${label}<small>${cells.identifier(orchestrator ?? address)}</small>`;
}

/** Alerts about a validator that is not in the set have the label `address`, other alerts about one validator the label `orchestrator`. */
function worstOf({ view, address, orchestrator }: Row): VerdictView | undefined {
  const isOwn = (subject: Subject): boolean =>
    subject['address'] === address || subject['orchestrator'] === (orchestrator ?? '');
  return firingVerdicts(view).find(({ subject }) => isOwn(subject));
}

function stateOf(row: Row): Markup {
  const { membership, missingBatches, missingValsets, lastVote, nextVote, status, late, view } = row;
  const severity = worstOf(row)?.severity;
  if (severity !== undefined) return statusLabel(severity);
  if (status?.jailed === true) return markup`<b class="state critical">jailed</b>`;
  switch (membership) {
    case null:
      return statusLabel('unknown');
    case 'inactive':
      return markup`<b class="state unknown">not in the set</b>`;
    case 'unregistered':
      return markup`<b class="state unknown">not registered</b>`;
    case 'active': {
      const isLate = lateState(view, late);
      if (isLate !== undefined) return isLate;
      if (missingBatches === null || missingValsets === null) return statusLabel('unknown');
      if (isJailUnknown(row)) return markup`<b class="state unknown">unknown</b>`;
      const hasWork =
        [missingBatches, missingValsets].some(({ total }) => total > 0) || [lastVote, nextVote].includes('missing');
      return markup`<b class="state ok">${hasWork ? 'on time' : 'signs and votes'}</b>`;
    }
  }
}

/** Whether the node was asked whether it is jailed, and has not answered. */
function isJailUnknown({ status }: Row): boolean {
  return status?.jailed === null;
}

/** What waits for it, with the alert about that. `undefined` if nothing does: to claim something else is not late. */
function lateState(view: TargetView, late: BlockingValidator | undefined): Markup | undefined {
  const alerts = alertsAbout(late);
  if (late === undefined || alerts.length === 0) return undefined;
  const lasting = late.oldestSeconds === null ? '' : ` for ${duration(late.oldestSeconds)}`;
  return markup`<b class="state ${severityOf(view, alerts) ?? 'pending'}">late${lasting}</b>`;
}

/** The alerts about what waits for a validator. */
function alertsAbout(late: BlockingValidator | undefined): readonly string[] {
  if (late === undefined) return [];
  const waiting = [
    [late.events, 'BridgeOracleStalled'],
    [late.batches, 'BridgeBatchUnsigned'],
    [late.valsets, 'BridgeValsetUnsigned'],
  ] as const;
  return waiting.filter(([items]) => items.length > 0).map(([, alert]) => alert);
}

function signatures({ membership, missingBatches, missingValsets }: Row): Markup {
  if (membership !== 'active') return markup`<span class="quiet">unknown</span>`;
  const parts = [
    missingText(missingBatches, 'batch', 'batches'),
    missingText(missingValsets, 'validator set', 'validator sets'),
  ];
  const present = parts.filter((part) => part !== '');
  return present.length === 0 ? markup`none missing` : markup`${present.join('; ')}`;
}

/** Empty when nothing is missing. */
function missingText(missing: MissingItems | null, one: string, several: string): string {
  if (missing === null) return `${several}: unknown`;
  const { total, nonces } = missing;
  if (total === 0) return '';
  const more = total > nonces.length ? ` and ${total - nonces.length} more` : '';
  return `${total} unsigned ${total === 1 ? one : several}: ${nonces.join(', ')}${more}`;
}

function votes(row: Row): Markup {
  const { membership, lastVote, nextVote, lastObservedNonce, late } = row;
  if (membership !== 'active') return markup`<span class="quiet">unknown</span>`;
  const event = lastObservedNonce ?? 'of unknown nonce';
  const last = {
    voted: `voted for event ${event}`,
    missing: `no vote for event ${event}`,
    dissenting: `voted for another claim of event ${event}`,
  };
  const [pendingEvent] = late?.events ?? [];
  const next = {
    missing:
      pendingEvent === undefined ? 'no vote for the next event' : `no vote for event ${pendingEvent}, which waits`,
    voted: 'voted for the next event',
  };
  const parts = [
    lastVote === null ? `vote for event ${event} unknown` : last[lastVote],
    disputedVote(row) || (nextVote === null ? '' : next[nextVote]),
  ];
  return markup`${parts.filter((part) => part !== '').join('; ')}`;
}

/** Events are claimed in order, so a position says more than the last votes. */
function lastClaim({ status, lastObservedNonce }: Row): Markup {
  const nonce = status?.lastEventNonce ?? null;
  if (nonce === null) return UNKNOWN;
  const behind = lastObservedNonce === null ? 0n : BigInt(lastObservedNonce) - BigInt(nonce);
  return behind <= 0n
    ? markup`event ${nonce}`
    : markup`event ${nonce}<small>${String(behind)} behind the last observed one</small>`;
}

function funds({ status }: Row): Markup {
  const balance = status?.balance ?? null;
  return balance === null ? UNKNOWN : cells.coin(balance);
}

function jailed(row: Row): Markup {
  const { membership, deadlineHeight, jailedIn, status, missedSignature } = row;
  if (status?.jailed === true) {
    const reason =
      missedSignature === null
        ? ''
        : markup`<small>did not sign ${missedSignature.of} ${missedSignature.nonce}</small>`;
    return markup`<span class="critical">is jailed</span>${reason}`;
  }
  if (deadlineHeight !== null) {
    return cells.blocks(jailedIn, 'hub blocks', 'left', { preposition: 'after', value: deadlineHeight });
  }
  return membership === 'active' && !isJailUnknown(row) ? markup`<span class="quiet">no deadline</span>` : UNKNOWN;
}

function whatToDo(row: Row): Markup {
  const worst = worstOf(row);
  if (worst !== undefined) return sentenceHtml(worst.action);
  // Before the alert fires.
  if (row.status?.jailed === true) return markup`Find the cause, then unjail it.`;
  if (alertsAbout(row.late).length > 0) return markup`Check its orchestrator.`;
  return isJailUnknown(row)
    ? markup`The node has not answered whether it is jailed. The log says why.`
    : markup`<span class="quiet">nothing</span>`;
}

const UNKNOWN: Markup = markup`<span class="quiet">unknown</span>`;

/** Which claim of the disputed event the validator has voted for; empty when it has voted for none. */
function disputedVote({ dispute, externalAddress }: Row): string {
  const own = dispute?.claims.find(({ claim }) =>
    claim.voted?.members.some((member) => member.externalAddress === externalAddress),
  );
  if (dispute === undefined || own === undefined) return '';
  const { votedPowerRatio } = own.claim;
  const power = votedPowerRatio === null ? '' : `, like ${percent(votedPowerRatio)} of the power`;
  return `claims ${own.text === '' ? 'one thing' : own.text} for event ${dispute.eventNonce}${power}`;
}
