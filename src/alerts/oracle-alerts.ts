import type { ClaimItem } from '../facts/items/items.js';
import { percent } from '../text/format.js';
import { dataAlert } from './alert.js';
import { disputedClaims, disputedThing, firstDispute } from './disputes.js';
import { countOfValue, ON_TARGET, ORCHESTRATOR, promDuration, TARGET, unchanged } from './promql.js';
import {
  bridgeItemsOf,
  claimText,
  listedRows,
  membersOf,
  missingValidators,
  numberAndPower,
  orchestratorKey,
  ownFirst,
  withDetails,
  validators,
} from './sentences.js';
import { valueAgo } from './poll-history.js';
import { beganAt, findingIf, HUB_TIME_FAMILIES, timeOfAge, timeOfHeight, type Finding, type PollView } from './view.js';

/* Alerts on the events of the external chain that validators vote for. */

const STALLED_MINUTES = 15;
/** A claim by a few usually gets the other votes, or is outvoted, within minutes. */
const FEW_VOTES_MINUTES = 60;
const SILENT_MINUTES = 12 * 60;
/** From this share of the power on, a claim is more than the error of a few. */
export const SUBSTANTIAL_POWER_RATIO = 0.33;
/** Share of the staking power that the hub requires for an event, fixed in its code. */
const QUORUM_RATIO = 0.66;
/** With more power for other claims, no claim can reach the quorum. */
const MINORITY_RATIO = 0.34;

const CONTACT_VOTERS =
  'Contact the operators of the validators that have not voted; deposits and executed batches do not reach the hub.';

const DO_NOT_VOTE =
  'Do not ask anybody to vote: the claim contradicts what the hub has stored. Compare it with the external chain first.';

type Items = Pick<PollView, 'items'>;

/** The next event that the hub has to observe, and its claim with the most power. */
function nextClaim(view: Items): ClaimItem | undefined {
  const [first, ...others] = listedRows(bridgeItemsOf(view)?.claims);
  if (first === undefined) return undefined;
  const same = others.filter(({ eventNonce }) => eventNonce === first.eventNonce);
  return [first, ...same].toSorted((a, b) => (b.votedPowerRatio ?? 0) - (a.votedPowerRatio ?? 0))[0];
}

/** Who has not voted for a claim; with conflicting claims they may have voted for another one. */
function missingVoters(claim: ClaimItem | undefined): string {
  const voted = claim?.conflicting === true ? 'voted for the leading claim' : 'voted';
  return missingValidators(claim?.missing ?? null, voted);
}

/** When the second claim of the first disputed event was made, in Unix seconds. */
function secondClaimTime(view: Pick<PollView, 'items' | 'state' | 'now'>): number | undefined {
  const disputed = listedRows(bridgeItemsOf(view)?.claims).filter(({ conflicting }) => conflicting);
  const times = disputed
    .filter(({ eventNonce }) => eventNonce === disputed[0]?.eventNonce)
    .map(({ age }) => timeOfAge(view, age));
  return times.every((time) => time !== undefined) ? times.toSorted((a, b) => a - b)[1] : undefined;
}

/** The voters of the leading claim of the next event, of which few claim it. */
function claimants(claim: ClaimItem | undefined): string {
  if (claim?.voted === undefined || claim.voted === null) return '';
  const { total, powerRatio } = claim.voted;
  const who = validators(membersOf(claim.voted), total);
  return `${claimText(claim)} is claimed by ${numberAndPower(total, powerRatio)}${who === '' ? '' : `: ${who}`}`;
}

const SAME_SERIES = 'cluster=%q, namespace=%q, job=%q, instance=%q, target=%q';
const SAME_LABELS = '$labels.cluster $labels.namespace $labels.job $labels.instance $labels.target';
/** Three of those who claim the next event, in a text. */
const CLAIMANTS = `{{ range query (printf "topk(3, group by (orchestrator, name) (bridge_orchestrator_info{${SAME_SERIES}} and on (orchestrator) bridge_orchestrator_missing_next_votes{${SAME_SERIES}} == 0))" ${SAME_LABELS} ${SAME_LABELS}) }}{{ or .Labels.name .Labels.orchestrator }}, {{ end }}`;

/** The share of the power that has voted for the next event, for whatever claim. */
const VOTED_POWER = `sum by (${TARGET}) (
  max by (${ORCHESTRATOR}) (bridge_orchestrator_power_ratio)
  and on (${ORCHESTRATOR}) bridge_orchestrator_missing_next_votes == 0
)`;

const CLAIMED_FAMILIES = [
  'bridge_next_event_voted_power_ratio',
  'bridge_last_observed_nonce',
  'bridge_next_event_first_vote_height',
  ...HUB_TIME_FAMILIES,
] as const;

