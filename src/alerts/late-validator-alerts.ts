import { count } from '../text/format.js';
import { dataAlert, type Pattern } from './alert.js';
import { labelOf } from './samples.js';
import { SUBSTANTIAL_POWER_RATIO } from './oracle-alerts.js';
import {
  byOrchestrator,
  creationTime,
  deadlines,
  DEADLINE_FAMILIES,
  extentOf,
  firstDeadline,
  IDENTITY_FAMILIES,
  infoByOrchestrator,
  isWatched,
  orchestratorLabels,
  orchestratorsAbove0,
  validatorsOf,
  WINDOW_FAMILIES,
  type ConfirmKind,
  type IdentityFamily,
} from './orchestrators.js';
import {
  ON_TARGET,
  orchestratorNames,
  powerOfOthersAtLeast,
  promDuration,
  unchanged,
  watchedWithNames,
} from './promql.js';
import { bridgeItemsOf, haveOrHas, orchestratorKey, ownFirst, validators, withList } from './sentences.js';
import {
  beganAt,
  HUB_TIME_FAMILIES,
  timeOfHeight,
  timeOfItemHeight,
  type DatedFindings,
  type Finding,
  type PollView,
} from './view.js';

/* Alerts on signatures and votes that validators have missed for long: each watched validator, and all others together. */

/** Share of the power of the validators of others that has to be late. */
const LATE_POWER_RATIO = 0.15;
const CONFIRMS_MINUTES = 60;
const VOTES_MINUTES = 10;
const VOTES_BUSY_MINUTES = 120;
const CHECK_CONFIRMS = 'An orchestrator that does not sign has stopped, has no funds or cannot reach its nodes.';
const CONTACT_LATE =
  'Tell the operators, the largest first; without 66 % of the power nothing is relayed and no event is observed.';
const CHECK_VOTES = 'Check the orchestrators and their nodes of the external chain.';

/** Of patterns about orchestrators, the findings about watched ones. */
function ofWatched<Family extends string>(patterns: readonly Pattern<Family>[]) {
  return patterns.map(({ rangeMinutes, find }) => ({
    rangeMinutes,
    find: (view: PollView<Family | 'bridge_orchestrator_info'>) => {
      const info = infoByOrchestrator(view.samples);
      return find(view).filter(({ labels }) => isWatched(info, labels));
    },
  }));
}

/** Of patterns about orchestrators, the findings about others, with the power of each as its value. */
function powerOfOthers<Family extends string>(patterns: readonly Pattern<Family>[]) {
  return patterns.map(({ rangeMinutes, find }) => ({
    rangeMinutes,
    find: (view: PollView<Family | IdentityFamily>): readonly Finding[] => {
      const info = infoByOrchestrator(view.samples);
      const power = byOrchestrator(view.samples, 'bridge_orchestrator_power_ratio');
      return find(view).flatMap((finding) => {
        const value = power.get(orchestratorKey(finding.labels));
        if (value === undefined || isWatched(info, finding.labels)) return [];
        // Several patterns can find the same validator, whose power counts once.
        return [{ ...finding, labels: orchestratorLabels(finding.labels), value }];
      });
    },
  }));
}

/** Missing in every sample of an hour, so not just the newest batch; or the deadline of the same validator set for an hour. */
const LATE_CONFIRMS = `label_replace(min_over_time(bridge_orchestrator_missing_batch_confirms[${promDuration(CONFIRMS_MINUTES)}]) > 0 and bridge_orchestrator_missing_batch_confirms offset ${promDuration(CONFIRMS_MINUTES)}, "confirms", "batch", "", "")
or
label_replace(bridge_orchestrator_missing_valset_confirms > 0 and ignoring (confirms) ${unchanged('bridge_orchestrator_confirm_deadline_height{confirms="valset"}', CONFIRMS_MINUTES)}, "confirms", "valset", "", "")`;

const CONFIRM_FAMILIES = [
  ...IDENTITY_FAMILIES,
  ...DEADLINE_FAMILIES,
  ...WINDOW_FAMILIES,
  'bridge_orchestrator_missing_batch_confirms',
  'bridge_orchestrator_missing_valset_confirms',
] as const;
type ConfirmFamily = (typeof CONFIRM_FAMILIES)[number];

/** When the first thing was created that an orchestrator has not signed, in Unix seconds. Nobody withdraws a signature. */
function unsignedSince(view: PollView<ConfirmFamily>, { labels }: Finding, confirms: ConfirmKind): number | undefined {
  const next = deadlines(view).find(
    (own) => own.confirms === confirms && orchestratorKey(own.labels) === orchestratorKey(labels),
  );
  return next && creationTime(view, next);
}

