import { count, duration, list, percent } from '../text/format.js';
import { above, dataAlert, type Pattern, type Severity } from './alert.js';
import {
  indent,
  LARGEST_UNSIGNED,
  largestOf,
  ON_TARGET,
  ORCHESTRATOR,
  orchestratorNames,
  powerOfSelected,
  promDuration,
  TARGET,
  unchanged,
  unsignedPower,
  withNameLabels,
  type RecordingRule,
} from './promql.js';
import {
  blocksFor,
  bridgeItemsOf,
  haveOrHas,
  listedRows,
  membersOf,
  missingValidators,
  numberAndPower,
  orchestratorKey,
  ownFirst,
  parts,
  shortAddress,
  timeLeft,
  type Validator,
  validators,
} from './sentences.js';
import {
  findingIf,
  labelOf,
  type AlertLabels,
  type DatedFindings,
  type Finding,
  type PollView,
  type Samples,
} from './view.js';

/* Alerts on validators: their sets, signatures, votes and deadlines. */

/** The time left to sign from which on a watched validator is urgent, and from which on it is a warning. */
export const CRITICAL_HOURS = 12;
export const WARNING_HOURS = 24;
/** Sum of the differences of all power shares. */
export const DRIFT_RATIO = 0.1;
/** Share of the power of the validators of others that has to be late. */
const LATE_POWER_RATIO = 0.15;
/** From a third of the power on, a claim of the next event is not the mistake of a few. */
const CREDIBLE_CLAIM_RATIO = 0.33;
const VALSET_UNSIGNED_MINUTES = 60;
const CONFIRMS_MINUTES = 60;
const VOTES_MINUTES = 10;
const VOTES_BUSY_MINUTES = 120;
const HOUR_SECONDS = 3600;

const CONTACT_SIGNERS =
  'Contact the operators of the validators that have not signed; the contract keeps an older validator set.';
const CHECK_CONFIRMS = 'An orchestrator that does not sign has stopped, has no funds or cannot reach its nodes.';
const CONTACT_LATE =
  'Tell the operators, the largest first; without 66 % of the power nothing is relayed and no event is observed.';
const CHECK_VOTES = 'Check the orchestrators and their nodes of the external chain.';

/** What every sentence about validators reads. */
const IDENTITY_FAMILIES = ['bridge_orchestrator_info', 'bridge_orchestrator_power_ratio'] as const;
type IdentityFamily = (typeof IDENTITY_FAMILIES)[number];
/** What tells when a validator is jailed. */
const DEADLINE_FAMILIES = [
  'bridge_orchestrator_confirm_deadline_height',
  'bridge_orchestrator_batch_confirm_deadline_height',
  'bridge_height',
  'bridge_block_time_seconds',
] as const;
type DeadlineFamily = (typeof DEADLINE_FAMILIES)[number];

function orchestratorLabels(labels: AlertLabels): AlertLabels {
  return {
    orchestrator: labelOf(labels, 'orchestrator'),
    external_address: labelOf(labels, 'external_address'),
  };
}

/** Findings of the orchestrators whose value is above 0. */
function orchestratorsAbove0<Family extends string>(
  family: Family,
  { samples }: PollView<Family>,
  ownLabels: AlertLabels = {},
): readonly Finding[] {
  return samples
    .series(family)
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => ({ labels: { ...orchestratorLabels(labels), ...ownLabels }, value }));
}

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

function isWatched(info: ReadonlyMap<string, AlertLabels>, labels: AlertLabels): boolean {
  return info.get(orchestratorKey(labels))?.['watched'] === 'true';
}

function byOrchestrator<Family extends string>(samples: Samples<Family>, family: Family): ReadonlyMap<string, number> {
  return new Map(samples.series(family).map(({ labels, value }) => [orchestratorKey(labels), value]));
}

function infoByOrchestrator(samples: Samples<'bridge_orchestrator_info'>): ReadonlyMap<string, AlertLabels> {
  return new Map(samples.series('bridge_orchestrator_info').map(({ labels }) => [orchestratorKey(labels), labels]));
}

