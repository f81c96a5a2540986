import type { JudgedFamily } from '../metrics/judged-families.js';
import type { BlockSpan, BridgeItems, ClaimItem, ItemList, Signatures } from '../pending/items.js';
import {
  above,
  findingIf,
  pollCondition,
  sampleAlternatives,
  sampleCondition,
  type AlertLabels,
  type Condition,
  type Finding,
  type Findings,
  type PollView,
} from './condition.js';
import { MINUTE_MS, msBetween, type ChangingFamily } from './poll-history.js';
import { labelOf, type Samples } from './samples.js';
import {
  count,
  duration,
  list,
  missingOf,
  missingValidators,
  ownFirst,
  parts,
  percent,
  shortAddress,
  validators,
  type Validator,
} from './sentences.js';

/* Conditions of the module state. Within a severity, the cause comes before its consequences. */

const MODULE_STATE = 'module_state';

/** BridgeBacklogHigh: pending transfers, batched or unbatched. */
const BACKLOG_TRANSFERS = 500;
/** The critical BridgeBacklogStuck: unbatched transfers. */
const STUCK_TRANSFERS = 10;
/** BridgeBatchTimeoutNear: share of the lifetime of a batch that is left. */
const TIMEOUT_RATIO = 0.2;
/** BridgeValsetDrift: sum of the differences of all power shares. */
const DRIFT_RATIO = 0.1;
/** BridgeOrchestratorDeadlineNear: share of signed_valsets_window that is left. */
const DEADLINE_RATIO = 0.25;
/** BridgeParamsChanged and BridgeBlacklistChanged. */
const CHANGED_MINUTES = 60;

function bridgeItems({ items }: PollView): BridgeItems | undefined {
  return items?.document === MODULE_STATE ? items : undefined;
}

function rowsOf<Row>(section: ItemList<Row> | undefined): readonly Row[] {
  return section?.readable === true ? section.rows : [];
}

/** The next event that the hub has to observe, and its claim with the most power. */
function nextClaim(view: PollView): ClaimItem | undefined {
  const [first, ...others] = rowsOf(bridgeItems(view)?.claims);
  if (first === undefined) return undefined;
  const same = others.filter(({ eventNonce }) => eventNonce === first.eventNonce);
  return [first, ...same].toSorted((a, b) => (b.votedPowerRatio ?? 0) - (a.votedPowerRatio ?? 0))[0];
}

/** The oldest listed batch, or validator set, without sufficient signatures. */
function belowThreshold<Row extends Signatures>(section: ItemList<Row> | undefined): Row | undefined {
  return rowsOf(section).find((row) => row.belowThreshold === true);
}

/** "about 11 h 23 min"; empty without an estimate, and when the deadline has passed. */
function timeLeft(left: BlockSpan | null | undefined, describe: (time: string) => string): string {
  const seconds = left?.seconds ?? 0;
  if (seconds <= 0) return '';
  return describe(`about ${duration(seconds)}`);
}

/** Who has not voted for a claim; with conflicting claims they may have voted for another one. */
function missingVoters(claim: ClaimItem | undefined): string {
  return missingValidators(
    claim?.missing ?? null,
    claim?.conflicting === true ? 'voted for the leading claim' : 'voted',
  );
}

/** Each claim of the first disputed event with its share of the power. */
function disputedEvent(view: PollView): string {
  const disputed = rowsOf(bridgeItems(view)?.claims).filter(({ conflicting }) => conflicting);
  const [first] = disputed;
  if (first === undefined) return '';
  const claims = disputed.filter(({ eventNonce }) => eventNonce === first.eventNonce);
  const power = claims.flatMap(({ votedPowerRatio }) => (votedPowerRatio === null ? [] : percent(votedPowerRatio)));
  const having = power.length === 0 ? '' : ` with ${power.join(' and ')} of the power`;
  return `event ${first.eventNonce} has ${count(claims.length, 'claim')}${having}`;
}

function estimatedExternalHeight(samples: Samples): number | undefined {
  return samples.value('bridge_external_height_projected') ?? samples.value('bridge_last_observed_external_height');
}

function timeoutFindings({ samples }: PollView): readonly Finding[] {
  const timeout = samples.value('bridge_batch_next_timeout_height');
  const now = estimatedExternalHeight(samples);
  const lifetime = samples.value('bridge_params_target_batch_timeout_seconds');
  const blockTime = samples.value('bridge_params_average_external_block_time_seconds');
  if (timeout === undefined || now === undefined || lifetime === undefined || blockTime === undefined) return [];
  const blocks = timeout - now;
  return findingIf(blocks > 0 && blocks < (lifetime / blockTime) * TIMEOUT_RATIO, blocks);
}

