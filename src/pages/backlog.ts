import { wallSeconds, type Moment } from '../clock.js';
import { judgeSeverity, type TargetVerdicts } from '../engine/verdicts.js';
import type { Items } from '../documents.js';
import type { BridgeItems } from '../facts/items/bridge.js';
import type { CrosschainItems } from '../facts/items/crosschain-items.js';
import { type ItemList, listedRows } from '../facts/items/item-list.js';
import type { ProblemName } from '../problems/problems.js';
import { sumText } from '../problems/sentence.js';
import { WAIT_TEXTS } from '../problems/waits.js';
import { count, durationInWords, list } from '../text/format.js';
import { DAY_SECONDS } from '../units.js';
import { markup, type Markup } from './html.js';
import { pendingLink } from './layout.js';
import type { EndpointView } from './view.js';

/* The backlog in numbers, on both pages and in their JSON: waiting transfers, events, validator sets and cctxs. */

/** A number of the backlog of an endpoint. */
export type StatisticView = ReturnType<typeof backlogStatistics>[number];

interface Statistic {
  /** `null` if it is unknown. */
  readonly count: string | number | null;
  readonly label: string;
  /** Id of the linked section on the page of the target. */
  readonly table: string;
  readonly parts: readonly string[];
  /** Age of the oldest item, if known. */
  readonly oldestSeconds: number | null;
  /** The worst firing one of these alerts colors the number, so that page and alert never contradict each other. */
  readonly alerts: readonly ProblemName[];
  /** Why no alert fires. */
  readonly withoutAlert?: string;
  /** Whether it is shown only while an alert fires. */
  readonly isHidden?: boolean;
}

/** The shown statistics of an endpoint. */
export function backlogStatistics(judged: Pick<TargetVerdicts, 'verdicts'>, items: Items, now: Moment) {
  return statistics(items, now).flatMap(({ alerts, withoutAlert, isHidden = false, ...statistic }) => {
    const severity = judgeSeverity(judged, alerts) ?? null;
    if (severity === null && isHidden) return [];
    const isExplained = severity === null && withoutAlert !== undefined;
    return [{ ...statistic, parts: isExplained ? [...statistic.parts, withoutAlert] : statistic.parts, severity }];
  });
}

function statistics(items: Items, now: Moment): readonly Statistic[] {
  switch (items.document) {
    case 'module_state':
      return bridgeStatistics(items);
    case 'rate_limiter_input':
      return crosschainStatistics(items, now);
    case 'external_contract':
      return [];
  }
}

function bridgeStatistics(items: BridgeItems): readonly Statistic[] {
  const { batches, valsets, claims, transfers, batchedTransfers, batchesByWait, conflictingEvents } = items;
  const queued = transfers.total;
  const oldestBatch = items.oldestBatchAge?.seconds ?? null;
  const byWait = (batchesByWait ?? []).map(
    ({ waitsFor, batches: number }) =>
      `${number} ${waitsFor === 'unknown' ? 'of unknown state' : WAIT_TEXTS[waitsFor].batches}`,
  );
  const amounts = listedRows(items.tokens).flatMap((token) => sumText([token.unbatched, token.batched]));
  return [
    {
      count: queued === null || batchedTransfers === null ? null : queued + batchedTransfers,
      label: 'Waiting transfers',
      table: 'tokens',
      alerts: [
        'BridgeBacklogStuck',
        'BridgeBacklogHigh',
        'BridgeBatchOverdue',
        'BridgeBatchUnsigned',
        'BridgeBatchTimeoutNear',
        'BridgeBatchNotRelayed',
      ],
      parts: [
        `${queued ?? 'unknown'} in no batch`,
        `${batchedTransfers ?? 'unknown'} in ${batches.total === null ? 'batches' : count(batches.total, 'batch', 'batches')}${byWait.length === 0 ? '' : `: ${byWait.join(', ')}`}`,
        ...(amounts.length === 0 ? [] : [list(amounts)]),
        ...(oldestBatch === null ? [] : [`the oldest batch ${durationInWords(oldestBatch)} old`]),
      ],
      oldestSeconds: null,
    },
    {
      count: items.pendingEvents,
      label: 'Pending events',
      table: 'claims',
      alerts: [
        'BridgeOracleStalled',
        'BridgeOracleSilent',
        'BridgeConflictingClaims',
        'BridgeClaimWithoutBatch',
        'BridgeContractValsetMismatch',
      ],
      parts: conflictingEvents === 0 ? [] : [`${conflictingEvents ?? 'unknown'} with conflicting claims`],
      oldestSeconds: findOldest(claims, hubAge),
    },
    {
      count: valsets.total,
      label: 'Unrelayed validator sets',
      table: 'valsets',
      alerts: ['BridgeValsetUnsigned', 'BridgeValsetDrift'],
      isHidden: true,
      parts: [`${items.valsetsBelowThreshold ?? 'unknown'} short of signatures`],
      oldestSeconds: findOldest(valsets, hubAge),
    },
  ];
}