/** The next event while such a share of the power has claimed it. Votes follow the first one within minutes. */
function claimedBy(
  view: PollView<(typeof CLAIMED_FAMILIES)[number]>,
  isEnough: (voted: number) => boolean,
): readonly Finding[] {
  const { samples } = view;
  const voted = samples.value('bridge_next_event_voted_power_ratio');
  if (voted === undefined) return [];
  const firstVote = beganAt(() => timeOfHeight(view, samples.value('bridge_next_event_first_vote_height')));
  return findingIf(isEnough(voted), voted, samples.value('bridge_last_observed_nonce'), firstVote);
}

const DISPUTE_FAMILIES = [
  'bridge_conflicting_claims',
  'bridge_next_event_voted_power_ratio',
  'bridge_next_event_second_claim_power_ratio',
  'bridge_orchestrator_missing_next_votes',
  'bridge_orchestrator_power_ratio',
] as const;

/** Whether so much power has voted for other claims that the leading claim of the next event cannot be observed any more. */
function isUndecidable({ samples }: PollView<(typeof DISPUTE_FAMILIES)[number]>): boolean {
  const leading = samples.value('bridge_next_event_voted_power_ratio');
  if (leading === undefined) return false;
  const voted = new Set(
    samples
      .series('bridge_orchestrator_missing_next_votes')
      .filter(({ value }) => value === 0)
      .map(({ labels }) => orchestratorKey(labels)),
  );
  const total = samples
    .series('bridge_orchestrator_power_ratio')
    .filter(({ labels }) => voted.has(orchestratorKey(labels)))
    .reduce((sum, { value }) => sum + value, 0);
  const second = samples.value('bridge_next_event_second_claim_power_ratio') ?? 0;
  return Math.max(total - leading, second) > MINORITY_RATIO;
}

function conflictingClaims(
  severity: 'critical' | 'warning',
  alert: { readonly description: string; readonly expr: string },
) {
  const isCritical = severity === 'critical';
  return dataAlert('module_state', {
    name: 'BridgeConflictingClaims',
    severity,
    dashboard: 'bridge-signers',
    ...alert,
    forMinutes: 10,
    families: DISPUTE_FAMILIES,
    find: (view) => {
      const events = view.samples.value('bridge_conflicting_claims') ?? 0;
      const isFound = events > 0 && (!isCritical || isUndecidable(view));
      return findingIf(
        isFound,
        events,
        undefined,
        beganAt(() => secondClaimTime(view)),
      );
    },
    summary: `validators disagree about ${countOfValue('event')}${isCritical ? ', and no claim can win' : ''}.`,
    action: isCritical
      ? 'Compare the claims with the event on the external chain. Votes cannot be changed, so only an upgrade or a new contract ends it; no later event is observed.'
      : 'Compare the claims with the event on the external chain, and tell the operators of those who are wrong.',
    sentence: ({ oldest, duration }, view) => {
      const dispute = firstDispute(bridgeItemsOf(view));
      return withDetails(
        `validators have disagreed about ${disputedThing(dispute, oldest.value)} for ${duration}`,
        disputedClaims(dispute),
      );
    },
    inhibits: isCritical ? [{ alert: 'BridgeOracleStalled' }] : [],
  });
}