interface FoundValidator extends Validator {
  readonly powerRatio: number | undefined;
}

/** The validators of the findings, each once, by descending power. */
function validatorsOf({ all }: DatedFindings, { samples }: PollView<IdentityFamily>): readonly FoundValidator[] {
  const info = infoByOrchestrator(samples);
  const power = byOrchestrator(samples, 'bridge_orchestrator_power_ratio');
  const found = new Map(all.map(({ labels }) => [orchestratorKey(labels), labels]));
  return Array.from(found, ([key, labels]) => ({
    name: info.get(key)?.['name'] ?? '',
    address: labelOf(labels, 'orchestrator') || labelOf(labels, 'external_address'),
    isWatched: info.get(key)?.['watched'] === 'true',
    powerRatio: power.get(key),
  })).toSorted((a, b) => (b.powerRatio ?? 0) - (a.powerRatio ?? 0));
}

/** Their number and power, if that of all of them is known. */
function extentOf(found: readonly FoundValidator[]): string {
  const ratios = found.flatMap(({ powerRatio }) => powerRatio ?? []);
  const isComplete = ratios.length === found.length;
  return numberAndPower(found.length, isComplete ? ratios.reduce((sum, ratio) => sum + ratio, 0) : null);
}

type Kind = 'valset' | 'batch';

/** What a validator has to sign, in words. */
const SIGNED_THING: Readonly<Record<Kind, string>> = { valset: 'a validator set', batch: 'a batch' };

interface Deadline {
  readonly labels: AlertLabels;
  readonly confirms: Kind;
  readonly blocks: number;
}

/** The next deadline of each orchestrator for signing a validator set, and for signing a batch. Those that have passed are left out. */
function deadlines({ samples }: PollView<DeadlineFamily>): readonly Deadline[] {
  const height = samples.value('bridge_height');
  if (height === undefined) return [];
  const ofKind = (confirms: Kind, family: DeadlineFamily): readonly Deadline[] =>
    samples.series(family).map(({ labels, value }) => ({ labels, confirms, blocks: value - height }));
  return [
    ...ofKind('valset', 'bridge_orchestrator_confirm_deadline_height'),
    ...ofKind('batch', 'bridge_orchestrator_batch_confirm_deadline_height'),
  ].filter(({ blocks }) => blocks >= 0);
}

/** When the first of these validators is jailed; empty without a deadline. */
function firstDeadline({ all }: DatedFindings, number: number, view: PollView<DeadlineFamily>): string {
  const found = new Set(all.map(({ labels }) => orchestratorKey(labels)));
  const blocks = deadlines(view)
    .filter(({ labels }) => found.has(orchestratorKey(labels)))
    .map((deadline) => deadline.blocks);
  if (blocks.length === 0) return '';
  const who = number === 1 ? 'it' : 'the first';
  return `${who} is jailed in ${blocksFor(Math.min(...blocks), view.samples.value('bridge_block_time_seconds'), 'hub')}`;
}

/** Seconds that are left to sign a validator set or a batch, by orchestrator and \`confirms\`. */
const TIME_LEFT = `(
  (
    label_replace(bridge_orchestrator_confirm_deadline_height, "confirms", "valset", "", "")
    or
    label_replace(bridge_orchestrator_batch_confirm_deadline_height, "confirms", "batch", "", "")
  )
  - ${ON_TARGET} group_left () max by (${TARGET}) (bridge_height)
)
* ${ON_TARGET} group_left () max by (${TARGET}) (bridge_block_time_seconds)`;

/** Tells apart a signature that is missing from one that is given within minutes. */
const DEADLINE_FOR_MINUTES = 15;

