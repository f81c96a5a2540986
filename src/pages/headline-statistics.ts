import type { BatchItem, CctxItem, ItemList, Items, Signatures } from '../pending/items.js';
import { markup, type Markup } from './html.js';
import { anchor } from './layout.js';
import { duration } from './time.js';

/** One number of the backlog of an endpoint, on both pages. */
export interface HeadlineStatistic {
  readonly count: string | number | null;
  readonly label: string;
  /** Name of the table of the pending page that it links to. */
  readonly table: string;
  /** Whether any count above 0 is a problem; hidden at 0. */
  readonly isProblem?: boolean;
  /** Age of the oldest item, if known. */
  readonly oldestSeconds?: number | null;
  /** Age of the oldest item from which it is a problem. */
  readonly problemAfterSeconds?: number;
}

/** Signatures take a minute or two; the other thresholds are those of the alerts. */
const SIGNING_SECONDS = 300;
const EVENT_SECONDS = 900;
const CCTX_SECONDS = 1800;

function allStatistics(items: Items, nowMs: number): readonly HeadlineStatistic[] {
  switch (items.document) {
    case 'module_state': {
      const { batches, valsets, claims } = items;
      return [
        { count: batches.total, label: 'Live batches', table: 'batches', oldestSeconds: oldest(batches, hubAge) },
        {
          count: countTimedOut(batches),
          label: 'Batches past their timeout',
          table: 'batches',
          isProblem: true,
          oldestSeconds: oldest(batches, hubAge, isTimedOut),
        },
        {
          count: items.batchesBelowThreshold,
          label: 'Batches short of signatures',
          table: 'batches',
          isProblem: true,
          oldestSeconds: oldest(batches, hubAge, isBelowThreshold),
          problemAfterSeconds: SIGNING_SECONDS,
        },
        { count: valsets.total, label: 'Unrelayed valsets', table: 'valsets', oldestSeconds: oldest(valsets, hubAge) },
        {
          count: items.valsetsBelowThreshold,
          label: 'Valsets short of signatures',
          table: 'valsets',
          isProblem: true,
          oldestSeconds: oldest(valsets, hubAge, isBelowThreshold),
          problemAfterSeconds: SIGNING_SECONDS,
        },
        {
          count: items.pendingEvents,
          label: 'Pending events',
          table: 'claims',
          oldestSeconds: oldest(claims, hubAge),
          problemAfterSeconds: EVENT_SECONDS,
        },
        {
          count: items.conflictingEvents,
          label: 'Conflicting events',
          table: 'claims',
          isProblem: true,
          oldestSeconds: oldest(claims, hubAge, ({ conflicting }) => conflicting),
        },
        { count: items.transfers.total, label: 'Unbatched transfers', table: 'transfers' },
      ];
    }
    case 'rate_limiter_input': {
      const { missed, pending, hidden } = items;
      const age = ({ createdAt }: CctxItem): number | null =>
        createdAt === null ? null : (nowMs - Date.parse(createdAt)) / 1000;
      return [
        {
          count: missed.total,
          label: 'Missed cctxs',
          table: 'missed',
          isProblem: true,
          oldestSeconds: oldest(missed, age),
        },
        {
          count: pending.total,
          label: 'Pending cctxs',
          table: 'pending',
          oldestSeconds: oldest(pending, age),
          problemAfterSeconds: CCTX_SECONDS,
        },
        { count: hidden, label: 'Hidden cctxs', table: 'pending', isProblem: true },
      ];
    }
  }
}

/** Age of the first selected row; rows are sorted oldest first. */
function oldest<Row>(
  section: ItemList<Row>,
  age: (row: Row) => number | null,
  isSelected: (row: Row) => boolean = () => true,
): number | null {
  const row = section.readable ? section.rows.find(isSelected) : undefined;
  return row === undefined ? null : age(row);
}

const hubAge = ({ age }: Pick<BatchItem, 'age'>): number | null => age?.seconds ?? null;
const isBelowThreshold = ({ belowThreshold }: Signatures): boolean => belowThreshold === true;
const isTimedOut = ({ state }: BatchItem): boolean => state === 'overdue' || state === 'expired';

/** Batches that the contract rejects but the hub still holds. Only the listed rows can be counted. */
function countTimedOut(batches: ItemList<BatchItem>): number | string | null {
  if (!batches.readable) return null;
  const timedOut = batches.rows.filter(isTimedOut).length;
  if (timedOut === 0) return batches.rows.some(({ state }) => state === null) ? null : 0;
  return batches.rows.length < batches.total ? `at least ${timedOut}` : timedOut;
}

/** All statistics of an endpoint, except problems with a count of 0. */
export function visibleStatistics(items: Items, nowMs: number): readonly HeadlineStatistic[] {
  return allStatistics(items, nowMs).filter(({ count, isProblem }) => isProblem !== true || String(count) !== '0');
}

export function isKnownProblem(statistic: HeadlineStatistic): boolean {
  const { count, isProblem = false, oldestSeconds = null, problemAfterSeconds } = statistic;
  if (count === null) return false;
  if (problemAfterSeconds === undefined || oldestSeconds === null) return isProblem;
  return oldestSeconds >= problemAfterSeconds;
}

export function headlineStatistics(target: string, items: Items, nowMs: number): Markup {
  const links = visibleStatistics(items, nowMs).map((statistic) => markup`<li>${statisticLink(target, statistic)}`);
  return markup`<ul class="statistics">${links}</ul>`;
}

export function statisticLink(target: string, statistic: HeadlineStatistic): Markup {
  const { count, label, table, oldestSeconds = null } = statistic;
  const cssClass = isKnownProblem(statistic) ? markup` class="bad"` : '';
  const age = oldestSeconds === null ? '' : markup` <small>oldest ${duration(oldestSeconds)}</small>`;
  return markup`<a${cssClass} href="/pending#${anchor(target, table)}">${label} <b>${count ?? 'unknown'}</b>${age}</a>`;
}