export const oracleAlerts = [
  conflictingClaims('critical', {
    description: `Validators claim different things for the next event, and no claim can still reach ${percent(QUORUM_RATIO)} of the power. No deposit and no executed batch reaches the hub until that is resolved by hand.`,
    expr: `bridge_conflicting_claims > 0
and ${ON_TARGET} (
  ${VOTED_POWER.replaceAll('\n', '\n  ')}
  - ${ON_TARGET} max by (${TARGET}) (bridge_next_event_voted_power_ratio) > ${MINORITY_RATIO}
  or
  max by (${TARGET}) (bridge_next_event_second_claim_power_ratio) > ${MINORITY_RATIO}
)`,
  }),
  dataAlert('module_state', {
    name: 'BridgeOracleStalled',
    severity: 'critical',
    dashboard: 'bridge-signers',
    description: `The next event has been claimed by a third of the power or more for ${STALLED_MINUTES} minutes and is not observed, which requires ${percent(QUORUM_RATIO)} of the staking power. No deposit and no executed batch reaches the hub.`,
    // An unchanged nonce alone is normal on a quiet bridge, and a claim by a few can be of an event that does not exist.
    expr: `min_over_time(bridge_next_event_voted_power_ratio[${promDuration(STALLED_MINUTES)}]) >= ${SUBSTANTIAL_POWER_RATIO}
and bridge_next_event_voted_power_ratio offset ${promDuration(STALLED_MINUTES)}
and ${unchanged('bridge_last_observed_nonce', STALLED_MINUTES)}`,
    forMinutes: 5,
    families: [...CLAIMED_FAMILIES, 'bridge_pending_events'],
    rangeMinutes: STALLED_MINUTES,
    find: (view) => claimedBy(view, (voted) => voted >= SUBSTANTIAL_POWER_RATIO),
    summary: 'the oracle has stalled: {{ $value | humanizePercentage }} of the power have claimed the next event.',
    action: CONTACT_VOTERS,
    sentence: ({ duration }, view) =>
      withDetails(
        `no event observed for ${duration}, ${view.samples.value('bridge_pending_events') ?? 'some'} waiting`,
        missingVoters(nextClaim(view)),
      ),
    actionFor: (_, view) => {
      const claim = nextClaim(view);
      return claim?.violation ? DO_NOT_VOTE : ownFirst(membersOf(claim?.missing), CONTACT_VOTERS);
    },
    inhibits: [
      { alert: 'BridgeBatchOverdue' },
      { alert: 'BridgeBatchTimeoutNear' },
      { alert: 'BridgeBatchNotRelayed' },
      { alert: 'BridgeOracleSilent' },
      { alert: 'BridgeOrchestratorMissingVotes' },
      { alert: 'BridgeWatchedOrchestratorLagging' },
    ],
  }),
  dataAlert('module_state', {
    name: 'BridgeOracleSilent',
    severity: 'critical',
    dashboard: 'bridge-signers',
    description:
      'For half a day, withdrawals were requested and batches built and signed, but no event was claimed or observed. Either nothing is executed on the external chain, or no orchestrator reads it.',
    // On a used bridge, events are hours apart at most.
    expr: `max_over_time(bridge_pending_events[${promDuration(SILENT_MINUTES)}]) == 0
and ${unchanged('bridge_last_observed_nonce', SILENT_MINUTES)}
and bridge_last_outgoing_pool_id > bridge_last_outgoing_pool_id offset ${promDuration(SILENT_MINUTES)}
and bridge_last_outgoing_batch_id > bridge_last_outgoing_batch_id offset ${promDuration(SILENT_MINUTES)}
and bridge_batches > bridge_batches_below_threshold`,
    forMinutes: 5,
    families: [
      'bridge_pending_events',
      'bridge_last_observed_nonce',
      'bridge_last_outgoing_pool_id',
      'bridge_last_outgoing_batch_id',
      'bridge_batches',
      'bridge_batches_below_threshold',
    ],
    rangeMinutes: SILENT_MINUTES,
    find: ({ samples }) =>
      findingIf(samples.value('bridge_pending_events') === 0, 0, samples.value('bridge_last_observed_nonce')),
    holdsNow: (_, view) => {
      const { samples } = view;
      const hasGrown = (['bridge_last_outgoing_pool_id', 'bridge_last_outgoing_batch_id'] as const).every((family) => {
        const before = valueAgo(view, family, {}, SILENT_MINUTES);
        return before !== undefined && (samples.value(family) ?? 0) > before;
      });
      const batches = samples.value('bridge_batches') ?? 0;
      return hasGrown && batches > (samples.value('bridge_batches_below_threshold') ?? batches);
    },
    summary: 'no event has been claimed for half a day, although withdrawals go on.',
    action:
      'Compare the last event nonce of the contract with the last observed one: if it is ahead, the orchestrators have lost the external chain; if not, nothing is relayed.',
    sentence: ({ duration }) =>
      `no event has been claimed for ${duration}, although withdrawals were requested and batches signed`,
    inhibits: [{ alert: 'BridgeBatchNotRelayed' }],
  }),
  conflictingClaims('warning', {
    description: 'Validators claim different things for an event that is not observed yet. One claim can still win.',
    expr: 'bridge_conflicting_claims > 0',
  }),
  dataAlert('module_state', {
    name: 'BridgeOracleStalled',
    severity: 'warning',
    dashboard: 'bridge-signers',
    description:
      'The next event has been claimed for an hour, by less than a third of the power. It does not exist, or only they have seen it.',
    expr: `max_over_time(bridge_next_event_voted_power_ratio[${promDuration(FEW_VOTES_MINUTES)}]) < ${SUBSTANTIAL_POWER_RATIO}
and bridge_next_event_voted_power_ratio offset ${promDuration(FEW_VOTES_MINUTES)}
and ${unchanged('bridge_last_observed_nonce', FEW_VOTES_MINUTES)}`,
    forMinutes: 5,
    families: CLAIMED_FAMILIES,
    rangeMinutes: FEW_VOTES_MINUTES,
    find: (view) => claimedBy(view, (voted) => voted < SUBSTANTIAL_POWER_RATIO),
    summary: `only {{ $value | humanizePercentage }} of the power claim the next event: ${CLAIMANTS}all on /pending.`,
    action:
      'Look up the event on the external chain. If it does not exist, tell the operators who claim it; the next real event ends this. If it does, the others are behind.',
    sentence: ({ duration }, view) =>
      withDetails(`an event that others do not see has been claimed for ${duration}`, claimants(nextClaim(view))),
  }),
];
