import { wallSeconds, type Moment } from '../clock.js';
import { USUAL_SECONDS } from '../facts/bridge/block-times.js';
import type { ProblemName } from '../problems/problems.js';
import { sumText } from '../problems/sentence.js';
import { count, durationInWords, list, percent } from '../text/format.js';
import { isolated, markup, type Markup } from './html.js';
import { pendingLink } from './layout.js';
import { distantTimeElement } from './time.js';
import type { EndpointView } from './view.js';
import { judgeSeverity, type TargetVerdicts } from '../engine/verdicts.js';
import type { BatchItem, BridgeItems } from '../facts/items/bridge.js';
import type { Items } from '../documents.js';
import type { WaitReason } from '../facts/bridge/batches.js';
import { DAY_SECONDS } from '../units.js';
import type { CrosschainItems } from '../facts/items/crosschain-items.js';
import { type ItemList, listedRows } from '../facts/items/item-list.js';

/*
 * The backlog in numbers, on both pages and in their JSON. A healthy bridge has two numbers: waiting transfers and
 * pending events. Other numbers appear when they are problems.
 */

/** A number of the backlog of an endpoint. */
export type StatisticView = ReturnType<typeof backlogStatistics>[number];

interface Statistic {
  /** `null` if it is unknown. */
  readonly count: string | number | null;
  readonly label: string;
  /** Id of the linked section on the page of the target. */
  readonly table: string;
  readonly parts?: readonly string[];
  /** Age of the oldest item, if known. */
  readonly oldestSeconds?: number | null;
  /** The worst firing one of these alerts colors the number, so that page and alert never contradict each other. */
  readonly alerts: readonly ProblemName[];
  /** Why no alert fires. */
  readonly withoutAlert?: readonly string[];
  /**
   * When it is shown while no alert fires; by default unless it is 0. `if-late`: if the oldest item has waited for
   * longer than usual.
   */
  readonly shownWithoutAlert?: 'always' | 'never' | 'if-late';
}

/** The shown statistics of an endpoint. */
export function backlogStatistics(judged: Pick<TargetVerdicts, 'verdicts'>, items: Items, now: Moment) {
  const isBridge = items.document === 'module_state';
  const crosschain = items.document === 'rate_limiter_input' ? crosschainStatistics(items, now) : [];
  return (isBridge ? bridgeStatistics(items) : crosschain).flatMap((statistic) => {
    const {
      alerts,
      shownWithoutAlert: shown,
      withoutAlert = [],
      parts = [],
      oldestSeconds = null,
      ...rest
    } = statistic;
    const severity = judgeSeverity(judged, alerts) ?? null;
    const isYoung = shown === 'if-late' && (oldestSeconds ?? USUAL_SECONDS) < USUAL_SECONDS;
    const isHidden = shown === 'never' || isYoung || (shown !== 'always' && String(rest.count) === '0');
    if (severity === null && isHidden) return [];
    return [{ ...rest, parts: severity === null ? [...parts, ...withoutAlert] : parts, oldestSeconds, severity }];
  });
}

function bridgeStatistics(items: BridgeItems): readonly Statistic[] {
  const { batches, valsets, claims, transfers, batchedTransfers } = items;
  const queued = transfers.total;
  const oldestBatch = items.oldestBatchAge?.seconds ?? null;
  const isTimeoutKnown = listedRows(batches).every(({ state }) => state !== null);
  const timedOut = waiting(items, 'timeout');
  const amounts = listedRows(items.tokens).flatMap((token) => sumText([token.unbatched, token.batched]));
  return [
    {
      count: queued === null || batchedTransfers === null ? null : queued + batchedTransfers,
      label: 'Waiting transfers',
      table: 'tokens',
      alerts: ['BridgeBacklogStuck', 'BridgeBacklogHigh'],
      shownWithoutAlert: 'always',
      parts: [
        `${queued ?? 'unknown'} in no batch`,
        `${batchedTransfers ?? 'unknown'} in ${batches.total === null ? 'batches' : count(batches.total, 'batch', 'batches')}`,
        ...(amounts.length === 0 ? [] : [list(amounts)]),
        ...(oldestBatch === null ? [] : [`the oldest batch ${durationInWords(oldestBatch)} old`]),
      ],
    },
    {
      count: items.pendingEvents,
      label: 'Pending events',
      table: 'claims',
      alerts: ['BridgeOracleStalled', 'BridgeOracleSilent', 'BridgeClaimWithoutBatch', 'BridgeContractValsetMismatch'],
      shownWithoutAlert: 'always',
      oldestSeconds: oldest(claims, hubAge),
    },
    {
      count: items.conflictingEvents,
      label: 'Conflicting events',
      table: 'claims',
      alerts: ['BridgeConflictingClaims'],
      oldestSeconds: oldest(claims, hubAge, ({ conflicting }) => conflicting),
    },
    {
      // The alerts count batches that are claimed as executed.
      ...summarizeBatches(items, ({ waitsFor }) => waitsFor === 'relayer' || waitsFor === 'observation'),
      count: waiting(items, 'relayer', 'observation'),
      label: 'Signed batches',
      alerts: ['BridgeBatchTimeoutNear', 'BridgeBatchNotRelayed'],
      shownWithoutAlert: 'never',
    },
    {
      ...summarizeBatches(items, ({ waitsFor }) => waitsFor === 'timeout'),
      count: timedOut === 0 && !isTimeoutKnown ? null : timedOut,
      label: 'Batches past their timeout',
      alerts: ['BridgeBatchOverdue'],
    },
    {
      ...summarizeBatches(items, ({ belowThreshold }) => belowThreshold === true),
      count: items.batchesBelowThreshold,
      label: 'Batches short of signatures',
      alerts: ['BridgeBatchUnsigned'],
      shownWithoutAlert: 'if-late',
    },
    {
      count: items.valsetsBelowThreshold,
      label: 'Validator sets short of signatures',
      table: 'valsets',
      alerts: ['BridgeValsetUnsigned'],
      shownWithoutAlert: 'if-late',
      oldestSeconds: oldest(valsets, hubAge, ({ belowThreshold }) => belowThreshold === true),
    },
    {
      count: valsets.total,
      label: 'Unrelayed validator sets',
      table: 'valsets',
      alerts: ['BridgeValsetDrift'],
      shownWithoutAlert: 'never',
      oldestSeconds: oldest(valsets, hubAge),
    },
  ];
}