const lateConfirms: readonly Pattern<ConfirmFamily>[] = [
  {
    rangeMinutes: CONFIRMS_MINUTES,
    find: (view) =>
      orchestratorsAbove0('bridge_orchestrator_missing_batch_confirms', view, { confirms: 'batch' }).map((finding) => ({
        ...finding,
        start: beganAt(() => unsignedSince(view, finding, 'batch')),
      })),
  },
  {
    rangeMinutes: CONFIRMS_MINUTES,
    // The deadline is that of the first validator set that is not signed.
    find: (view) => {
      const deadlinesOfValsets = view.samples
        .series('bridge_orchestrator_confirm_deadline_height')
        .filter(({ labels }) => labelOf(labels, 'confirms') === 'valset');
      const heights = new Map(deadlinesOfValsets.map(({ labels, value }) => [orchestratorKey(labels), value]));
      return orchestratorsAbove0('bridge_orchestrator_missing_valset_confirms', view, { confirms: 'valset' })
        .map((finding) => ({
          ...finding,
          unchangedValue: heights.get(orchestratorKey(finding.labels)),
          start: beganAt(() => unsignedSince(view, finding, 'valset')),
        }))
        .filter(({ unchangedValue }) => unchangedValue !== undefined);
    },
  },
];

const LATE_VOTES = `bridge_orchestrator_missing_votes == 1 and ${ON_TARGET} ${unchanged('bridge_last_observed_nonce', VOTES_MINUTES)}
or
min_over_time(bridge_orchestrator_missing_votes[${promDuration(VOTES_BUSY_MINUTES)}]) == 1 and bridge_orchestrator_missing_votes offset ${promDuration(VOTES_BUSY_MINUTES)}
or
bridge_orchestrator_missing_next_votes == 1 and ${ON_TARGET} (
  ${unchanged('bridge_next_event_first_vote_height', VOTES_MINUTES)}
  and ${ON_TARGET} min_over_time(bridge_next_event_voted_power_ratio[${promDuration(VOTES_MINUTES)}]) >= ${SUBSTANTIAL_POWER_RATIO}
)`;

const VOTE_FAMILIES = [
  ...IDENTITY_FAMILIES,
  'bridge_orchestrator_missing_votes',
  'bridge_orchestrator_missing_next_votes',
  'bridge_last_observed_nonce',
  'bridge_next_event_first_vote_height',
  'bridge_next_event_voted_power_ratio',
  ...HUB_TIME_FAMILIES,
] as const;
type VoteFamily = (typeof VOTE_FAMILIES)[number];

const lateVotes: readonly Pattern<VoteFamily>[] = [
  {
    rangeMinutes: VOTES_MINUTES,
    find: (view) => {
      const unchangedValue = view.samples.value('bridge_last_observed_nonce');
      if (unchangedValue === undefined) return [];
      const missing = orchestratorsAbove0('bridge_orchestrator_missing_votes', view);
      // Votes follow the first one within minutes.
      const start = beganAt(() => timeOfItemHeight(view, bridgeItemsOf(view)?.lastEventHeight));
      return missing.map((finding) => ({ ...finding, unchangedValue, start }));
    },
  },
  {
    rangeMinutes: VOTES_BUSY_MINUTES,
    find: (view) => orchestratorsAbove0('bridge_orchestrator_missing_votes', view),
  },
  {
    rangeMinutes: VOTES_MINUTES,
    find: (view) => {
      const unchangedValue = view.samples.value('bridge_next_event_first_vote_height');
      const voted = view.samples.value('bridge_next_event_voted_power_ratio') ?? 0;
      if (unchangedValue === undefined || voted < SUBSTANTIAL_POWER_RATIO) return [];
      const missing = orchestratorsAbove0('bridge_orchestrator_missing_next_votes', view);
      const start = beganAt(() => timeOfHeight(view, unchangedValue));
      return missing.map((finding) => ({ ...finding, unchangedValue, start }));
    },
  },
];

/** The power of others that is late, if it is enough to be worth an alert. */
const latePower = (late: string): string => powerOfOthersAtLeast(LATE_POWER_RATIO, late);

