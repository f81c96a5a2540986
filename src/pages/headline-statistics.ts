import type { BatchItem, CctxItem, Items, Section, Signatures } from '../pending/items.js';
import { markup, type Markup } from './html.js';
import { anchor } from './layout.js';
import { duration } from './time.js';

export interface HeadlineStatistic {
  readonly count: string | number | null;
  readonly label: string;
  /** The table it links to. */
  readonly table: string;
  /** Shown, and as trouble, only when there are some. */
  readonly isTrouble?: boolean;
  /** Seconds the oldest of them has waited, where that is known: what tells stuck from busy. */
  readonly oldest?: number | null;
  /** Seconds after which waiting is trouble. */
  readonly patience?: number;
}

/** Signatures take a minute or two; for events and cctxs it is what the alerts wait for. */
const SIGNING_SECONDS = 300;
const OBSERVING_SECONDS = 900;
const CCTX_SECONDS = 1800;

function figuresOf(items: Items, nowMs: number): readonly HeadlineStatistic[] {
  switch (items.document) {
    case 'module_state': {
      const { batches, valsets, claims } = items;
      return [
        { count: batches.total, label: 'Live batches', table: 'batches', oldest: oldest(batches, hubAge) },
        {
          count: deadBatches(batches),
          label: 'Batches past their timeout',
          table: 'batches',
          isTrouble: true,
          oldest: oldest(batches, hubAge, isDead),
        },
        {
          count: items.batchesBelowThreshold,
          label: 'Batches short of signatures',
          table: 'batches',
          isTrouble: true,
          oldest: oldest(batches, hubAge, isShort),
          patience: SIGNING_SECONDS,
        },
        { count: valsets.total, label: 'Unrelayed valsets', table: 'valsets', oldest: oldest(valsets, hubAge) },
        {
          count: items.valsetsBelowThreshold,
          label: 'Valsets short of signatures',
          table: 'valsets',
          isTrouble: true,
          oldest: oldest(valsets, hubAge, isShort),
          patience: SIGNING_SECONDS,
        },
        {
          count: items.pendingEvents,
          label: 'Pending events',
          table: 'claims',
          oldest: oldest(claims, hubAge),
          patience: OBSERVING_SECONDS,
        },
        {
          count: items.conflictingEvents,
          label: 'Conflicting events',
          table: 'claims',
          isTrouble: true,
          oldest: oldest(claims, hubAge, ({ conflicting }) => conflicting),
        },
        { count: items.transfers.total, label: 'Unbatched transfers', table: 'transfers' },
      ];
    }
    case 'rate_limiter_input': {
      const { missed, pending, hidden } = items;
      const age = ({ createdAt }: CctxItem): number | null =>
        createdAt === null ? null : (nowMs - Date.parse(createdAt)) / 1000;
      return [
        { count: missed.total, label: 'Missed cctxs', table: 'missed', isTrouble: true, oldest: oldest(missed, age) },
        {
          count: pending.total,
          label: 'Pending cctxs',
          table: 'pending',
          oldest: oldest(pending, age),
          patience: CCTX_SECONDS,
        },
        { count: hidden, label: 'Hidden cctxs', table: 'pending', isTrouble: true },
      ];
    }
  }
}

/** How long the first of the rows has waited; they are oldest first. */
function oldest<Row>(
  section: Section<Row>,
  age: (row: Row) => number | null,
  isMeant: (row: Row) => boolean = () => true,
): number | null {
  const row = section.readable ? section.rows.find(isMeant) : undefined;
  return row === undefined ? null : age(row);
}

const hubAge = ({ age }: Pick<BatchItem, 'age'>): number | null => age?.seconds ?? null;
const isShort = ({ belowThreshold }: Signatures): boolean => belowThreshold === true;
const isDead = ({ state }: BatchItem): boolean => state === 'overdue' || state === 'expired';

/** Batches the contract refuses by now and the hub still holds, as far as they are listed. */
function deadBatches(batches: Section<BatchItem>): number | string | null {
  if (!batches.readable) return null;
  const dead = batches.rows.filter(isDead).length;
  if (dead === 0) return batches.rows.some(({ state }) => state === null) ? null : 0;
  return batches.rows.length < batches.total ? `at least ${dead}` : dead;
}

/** What to show of an endpoint, in its order; trouble only when there is some. */
export function visibleStatistics(items: Items, nowMs: number): readonly HeadlineStatistic[] {
  return figuresOf(items, nowMs).filter(({ count, isTrouble }) => isTrouble !== true || String(count) !== '0');
}

export function isKnownTrouble({ count, isTrouble = false, oldest: age = null, patience }: HeadlineStatistic): boolean {
  if (count === null) return false;
  if (patience === undefined || age === null) return isTrouble;
  return age >= patience;
}

/** The headline numbers of an endpoint, each with a link to what is behind it. */
export function headlineStatistics(target: string, items: Items, nowMs: number): Markup {
  const links = visibleStatistics(items, nowMs).map((figure) => markup`<li>${statisticLink(target, figure)}`);
  return markup`<ul class="figures">${links}</ul>`;
}

export function statisticLink(target: string, figure: HeadlineStatistic): Markup {
  const { count, label, table, oldest: age = null } = figure;
  const kind = isKnownTrouble(figure) ? markup` class="bad"` : '';
  const wait = age === null ? '' : markup` <small>oldest ${duration(age)}</small>`;
  return markup`<a${kind} href="/pending#${anchor(target, table)}">${label} <b>${count ?? 'unknown'}</b>${wait}</a>`;
}