function deadlineNear(
  who: 'watched' | 'others',
  [fromHours, untilHours]: readonly [number, number],
  alert: {
    readonly severity: Severity;
    readonly comment: string;
    readonly when: string;
    readonly action: string;
  },
) {
  const [from, until] = [fromHours * HOUR_SECONDS, untilHours * HOUR_SECONDS];
  const near = `(
${indent(TIME_LEFT)}
) >= ${from} < ${until}`;
  const validator = who === 'watched' ? 'your validator' : 'validator';
  const first = who === 'watched' ? 'Your validator' : 'Validator';
  return dataAlert('module_state', {
    ...alert,
    name: 'BridgeOrchestratorDeadlineNear',
    dashboard: 'bridge-signers',
    recordings: [orchestratorNames],
    expr:
      who === 'watched'
        ? `(
${indent(near)}
)
* on (${ORCHESTRATOR}) group_left (name, watched)
topk by (${ORCHESTRATOR}) (1, ${orchestratorNames.name}{watched="true"})`
        : withNameLabels(`${near}
unless on (${ORCHESTRATOR}) ${orchestratorNames.name}{watched="true"}`),
    forMinutes: DEADLINE_FOR_MINUTES,
    families: [...IDENTITY_FAMILIES, ...DEADLINE_FAMILIES],
    find: (view) => {
      const info = infoByOrchestrator(view.samples);
      const blockTime = view.samples.value('bridge_block_time_seconds');
      if (blockTime === undefined) return [];
      return deadlines(view)
        .filter(({ labels }) => isWatched(info, labels) === (who === 'watched'))
        .map(({ labels, confirms, blocks }) => ({
          labels: { ...orchestratorLabels(labels), confirms },
          value: blocks * blockTime,
        }))
        .filter(({ value }) => value >= from && value < until);
    },
    summary: `${validator} {{ or $labels.name $labels.orchestrator }} is jailed in {{ $value | humanizeDuration }}.`,
    description: `${first} {{ $labels.name }} (orchestrator {{ $labels.orchestrator }}) of {{ $labels.target }} has {{ $value | humanizeDuration }} left to sign a {{ if eq $labels.confirms "batch" }}batch{{ else }}validator set{{ end }}. After that it is jailed.`,
    sentence: (findings, view) => {
      const soonest = findings.all.toSorted((a, b) => a.value - b.value)[0] ?? findings.oldest;
      const time = `about ${duration(soonest.value)}`;
      const kind = labelOf(soonest.labels, 'confirms') === 'batch' ? 'batch' : 'valset';
      const found = validatorsOf(findings, view);
      return found.length === 1
        ? `${validators(found)} will be jailed in ${time} unless it signs ${SIGNED_THING[kind]}`
        : `${count(found.length, 'validator')} will be jailed, the first in ${time}, unless they sign: ${validators(found)}`;
    },
    ...(who === 'watched' && {
      inhibits: [{ alert: 'BridgeOrchestratorMissingConfirms', equal: ['orchestrator'] }],
    }),
  });
}

/** Missing in every sample of an hour, so not just the newest batch; or the deadline of the same validator set for an hour. */
const LATE_CONFIRMS = `label_replace(min_over_time(bridge_orchestrator_missing_batch_confirms[${promDuration(CONFIRMS_MINUTES)}]) > 0 and bridge_orchestrator_missing_batch_confirms offset ${promDuration(CONFIRMS_MINUTES)}, "confirms", "batch", "", "")
or
label_replace(bridge_orchestrator_missing_valset_confirms > 0 and ${unchanged('bridge_orchestrator_confirm_deadline_height', CONFIRMS_MINUTES)}, "confirms", "valset", "", "")`;

const CONFIRM_FAMILIES = [
  ...IDENTITY_FAMILIES,
  ...DEADLINE_FAMILIES,
  'bridge_orchestrator_missing_batch_confirms',
  'bridge_orchestrator_missing_valset_confirms',
] as const;
type ConfirmFamily = (typeof CONFIRM_FAMILIES)[number];

const lateConfirms: readonly Pattern<ConfirmFamily>[] = [
  {
    rangeMinutes: CONFIRMS_MINUTES,
    find: (view) => orchestratorsAbove0('bridge_orchestrator_missing_batch_confirms', view, { confirms: 'batch' }),
  },
  {
    rangeMinutes: CONFIRMS_MINUTES,
    // The deadline is that of the first validator set that is not signed.
    find: (view) => {
      const heights = byOrchestrator(view.samples, 'bridge_orchestrator_confirm_deadline_height');
      return orchestratorsAbove0('bridge_orchestrator_missing_valset_confirms', view, { confirms: 'valset' })
        .map((finding) => ({ ...finding, unchangedValue: heights.get(orchestratorKey(finding.labels)) }))
        .filter(({ unchangedValue }) => unchangedValue !== undefined);
    },
  },
];