/** What the alerts on your own validators and on those of others have in common. */
const missingConfirms = {
  name: 'BridgeOrchestratorMissingConfirms',
  severity: 'warning',
  dashboard: 'bridge-signers',
  forMinutes: 5,
  families: CONFIRM_FAMILIES,
  lateWith: 'some signatures in every poll for an hour',
} as const;

/** The same for votes. */
const missingVotes = {
  name: 'BridgeOrchestratorMissingVotes',
  severity: 'warning',
  dashboard: 'bridge-signers',
  forMinutes: 20,
  families: VOTE_FAMILIES,
  lateWith: 'votes for observed events',
  sentence: (findings: DatedFindings, view: PollView<IdentityFamily>) => {
    const who = validatorsOf(findings, view);
    return withList(
      `${extentOf(who)} ${haveOrHas(who.length)} not voted for an event for ${findings.duration}`,
      validators(who),
    );
  },
} as const;

export const lateValidatorAlerts = [
  dataAlert('module_state', {
    ...missingConfirms,
    description:
      'The signatures of a validator of `watch` have been missing for an hour: on batches, or on the validator set with its next deadline. A validator that misses a deadline is jailed.',
    // A running orchestrator signs one batch a minute and is at 0 regularly.
    expr: watchedWithNames(LATE_CONFIRMS),
    recordings: [orchestratorNames],
    patterns: ofWatched(lateConfirms),
    summary:
      '{{ $value }} {{ $labels.confirms }} signatures of your validator {{ or $labels.name $labels.orchestrator }} are missing.',
    action: CHECK_CONFIRMS,
    sentence: (findings, view) => {
      const items = (['batch', 'valset'] as const).flatMap((kind) => {
        const own = findings.all.filter(({ labels }) => labels['confirms'] === kind);
        const most = Math.max(...own.map(({ value }) => value));
        if (own.length === 0) return [];
        return kind === 'batch' ? count(most, 'batch', 'batches') : count(most, 'validator set');
      });
      const who = validatorsOf(findings, view);
      const signatures = `signatures of ${extentOf(who)} have been missing for ${findings.duration}`;
      return withList(
        `${signatures}, on up to ${items.join(' and ')}`,
        validators(who),
        firstDeadline(findings, who.length, view),
      );
    },
    actionFor: (findings, view) => ownFirst(validatorsOf(findings, view), CHECK_CONFIRMS),
  }),
  dataAlert('module_state', {
    ...missingConfirms,
    description: `Validators that are not in \`watch\`, with ${LATE_POWER_RATIO * 100} % of the power or more, have not signed for an hour. From 34 % on, nothing can be relayed.`,
    expr: latePower(LATE_CONFIRMS),
    recordings: [orchestratorNames],
    labels: { watched: 'false' },
    patterns: powerOfOthers(lateConfirms),
    minimumSum: LATE_POWER_RATIO,
    summary: 'signatures of validators with {{ $value | humanizePercentage }} of the power are missing.',
    action: CONTACT_LATE,
    sentence: (findings, view) => {
      const who = validatorsOf(findings, view);
      return withList(
        `signatures of ${extentOf(who)} have been missing for ${findings.duration}`,
        validators(who),
        firstDeadline(findings, who.length, view),
      );
    },
  }),
  dataAlert('module_state', {
    ...missingVotes,
    description:
      'A validator of `watch` has not voted for the last observed event, which is 10 minutes old, for any in 2 hours, or for the next one, which a third of the power has claimed for 10 minutes.',
    // Votes are often a few minutes late. On a busy bridge the last event changes more often, so the second operand requires a missing vote in
    // every sample of 2 hours. A vote for another claim is not missing.
    expr: watchedWithNames(LATE_VOTES),
    recordings: [orchestratorNames],
    patterns: ofWatched(lateVotes),
    summary: 'your validator {{ or $labels.name $labels.orchestrator }} does not vote.',
    action: CHECK_VOTES,
    actionFor: (findings, view) => ownFirst(validatorsOf(findings, view), CHECK_VOTES),
  }),
  dataAlert('module_state', {
    ...missingVotes,
    description: `Validators that are not in \`watch\`, with ${LATE_POWER_RATIO * 100} % of the power or more, have not voted for an event in the same sense. From 34 % on, no event is observed.`,
    expr: latePower(LATE_VOTES),
    recordings: [orchestratorNames],
    labels: { watched: 'false' },
    patterns: powerOfOthers(lateVotes),
    minimumSum: LATE_POWER_RATIO,
    summary: 'validators with {{ $value | humanizePercentage }} of the power do not vote.',
    action: CONTACT_LATE,
  }),
];
