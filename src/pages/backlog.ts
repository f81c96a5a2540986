import { listedRows, sumText } from '../problems/sentence.js';
import type { BatchItem, BridgeItems, CctxItem, ItemList, Items, Signatures } from '../facts/items/items.js';
import type { Severity } from '../problems/problem.js';
import { markup, type Markup } from './html.js';
import { pendingLink } from './layout.js';
import { severityOf, type TargetView } from './target-view.js';
import { duration, list } from '../text/format.js';

/** One number of the backlog of an endpoint, on both pages. */
interface Statistic {
  readonly count: string | number | null;
  readonly label: string;
  /** Id of the table on the page of the target that it links to. */
  readonly table: string;
  /** The alerts about it. It has their color while one of them fires, so that page and alert never contradict each other. */
  readonly alerts: readonly string[];
  /** Whether it is hidden at 0. */
  readonly isProblem?: boolean;
  /** Age of the oldest item, if known. */
  readonly oldestSeconds?: number | null;
}

function allStatistics(items: Items, nowMs: number): readonly Statistic[] {
  switch (items.document) {
    case 'module_state': {
      const { batches, valsets, claims } = items;
      return [
        {
          count: batches.total,
          label: 'Live batches',
          table: 'batches',
          alerts: ['BridgeBatchTimeoutNear', 'BridgeBatchNotRelayed'],
          oldestSeconds: oldest(batches, hubAge),
        },
        {
          count: countTimedOut(batches),
          label: 'Batches past their timeout',
          table: 'batches',
          alerts: ['BridgeBatchOverdue'],
          isProblem: true,
          oldestSeconds: oldest(batches, hubAge, isTimedOut),
        },
        {
          count: items.batchesBelowThreshold,
          label: 'Batches short of signatures',
          table: 'batches',
          alerts: ['BridgeBatchUnsigned'],
          isProblem: true,
          oldestSeconds: oldest(batches, hubAge, isBelowThreshold),
        },
        {
          count: valsets.total,
          label: 'Unrelayed validator sets',
          table: 'valsets',
          alerts: ['BridgeValsetDrift'],
          oldestSeconds: oldest(valsets, hubAge),
        },
        {
          count: items.valsetsBelowThreshold,
          label: 'Validator sets short of signatures',
          table: 'valsets',
          alerts: ['BridgeValsetUnsigned'],
          isProblem: true,
          oldestSeconds: oldest(valsets, hubAge, isBelowThreshold),
        },
        {
          count: items.pendingEvents,
          label: 'Pending events',
          table: 'claims',
          alerts: [
            'BridgeOracleStalled',
            'BridgeOracleSilent',
            'BridgeClaimWithoutBatch',
            'BridgeContractValsetMismatch',
          ],
          oldestSeconds: oldest(claims, hubAge),
        },
        {
          count: items.conflictingEvents,
          label: 'Conflicting events',
          table: 'claims',
          alerts: ['BridgeConflictingClaims'],
          isProblem: true,
          oldestSeconds: oldest(claims, hubAge, ({ conflicting }) => conflicting),
        },
        ...amountStatistic(items),
        {
          count: items.transfers.total,
          label: 'Unbatched transfers',
          table: 'transfers',
          alerts: ['BridgeBacklogStuck', 'BridgeBacklogHigh'],
        },
      ];
    }
    case 'external_contract':
      return [];
    case 'rate_limiter_input': {
      const { missed, pending, hidden } = items;
      const age = ({ createdAt }: CctxItem): number | null =>
        createdAt === null ? null : (nowMs - Date.parse(createdAt)) / 1000;
      return [
        {
          count: missed.total,
          label: 'Missed cctxs',
          table: 'missed',
          alerts: ['CrosschainFreezeNear', 'CrosschainCctxsMissed'],
          isProblem: true,
          oldestSeconds: oldest(missed, age),
        },
        {
          count: pending.total,
          label: hidden === null || hidden === '0' ? 'Pending cctxs' : 'Listed pending cctxs',
          table: 'pending',
          alerts: ['CrosschainBacklogStuck', 'CrosschainOldestPendingTooOld', 'CrosschainBacklogHigh'],
          oldestSeconds: oldest(pending, age),
        },
        {
          count: hidden,
          label: 'Hidden cctxs',
          table: 'pending',
          alerts: ['CrosschainPendingListTruncated'],
          isProblem: true,
        },
      ];
    }
  }
}

/** What waits in whole tokens, of those with known decimals: the number of transfers says nothing about their worth. */
function amountStatistic({ tokens }: BridgeItems): readonly Statistic[] {
  const amounts = list(listedRows(tokens).flatMap(({ unbatched, batched }) => sumText([unbatched, batched])));
  return amounts === '' ? [] : [{ count: amounts, label: 'Waiting', table: 'tokens', alerts: [] }];
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

/** A number of the backlog of an endpoint. */
export interface StatisticView extends Pick<Statistic, 'count' | 'label' | 'table'> {
  readonly oldestSeconds: number | null;
  /** Of the worst alert about it. */
  readonly severity: Severity | null;
}

/** The statistics of an endpoint, except problems with a count of 0. */
export function backlogStatistics(view: TargetView, items: Items, nowMs: number): readonly StatisticView[] {
  return allStatistics(items, nowMs)
    .filter(({ count, isProblem }) => isProblem !== true || String(count) !== '0')
    .map(({ count, label, table, alerts, oldestSeconds = null }) => ({
      count,
      label,
      table,
      oldestSeconds,
      severity: severityOf(view, alerts) ?? null,
    }));
}

export function backlogHtml(view: TargetView, items: Items, nowMs: number): Markup {
  const links = backlogStatistics(view, items, nowMs).map((statistic) => markup`<li>${statisticLink(view, statistic)}`);
  return markup`<ul class="statistics">${links}</ul>`;
}

function statisticLink(view: TargetView, { count, label, table, oldestSeconds, severity }: StatisticView): Markup {
  // The word, because nothing may depend on color alone.
  const word = severity === null ? '' : markup` <span class="state ${severity}">${severity}</span>`;
  const age = oldestSeconds === null ? '' : markup` <small>oldest ${duration(oldestSeconds)}</small>`;
  return markup`<a${severity === null ? '' : markup` class="${severity}"`} href="${pendingLink(view.target, table)}">${label} <b>${count ?? 'unknown'}</b>${age}${word}</a>`;
}