function blocksFor(blocks: number, blockTime: number | undefined, kind: string): string {
  const time = blockTime === undefined ? '' : ` (about ${duration(blocks * blockTime)})`;
  return `${count(blocks, `${kind} block`)}${time}`;
}

function orchestratorKey(labels: AlertLabels): string {
  return JSON.stringify([labels['orchestrator'], labels['external_address']]);
}

function orchestratorLabels(labels: AlertLabels): AlertLabels {
  return {
    orchestrator: labelOf(labels, 'orchestrator'),
    external_address: labelOf(labels, 'external_address'),
  };
}

/** Findings of the orchestrators whose value is above 0. */
function orchestratorsAbove0(
  family: JudgedFamily,
  { samples }: PollView,
  unchanged?: number,
  ownLabels: AlertLabels = {},
): readonly Finding[] {
  return samples
    .series(family)
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => ({ labels: { ...orchestratorLabels(labels), ...ownLabels }, value, unchanged }));
}

function missingVotes(view: PollView): readonly Finding[] {
  const nonce = view.samples.value('bridge_last_observed_nonce');
  return nonce === undefined ? [] : orchestratorsAbove0('bridge_orchestrator_missing_votes', view, nonce);
}

/** A validator set that is not signed, by the deadline of the first one. */
function missingValsetConfirms(view: PollView): readonly Finding[] {
  const deadlines = byOrchestrator(view.samples, 'bridge_orchestrator_confirm_deadline_height');
  return orchestratorsAbove0('bridge_orchestrator_missing_valset_confirms', view, undefined, {
    confirms: 'valset',
  }).flatMap((finding) => {
    const deadline = deadlines.get(orchestratorKey(finding.labels));
    return deadline === undefined ? [] : [{ ...finding, unchanged: deadline }];
  });
}

function byOrchestrator(samples: Samples, family: JudgedFamily): ReadonlyMap<string, number> {
  return new Map(samples.series(family).map(({ labels, value }) => [orchestratorKey(labels), value]));
}

function infoByOrchestrator(samples: Samples): ReadonlyMap<string, AlertLabels> {
  return new Map(samples.series('bridge_orchestrator_info').map(({ labels }) => [orchestratorKey(labels), labels]));
}

/** The deadlines that are near, of the watched validators or of the others. */
function nearDeadlines(isWatched: boolean) {
  return ({ samples }: PollView): readonly Finding[] => {
    const height = samples.value('bridge_height');
    const window = samples.value('bridge_params_signed_valsets_window_blocks');
    if (height === undefined || window === undefined) return [];
    const near = samples
      .series('bridge_orchestrator_confirm_deadline_height')
      .filter(({ value }) => value - height < window * DEADLINE_RATIO);
    if (near.length === 0) return [];
    const info = infoByOrchestrator(samples);
    return near
      .filter(({ labels }) => (info.get(orchestratorKey(labels))?.['watched'] === 'true') === isWatched)
      .map(({ labels, value }) => ({ labels: orchestratorLabels(labels), value: value - height }));
  };
}

/** The validators of the findings, each once, by descending power. */
function validatorsOf({ all }: Pick<Findings, 'all'>, { samples }: PollView): readonly Validator[] {
  const info = infoByOrchestrator(samples);
  const power = byOrchestrator(samples, 'bridge_orchestrator_power_ratio');
  const found = new Map(all.map(({ labels }) => [orchestratorKey(labels), labels]));
  return Array.from(found)
    .toSorted(([a], [b]) => (power.get(b) ?? 0) - (power.get(a) ?? 0))
    .map(([key, labels]) => ({
      name: info.get(key)?.['name'] ?? '',
      address: labelOf(labels, 'orchestrator') || labelOf(labels, 'external_address'),
      isWatched: info.get(key)?.['watched'] === 'true',
    }));
}

/** "2 validators with 12 % of the power". */
function numberAndPower(findings: Findings, { samples }: PollView): string {
  const power = byOrchestrator(samples, 'bridge_orchestrator_power_ratio');
  const keys = Array.from(new Set(findings.all.map(({ labels }) => orchestratorKey(labels))));
  const ratios = keys.flatMap((key) => power.get(key) ?? []);
  const sum = ratios.reduce((total, ratio) => total + ratio, 0);
  const having = ratios.length < keys.length ? '' : ` with ${percent(sum)} of the power`;
  return count(keys.length, 'validator') + having;
}