function summarizeBatches({ batches }: BridgeItems, isSelected: (batch: BatchItem) => boolean) {
  return { table: 'batches', oldestSeconds: oldest(batches, hubAge, isSelected) };
}

function crosschainStatistics(items: CrosschainItems, now: Moment): readonly Statistic[] {
  const { missed, pending, hidden, pendingValue, rateLimit } = items;
  const worth = list(pendingValue === null ? [] : sumText([pendingValue]));
  const nowMs = Math.trunc(wallSeconds(now.at, now) * 1000);
  const age = ({ createdAt }: { readonly createdAt: string | null }): number | null =>
    createdAt === null ? null : (nowMs - Date.parse(createdAt)) / 1000;
  return [
    {
      count: missed.total,
      label: 'Missed cctxs',
      table: 'missed',
      alerts: ['CrosschainFreezeNear', 'CrosschainCctxsMissed'],
      oldestSeconds: oldest(missed, age),
      withoutAlert:
        (oldest(missed, age) ?? 0) > DAY_SECONDS
          ? ['no alert: missed before this exporter began, or for over a day']
          : [],
    },
    {
      count: pending.total,
      label: hidden === null || hidden === '0' ? 'Pending cctxs' : 'Listed pending cctxs',
      table: 'pending',
      alerts: ['CrosschainBacklogStuck', 'CrosschainOldestPendingTooOld', 'CrosschainBacklogHigh'],
      shownWithoutAlert: 'always',
      parts: worth === '' ? [] : [`worth ${worth}`],
      oldestSeconds: oldest(pending, age),
    },
    {
      count: hidden,
      label: 'Hidden cctxs',
      table: 'pending',
      alerts: ['CrosschainPendingListTruncated'],
    },
    ...(rateLimit?.isExceeded === true ? [rateLimitStatistic(rateLimit)] : []),
  ];
}

function rateLimitStatistic({
  utilizationRatio,
  windowBlocks,
  value,
  limit,
}: NonNullable<CrosschainItems['rateLimit']>): Statistic {
  const [total = value.amount] = sumText([value]);
  const [allowed = limit.amount] = sumText([limit]);
  return {
    count: utilizationRatio === null ? null : percent(utilizationRatio),
    label: 'Rate limit reached',
    table: 'chains',
    alerts: [],
    parts: [`${total} of ${allowed} in ${windowBlocks} blocks`],
  };
}

/** The rate limit is a note: no node enforces it, nor does zetaclient from version 27 on. */
export function rateLimitNotes(endpoints: readonly EndpointView[]): Markup {
  const notes = endpoints.flatMap(({ target, items }) => {
    const { isExceeded, utilizationRatio = null } = (items?.document === 'rate_limiter_input' && items.rateLimit) || {};
    if (isExceeded !== true) return [];
    const share = utilizationRatio === null ? '' : ` (${percent(utilizationRatio)})`;
    return [
      markup`<p>${isolated(target)}: the rate limit is exceeded${share}: clients before version 27 hold back pending transactions, later ones ignore it.</p>\n`,
    ];
  });
  return markup`${notes}`;
}

/** The planned upgrades, once for each target: its documents can be of one hub. */
export function upgradeNotes(endpoints: readonly EndpointView[], nowMs: number): Markup {
  const notes = new Map(
    endpoints.flatMap(({ target, node: { upgrade } }): [string, Markup][] => {
      if (upgrade === null) return [];
      const { name, height, at } = upgrade;
      const seconds = at === null ? 0 : (Date.parse(at) - nowMs) / 1000;
      const when =
        at === null ? '' : markup`, in about ${durationInWords(seconds)}, at ${distantTimeElement(at, seconds)}`;
      const text = markup`<p>${isolated(target)}: the upgrade ${isolated(name)} of the hub is planned at height ${height}${when}.</p>\n`;
      return [[`${target} ${height}`, text]];
    }),
  );
  return markup`${Array.from(notes.values())}`;
}

/** The number of live batches that wait for one of these reasons. */
function waiting({ batchesByWait }: BridgeItems, ...reasons: readonly (WaitReason | 'unknown')[]): number | null {
  const selected = batchesByWait?.filter(({ waitsFor }) => reasons.includes(waitsFor));
  return selected?.reduce((total, { batches }) => total + batches, 0) ?? null;
}

/** Age of the oldest selected row of known age. */
function oldest<Row>(
  rows: ItemList<Row>,
  age: (row: Row) => number | null,
  isSelected: (row: Row) => boolean = () => true,
): number | null {
  const ages = listedRows(rows)
    .filter(isSelected)
    .flatMap((row) => age(row) ?? []);
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