const unsignedByOthers: RecordingRule = {
  name: 'orchestrator:bridge_orchestrator_power_ratio:late_confirms',
  comment: `The power of each orchestrator that is not watched and has not signed for an hour.`,
  expr: `${powerOfSelected(LATE_CONFIRMS)}
unless on (${ORCHESTRATOR}) ${orchestratorNames.name}{watched="true"}`,
};

const LATE_VOTES = `bridge_orchestrator_missing_votes == 1 and ${ON_TARGET} ${unchanged('bridge_last_observed_nonce', VOTES_MINUTES)}
or
min_over_time(bridge_orchestrator_missing_votes[${promDuration(VOTES_BUSY_MINUTES)}]) == 1 and bridge_orchestrator_missing_votes offset ${promDuration(VOTES_BUSY_MINUTES)}
or
bridge_orchestrator_missing_next_votes == 1 and ${ON_TARGET} (
  ${unchanged('bridge_next_event_first_vote_height', VOTES_MINUTES)}
  and ${ON_TARGET} min_over_time(bridge_next_event_voted_power_ratio[${promDuration(VOTES_MINUTES)}]) >= ${CREDIBLE_CLAIM_RATIO}
)`;

const VOTE_FAMILIES = [
  ...IDENTITY_FAMILIES,
  'bridge_orchestrator_missing_votes',
  'bridge_orchestrator_missing_next_votes',
  'bridge_last_observed_nonce',
  'bridge_next_event_first_vote_height',
  'bridge_next_event_voted_power_ratio',
] as const;
type VoteFamily = (typeof VOTE_FAMILIES)[number];

const lateVotes: readonly Pattern<VoteFamily>[] = [
  {
    rangeMinutes: VOTES_MINUTES,
    find: (view) => {
      const unchangedValue = view.samples.value('bridge_last_observed_nonce');
      if (unchangedValue === undefined) return [];
      const missing = orchestratorsAbove0('bridge_orchestrator_missing_votes', view);
      return missing.map((finding) => ({ ...finding, unchangedValue }));
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
      if (unchangedValue === undefined || voted < CREDIBLE_CLAIM_RATIO) return [];
      const missing = orchestratorsAbove0('bridge_orchestrator_missing_next_votes', view);
      return missing.map((finding) => ({ ...finding, unchangedValue }));
    },
  },
];

const silentOthers: RecordingRule = {
  name: 'orchestrator:bridge_orchestrator_power_ratio:late_votes',
  comment: `The power of each orchestrator that is not watched and has not voted.`,
  expr: `${powerOfSelected(LATE_VOTES)}
unless on (${ORCHESTRATOR}) ${orchestratorNames.name}{watched="true"}`,
};

/** The watched orchestrators that an expression selects, with their names. */
function namesOfWatched(expr: string): string {
  return `(
${indent(expr)}
)
* on (${ORCHESTRATOR}) group_left (name, watched)
topk by (${ORCHESTRATOR}) (1, ${orchestratorNames.name}{watched="true"})`;
}

/**
 * The power of others that is late, if it is enough to be worth an alert. It does not read the recording rule of the text, which a second
 * evaluation of the rules records a minute later.
 */
const latePower = (late: string): string => `sum by (${TARGET}) (
  max by (${ORCHESTRATOR}) (bridge_orchestrator_power_ratio)
  and on (${ORCHESTRATOR})
  (
${indent(late, 4)}
  )
  unless on (${ORCHESTRATOR}) ${orchestratorNames.name}{watched="true"}
) >= ${LATE_POWER_RATIO}`;