function crosschainStatistics(items: CrosschainItems, now: Moment): readonly Statistic[] {
  const { missed, pending, hidden, pendingValue } = items;
  const nowMs = Math.trunc(wallSeconds(now.at, now) * 1000);
  const age = ({ createdAt }: { readonly createdAt: string | null }): number | null =>
    createdAt === null ? null : (nowMs - Date.parse(createdAt)) / 1000;
  const oldestMissed = findOldest(missed, age);
  const isTruncated = hidden !== null && hidden !== '0';
  return [
    {
      count: missed.total,
      label: 'Missed cctxs',
      table: 'missed',
      alerts: ['CrosschainFreezeNear', 'CrosschainCctxsMissed'],
      isHidden: missed.total === 0,
      parts: [],
      ...((oldestMissed ?? 0) > DAY_SECONDS && {
        withoutAlert: 'no alert: missed before this exporter began, or for over a day',
      }),
      oldestSeconds: oldestMissed,
    },
    {
      count: pending.total,
      label: isTruncated ? 'Listed pending cctxs' : 'Pending cctxs',
      table: 'pending',
      alerts: [
        'CrosschainBacklogStuck',
        'CrosschainOldestPendingTooOld',
        'CrosschainBacklogHigh',
        'CrosschainPendingListTruncated',
      ],
      parts: [
        ...(pendingValue === null ? [] : sumText([pendingValue]).map((worth) => `worth ${worth}`)),
        ...(isTruncated ? [`${hidden} hidden by the node`] : []),
      ],
      oldestSeconds: findOldest(pending, age),
    },
  ];
}

/** Age of the oldest row of known age. */
function findOldest<Row>(rows: ItemList<Row>, age: (row: Row) => number | null): number | null {
  const ages = listedRows(rows).flatMap((row) => age(row) ?? []);
  return ages.length === 0 ? null : Math.max(...ages);
}

const hubAge = ({ age }: { readonly age: { readonly seconds: number | null } | null }): number | null =>
  age?.seconds ?? null;

export function backlogHtml({ target, backlog }: Pick<EndpointView, 'target' | 'backlog'>): Markup {
  return markup`<ul class="statistics">${(backlog ?? []).map((statistic) => statisticHtml(target, statistic))}</ul>`;
}

function statisticHtml(target: string, statistic: StatisticView): Markup {
  const { label, table, parts, oldestSeconds, severity } = statistic;
  // The word of the severity, because no state may depend on color alone.
  const word = severity === null ? '' : markup` <span class="state ${severity}">${severity}</span>`;
  const notes = [...parts, ...(oldestSeconds === null ? [] : [`oldest ${durationInWords(oldestSeconds)}`])];
  const small = notes.length === 0 ? '' : markup` <small>${notes.join('; ')}</small>`;
  return markup`<li><a${severity === null ? '' : markup` class="${severity}"`} href="${pendingLink(target, table)}">${label} <b>${statistic.count ?? 'unknown'}</b>${word}${small}</a>`;
}