function haveOrHas(number: number): string {
  return number === 1 ? 'has' : 'have';
}

function deadlineSummary(findings: Findings, view: PollView): string {
  const blockTime = view.samples.value('bridge_params_average_block_time_seconds');
  const nearest = blocksFor(Math.min(...findings.all.map(({ value }) => value)), blockTime, 'hub');
  const who = validatorsOf(findings, view);
  return who.length === 1
    ? `${validators(who)} will be jailed in ${nearest} unless it confirms a validator set`
    : `${count(who.length, 'validator')} will be jailed, the first in ${nearest}, unless they confirm a validator set: ${validators(who)}`;
}

function confirmsSummary(findings: Findings, view: PollView): string {
  const items = (['batch', 'valset'] as const).flatMap((kind) => {
    const own = findings.all.filter(({ labels }) => labels['confirms'] === kind);
    const most = Math.max(...own.map(({ value }) => value));
    if (own.length === 0) return [];
    return kind === 'batch' ? count(most, 'batch', 'batches') : count(most, 'validator set');
  });
  const signatures = `signatures of ${numberAndPower(findings, view)} have been missing for ${findings.lasting}`;
  const who = validators(validatorsOf(findings, view));
  return parts(`${signatures}, on up to ${items.join(' and ')}: ${who}`, firstDeadline(findings, view));
}

/** When the first of these validators is jailed; empty without a deadline. */
function firstDeadline({ all }: Findings, view: PollView): string {
  const { samples } = view;
  const deadlines = byOrchestrator(samples, 'bridge_orchestrator_confirm_deadline_height');
  const heights = all.flatMap(({ labels }) => deadlines.get(orchestratorKey(labels)) ?? []);
  const height = samples.value('bridge_height');
  const blocks = height === undefined ? 0 : Math.min(...heights) - height;
  if (heights.length === 0 || blocks <= 0) return '';
  const who = validatorsOf({ all }, view).length === 1 ? 'it' : 'the first';
  return `${who} is jailed in ${blocksFor(blocks, samples.value('bridge_params_average_block_time_seconds'), 'hub')}`;
}

/** A parameter or list changed within the last hour, as far as this process observed it. */
function changedFamily(family: ChangingFamily) {
  return ({ history, now }: PollView): readonly Finding[] => {
    const change = history.changes.get(family);
    if (change?.at === undefined || msBetween(change.at, now) >= CHANGED_MINUTES * MINUTE_MS) return [];
    return [{ labels: {}, value: change.value, since: change.at }];
  };
}