function inactive(
  severity: 'critical' | 'warning',
  { comment, when }: { readonly comment: string; readonly when: string },
) {
  const wasActive = severity === 'critical';
  const ADDRESS = `on (${TARGET}, address)`;
  return dataAlert('module_state', {
    name: 'BridgeWatchedValidatorInactive',
    severity,
    dashboard: 'bridge-signers',
    comment,
    when,
    expr: `bridge_watched_validator_active == 0
${wasActive ? 'and' : 'unless'} ${ADDRESS} bridge_watched_validator_last_active_timestamp_seconds`,
    forMinutes: 10,
    linksToPending: false,
    families: ['bridge_watched_validator_active', 'bridge_watched_validator_last_active_timestamp_seconds'],
    find: ({ samples }) => {
      const known = samples.series('bridge_watched_validator_last_active_timestamp_seconds');
      const active = new Set(known.map(({ labels }) => labelOf(labels, 'address')));
      return samples
        .series('bridge_watched_validator_active')
        .map(({ labels, value }) => ({ labels: { address: labelOf(labels, 'address') }, value }))
        .filter(({ labels, value }) => value === 0 && active.has(labels.address) === wasActive);
    },
    summary: wasActive
      ? 'your validator {{ $labels.address }} has left the validator set.'
      : 'your validator {{ $labels.address }} is not in the newest validator set.',
    description: `For 10 minutes, no member of the newest validator set of {{ $labels.target }} has had the address {{ $labels.address }} of watch${wasActive ? ', which had one before' : ' since the exporter started'}. Its signatures and votes are not monitored.`,
    action: wasActive
      ? 'Check whether the validator is jailed; correct the cause, then unjail it.'
      : 'Check whether the validator is jailed, and the address in watch: no alert covers a validator outside the set.',
    sentence: ({ all, duration: lasting }) => {
      const addresses = all.map(({ labels }) => shortAddress(labelOf(labels, 'address')));
      const are = all.length === 1 ? 'of your validators has' : 'of your validators have';
      return `${all.length} ${are} not been in the newest validator set for ${lasting}: ${list(addresses)}`;
    },
  });
}

/** The newest unrelayed validator set, if the list has it: the list has the oldest. */
function newestUnrelayed(view: Pick<PollView, 'items'>) {
  const valsets = bridgeItemsOf(view)?.valsets;
  const rows = listedRows(valsets);
  return valsets?.total === rows.length ? rows.at(-1) : undefined;
}