export const bridgeConditions: readonly Condition[] = [
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeConflictingClaims',
    severity: 'critical',
    forMinutes: 10,
    find: above('bridge_conflicting_claims', 0),
    summary: ({ oldest, lasting }, view) =>
      parts(`validators have disagreed about ${count(oldest.value, 'event')} for ${lasting}`, disputedEvent(view)),
    action:
      'Compare the claims with the event on the external chain. Until one claim has enough power, no later event is observed.',
  }),
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeOracleStalled',
    severity: 'critical',
    rangeMinutes: 15,
    forMinutes: 5,
    find: above('bridge_pending_events', 0, 'bridge_last_observed_nonce'),
    summary: ({ oldest, lasting }, view) =>
      parts(`no event observed for ${lasting}, ${oldest.value} waiting`, missingVoters(nextClaim(view))),
    action: (_, view) =>
      ownFirst(
        missingOf(nextClaim(view)?.missing),
        'Contact the operators of the validators that have not voted; deposits and executed batches do not reach the hub.',
      ),
  }),
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeBatchOverdue',
    severity: 'critical',
    forMinutes: 30,
    find: above('bridge_batches_overdue', 0),
    summary: ({ oldest, lasting }) =>
      `transfers have been locked for ${lasting} in batches that have timed out at the estimated external height, ${count(oldest.value, 'batch', 'batches')} at present`,
    action:
      'If events are pending, find out who has not voted. If none are, make a small deposit on the external chain: the hub cancels the batches with the next observed event.',
  }),
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeBatchUnsigned',
    severity: 'critical',
    rangeMinutes: 20,
    forMinutes: 10,
    find: above('bridge_batches_below_threshold', 0, 'bridge_batch_oldest_height'),
    summary: ({ oldest, lasting }, view) => {
      const batch = belowThreshold(bridgeItems(view)?.batches);
      const signed = batch === undefined ? '' : `signed batch ${batch.nonce}`;
      return parts(
        `batches have lacked signatures for ${lasting}, ${oldest.value} at present`,
        missingValidators(batch?.missing ?? null, signed),
        timeLeft(batch?.projectedHeadroom, (time) => `it times out in ${time}`),
      );
    },
    action: (_, view) =>
      ownFirst(
        missingOf(belowThreshold(bridgeItems(view)?.batches)?.missing),
        'Contact the operators of the validators that have not signed; the batches cannot be relayed.',
      ),
  }),
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeBacklogStuck',
    severity: 'critical',
    thresholds: [STUCK_TRANSFERS],
    rangeMinutes: 45,
    forMinutes: 5,
    find: ({ samples }) => {
      const transfers = samples.value('bridge_unbatched_transfers');
      const batch = samples.value('bridge_last_outgoing_batch_id');
      if (transfers === undefined || batch === undefined) return [];
      return findingIf(transfers >= STUCK_TRANSFERS, transfers, batch);
    },
    summary: ({ oldest, lasting }) => `no batch built for ${lasting}, ${count(oldest.value, 'transfer')} waiting`,
    action: 'Check the batch creator and the fees of the transfers.',
  }),
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeOrchestratorDeadlineNear',
    severity: 'critical',
    thresholds: [DEADLINE_RATIO],
    forMinutes: 5,
    find: nearDeadlines(true),
    summary: deadlineSummary,
    action: 'Restart the orchestrator now.',
  }),
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeOrchestratorDeadlineNear',
    severity: 'warning',
    thresholds: [DEADLINE_RATIO],
    forMinutes: 5,
    find: nearDeadlines(false),
    summary: deadlineSummary,
    action: 'Inform the operators; if a validator is yours, restart its orchestrator and add it to watch.',
  }),
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeBatchTimeoutNear',
    severity: 'warning',
    thresholds: [TIMEOUT_RATIO],
    forMinutes: 5,
    find: timeoutFindings,
    summary: ({ oldest }, { samples }) => {
      const blockTime = samples.value('bridge_params_average_external_block_time_seconds');
      return `a batch times out in ${blocksFor(oldest.value, blockTime, 'external')}`;
    },
    action: 'Check the signatures of the batch and the relayers; after the timeout its transfers return to the queue.',
  }),
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeValsetUnsigned',
    severity: 'warning',
    rangeMinutes: 45,
    forMinutes: 15,
    find: above('bridge_unrelayed_valsets_below_threshold', 0, 'bridge_last_observed_valset_nonce'),
    summary: ({ oldest, lasting }, view) => {
      const valset = belowThreshold(bridgeItems(view)?.valsets);
      const signed = valset === undefined ? '' : `signed validator set ${valset.nonce}`;
      return parts(
        `validator sets have lacked signatures for ${lasting}, ${oldest.value} at present`,
        missingValidators(valset?.missing ?? null, signed),
        timeLeft(valset?.headroom, (time) => `who does not sign it is jailed in ${time}`),
      );
    },
    action: (_, view) =>
      ownFirst(
        missingOf(belowThreshold(bridgeItems(view)?.valsets)?.missing),
        'Contact the operators of the validators that have not signed; the contract keeps an older validator set.',
      ),
  }),
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeValsetDrift',
    severity: 'warning',
    thresholds: [DRIFT_RATIO],
    forMinutes: 120,
    find: above('bridge_valset_power_drift_ratio', DRIFT_RATIO),
    summary: ({ oldest, lasting }) =>
      `the validator set in the contract has been out of date for ${lasting}; its power shares differ by ${percent(oldest.value)}`,
    action: 'Have a relayer relay the newest validator set.',
  }),
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeWatchedValidatorInactive',
    severity: 'warning',
    forMinutes: 10,
    find: ({ samples }) =>
      samples
        .series('bridge_watched_validator_active')
        .filter(({ value }) => value === 0)
        .map(({ labels, value }) => ({ labels: { address: labelOf(labels, 'address') }, value })),
    summary: ({ all, lasting }) => {
      const addresses = all.map(({ labels }) => shortAddress(labelOf(labels, 'address')));
      const are = all.length === 1 ? 'watched validator has' : 'watched validators have';
      return `${all.length} ${are} not been in the newest validator set for ${lasting}: ${list(addresses)}`;
    },
    action:
      'Check whether the validator is jailed, and the address in watch: no alert covers a validator outside the set.',
  }),
  sampleAlternatives(MODULE_STATE, {
    alert: 'BridgeOrchestratorMissingConfirms',
    severity: 'warning',
    forMinutes: 5,
    patterns: [
      {
        rangeMinutes: 60,
        find: (view) =>
          orchestratorsAbove0('bridge_orchestrator_missing_batch_confirms', view, undefined, { confirms: 'batch' }),
      },
      { rangeMinutes: 60, find: missingValsetConfirms },
    ],
    summary: confirmsSummary,
    action: (findings, view) =>
      ownFirst(
        validatorsOf(findings, view),
        'An orchestrator that does not sign has stopped, has no funds or cannot reach its nodes.',
      ),
  }),
  sampleAlternatives(MODULE_STATE, {
    alert: 'BridgeOrchestratorMissingVotes',
    severity: 'warning',
    forMinutes: 20,
    patterns: [
      { rangeMinutes: 10, find: missingVotes },
      {
        rangeMinutes: 120,
        find: (view) => orchestratorsAbove0('bridge_orchestrator_missing_votes', view),
      },
    ],
    summary: (findings, view) => {
      const who = validatorsOf(findings, view);
      const voted = `${haveOrHas(who.length)} not voted for the last observed event for ${findings.lasting}`;
      return `${numberAndPower(findings, view)} ${voted}: ${validators(who)}`;
    },
    action: (findings, view) =>
      ownFirst(validatorsOf(findings, view), 'Check the orchestrators and their nodes of the external chain.'),
  }),
  sampleAlternatives(MODULE_STATE, {
    alert: 'BridgeBacklogStuck',
    severity: 'warning',
    forMinutes: 5,
    patterns: [
      {
        rangeMinutes: 180,
        find: ({ samples }) => {
          const id = samples.value('bridge_oldest_pending_transfer_id');
          return id === undefined ? [] : [{ labels: {}, value: id, unchanged: id }];
        },
      },
      {
        rangeMinutes: 180,
        find: above('bridge_unbatched_transfers', 0, 'bridge_last_outgoing_batch_id'),
      },
    ],
    summary: ({ lasting }, { samples }) => {
      const id = samples.value('bridge_oldest_pending_transfer_id');
      const unbatched = samples.value('bridge_unbatched_transfers');
      return parts(
        `pending transfers have not moved for ${lasting}`,
        id === undefined ? '' : `the oldest is transfer ${id}`,
        unbatched === undefined ? '' : `${unbatched} waiting for a batch`,
      );
    },
    action: 'Check token and fee of the oldest transfers.',
  }),
  sampleCondition(MODULE_STATE, {
    alert: 'BridgeBacklogHigh',
    severity: 'warning',
    thresholds: [BACKLOG_TRANSFERS],
    forMinutes: 30,
    find: ({ samples }) => {
      const unbatched = samples.value('bridge_unbatched_transfers');
      const batched = samples.value('bridge_batch_transactions');
      if (unbatched === undefined || batched === undefined) return [];
      return findingIf(unbatched + batched > BACKLOG_TRANSFERS, unbatched + batched);
    },
    summary: ({ oldest, lasting }, { samples }) => {
      const unbatched = samples.value('bridge_unbatched_transfers') ?? 0;
      return `the number of pending transfers has been above ${BACKLOG_TRANSFERS} for ${lasting}: ${oldest.value} at present, of which ${unbatched} in no batch`;
    },
    action: 'Check whether batches are built, signed and relayed.',
  }),
  pollCondition({
    alert: 'BridgeParamsChanged',
    severity: 'info',
    rangesMinutes: [CHANGED_MINUTES],
    documents: [MODULE_STATE],
    forMinutes: 0,
    keepMinutes: 0,
    find: changedFamily('bridge_params_hash'),
    summary: ({ lasting }) => `bridge parameters changed ${lasting} ago`,
    action: 'Check that a governance proposal or an upgrade announced the change.',
  }),
  pollCondition({
    alert: 'BridgeBlacklistChanged',
    severity: 'info',
    rangesMinutes: [CHANGED_MINUTES],
    documents: [MODULE_STATE],
    forMinutes: 0,
    keepMinutes: 0,
    find: changedFamily('bridge_external_blacklist_hash'),
    summary: ({ lasting }) => `the blacklist changed ${lasting} ago`,
    action: 'Ask an admin of the bridge whether the change is intended.',
  }),
];