export const validatorAlerts = [
  deadlineNear('watched', [0, CRITICAL_HOURS], {
    severity: 'critical',
    comment: `Your own validators: those in \`watch\`. 12 hours (43200 s) include a night. Batches are live for less than the window unless no
event is observed for days.`,
    when: `Less than ${CRITICAL_HOURS} hours are left for a watched validator to sign a validator set or a batch.`,
    action: 'Restart the orchestrator now.',
  }),
  deadlineNear('watched', [CRITICAL_HOURS, WARNING_HOURS], {
    severity: 'warning',
    comment: 'Your own validators, from a day (86400 s) to 12 hours (43200 s) before.',
    when: `Between ${CRITICAL_HOURS} and ${WARNING_HOURS} hours are left for a watched validator to sign.`,
    action: 'Restart the orchestrator today.',
  }),
  deadlineNear('others', [0, CRITICAL_HOURS], {
    severity: 'info',
    comment: `The validators of others, and all when bridge_orchestrator_info is missing: 12 hours (43200 s) before.`,
    when: 'The same as the critical one for a validator that is not watched.',
    action: 'Inform the operator; if the validator is yours, restart its orchestrator and add it to watch.',
  }),
  dataAlert('module_state', {
    name: 'BridgeValsetUnsigned',
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: `Only the newest set can be relayed usefully. A warning, because withdrawals continue with the old one. BridgeOrchestratorDeadlineNear
covers jailing.`,
    when: `The newest validator set has been below \`power_threshold\` for ${VALSET_UNSIGNED_MINUTES} minutes.`,
    expr: `bridge_newest_valset_signed_power_ratio
  < ${ON_TARGET} group_left () max by (${TARGET}) (bridge_power_threshold_ratio)`,
    recordings: [orchestratorNames, unsignedPower],
    forMinutes: VALSET_UNSIGNED_MINUTES,
    families: ['bridge_newest_valset_signed_power_ratio', 'bridge_power_threshold_ratio'],
    find: ({ samples }) => {
      const signed = samples.value('bridge_newest_valset_signed_power_ratio');
      const threshold = samples.value('bridge_power_threshold_ratio');
      if (signed === undefined || threshold === undefined) return [];
      return findingIf(signed < threshold, signed);
    },
    summary: 'the newest validator set lacks signatures.',
    description: `For an hour, less power than power_threshold has signed the newest validator set of {{ $labels.target }}, now {{ $value | humanizePercentage }}, so it cannot be relayed. Missing signatures, largest power first: ${LARGEST_UNSIGNED}all on /pending.`,
    action: CONTACT_SIGNERS,
    sentence: ({ oldest, duration: lasting }, view) => {
      const valset = newestUnrelayed(view);
      return parts(
        `the newest validator set has lacked signatures for ${lasting}; ${percent(oldest.value)} of the power has signed it`,
        missingValidators(valset?.missing ?? null, 'signed it'),
        timeLeft(valset?.headroom, (time) => `who does not sign it is jailed in ${time}`),
      );
    },
    actionFor: (_, view) => ownFirst(membersOf(newestUnrelayed(view)?.missing), CONTACT_SIGNERS),
  }),
  dataAlert('module_state', {
    name: 'BridgeValsetDrift',
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: `2h, because relayers may wait for low gas prices.
Sum of the differences of all power shares. The hub creates a new set at 0.05, so twice that is a set that was not relayed. From 0.68 on,
the members in the contract may no longer reach the 66 % from which on relayers relay.`,
    when: `The power shares of the newest validator set differ by more than ${DRIFT_RATIO * 100} % from those in the contract.`,
    ...above('bridge_valset_power_drift_ratio', DRIFT_RATIO),
    forMinutes: 120,
    linksToPending: false,
    summary:
      'the validator set in the contract is out of date; the power shares differ by {{ $value | humanizePercentage }}.',
    description:
      'For 2 hours, the power shares of the newest validator set of {{ $labels.target }} have differed from those in the contract; the differences add up to {{ $value | humanizePercentage }}.',
    action: 'Have a relayer relay the newest validator set; anyone can, and the hub pays no reward.',
    sentence: ({ oldest, duration: lasting }) =>
      `the validator set in the contract has been out of date for ${lasting}; its power shares differ by ${percent(oldest.value)}`,
  }),
  inactive('critical', {
    comment: 'Ten minutes: a validator that is unjailed is in no set before the hub creates the next one.',
    when: 'An entry of `watch` was in the newest validator set since the exporter started, and is not any more.',
  }),
  inactive('warning', {
    comment: 'The entry may be wrong, or the validator has been outside for long.',
    when: 'A registered entry of `watch` has not been in the newest validator set since the exporter started.',
  }),
  dataAlert('module_state', {
    name: 'BridgeOrchestratorMissingConfirms',
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: `Your own validators. Batch confirms: missing in every sample of an hour. A running orchestrator signs one batch a minute and is at 0
regularly. Valset confirms: the same deadline for an hour.`,
    when: 'The signatures of a watched validator have been missing for an hour: on batches, or on the validator set with its next deadline.',
    expr: namesOfWatched(LATE_CONFIRMS),
    recordings: [orchestratorNames],
    forMinutes: 5,
    families: CONFIRM_FAMILIES,
    patterns: ofWatched(lateConfirms),
    summary: 'your validator {{ or $labels.name $labels.orchestrator }} does not sign.',
    description:
      'Your validator {{ or $labels.name $labels.orchestrator }} (orchestrator {{ $labels.orchestrator }}) of {{ $labels.target }} has missed at least {{ $value }} {{ $labels.confirms }} confirms for an hour. A validator that misses a deadline is jailed.',
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
      return parts(
        `${signatures}, on up to ${items.join(' and ')}: ${validators(who)}`,
        firstDeadline(findings, who.length, view),
      );
    },
    actionFor: (findings, view) => ownFirst(validatorsOf(findings, view), CHECK_CONFIRMS),
  }),
  dataAlert('module_state', {
    name: 'BridgeOrchestratorMissingConfirms',
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: `The validators of others, all together. From 34 % on, nothing can be relayed; 0.15 leaves time to tell their operators.`,
    when: `Validators that are not watched, with ${LATE_POWER_RATIO * 100} % of the power or more, have not signed for an hour.`,
    expr: latePower(LATE_CONFIRMS),
    recordings: [orchestratorNames, unsignedByOthers],
    labels: { watched: 'false' },
    forMinutes: 5,
    families: CONFIRM_FAMILIES,
    patterns: powerOfOthers(lateConfirms),
    minimumSum: LATE_POWER_RATIO,
    summary: 'validators with {{ $value | humanizePercentage }} of the power do not sign.',
    description: `For an hour, validators of others with {{ $value | humanizePercentage }} of the power of {{ $labels.target }} have not signed. Largest first: ${largestOf(unsignedByOthers)}all on /pending.`,
    action: CONTACT_LATE,
    sentence: (findings, view) => {
      const who = validatorsOf(findings, view);
      return parts(
        `signatures of ${extentOf(who)} have been missing for ${findings.duration}: ${validators(who)}`,
        firstDeadline(findings, who.length, view),
      );
    },
  }),
  dataAlert('module_state', {
    name: 'BridgeOrchestratorMissingVotes',
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: `Your own validators. Votes are often a few minutes late. The first operand waits until the last observed event is 10 minutes old (plus
\`for\`). On a busy bridge the last event changes more often; the second operand requires a missing vote in every sample of 2 hours. The
third one is about an event that has been claimed for 10 minutes by 0.33 of the power, so not by mistake. A vote for another claim is not
missing.`,
    when: 'A watched validator has not voted for the last observed event, which is 10 minutes old, for any in 2 hours, or for the next one, which a third of the power has claimed.',
    expr: namesOfWatched(LATE_VOTES),
    recordings: [orchestratorNames],
    forMinutes: 20,
    families: VOTE_FAMILIES,
    patterns: ofWatched(lateVotes),
    summary: 'your validator {{ or $labels.name $labels.orchestrator }} does not vote.',
    description:
      'Your validator {{ or $labels.name $labels.orchestrator }} (orchestrator {{ $labels.orchestrator }}) of {{ $labels.target }} has not voted for an event for at least 30 minutes.',
    action: CHECK_VOTES,
    sentence: (findings, view) => {
      const who = validatorsOf(findings, view);
      return `${extentOf(who)} ${haveOrHas(who.length)} not voted for an event for ${findings.duration}: ${validators(who)}`;
    },
    actionFor: (findings, view) => ownFirst(validatorsOf(findings, view), CHECK_VOTES),
  }),
  dataAlert('module_state', {
    name: 'BridgeOrchestratorMissingVotes',
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: `The validators of others, all together. From 34 % on, no event is observed; 0.15 leaves time to tell their operators.`,
    when: `Validators that are not watched, with ${LATE_POWER_RATIO * 100} % of the power or more, have not voted, as above.`,
    expr: latePower(LATE_VOTES),
    recordings: [orchestratorNames, silentOthers],
    labels: { watched: 'false' },
    forMinutes: 20,
    families: VOTE_FAMILIES,
    patterns: powerOfOthers(lateVotes),
    minimumSum: LATE_POWER_RATIO,
    summary: 'validators with {{ $value | humanizePercentage }} of the power do not vote.',
    description: `For at least 30 minutes, validators of others with {{ $value | humanizePercentage }} of the power of {{ $labels.target }} have not voted for an event. Largest first: ${largestOf(silentOthers)}all on /pending.`,
    action: CONTACT_LATE,
    sentence: (findings, view) => {
      const who = validatorsOf(findings, view);
      return `${extentOf(who)} ${haveOrHas(who.length)} not voted for an event for ${findings.duration}: ${validators(who)}`;
    },
  }),
];
