import { count, list, percent } from '../text/format.js';
import { above, aboveWhileUnchanged, dataAlert, type Severity } from './alert.js';
import {
  LARGEST_UNSIGNED,
  ON_TARGET,
  ORCHESTRATOR,
  orchestratorNames,
  promDuration,
  TARGET,
  unchanged,
  unsignedPower,
  withNameLabels,
} from './promql.js';
import {
  belowThreshold,
  blocksFor,
  haveOrHas,
  bridgeItemsOf,
  missingOf,
  missingValidators,
  numberAndPower,
  ownFirst,
  parts,
  shortAddress,
  timeLeft,
  type Validator,
  validators,
} from './sentences.js';
import { labelOf, type AlertLabels, type DatedFindings, type Finding, type PollView, type Samples } from './view.js';

/* Alerts on validators: their sets, signatures, votes and deadlines. */

/** Share of signed_valsets_window that is left. */
export const DEADLINE_RATIO = 0.25;
/** Sum of the differences of all power shares. */
export const DRIFT_RATIO = 0.1;
const VALSET_UNSIGNED_MINUTES = 45;
const CONFIRMS_MINUTES = 60;
const VOTES_MINUTES = 10;
const VOTES_BUSY_MINUTES = 120;

const CONTACT_SIGNERS =
  'Contact the operators of the validators that have not signed; the contract keeps an older validator set.';
const CHECK_CONFIRMS = 'An orchestrator that does not sign has stopped, has no funds or cannot reach its nodes.';
const CHECK_VOTES = 'Check the orchestrators and their nodes of the external chain.';

/** In texts: "your validator" or "validator", with its name, else its address. */
const VALIDATOR =
  '{{ if eq $labels.watched "true" }}your validator{{ else }}validator{{ end }} {{ or $labels.name $labels.orchestrator }}';
/** The same at the beginning of a sentence. */
const VALIDATOR_FIRST = VALIDATOR.replace('}your', '}Your').replace('}validator', '}Validator');

/** What every sentence about validators reads. */
const IDENTITY_FAMILIES = ['bridge_orchestrator_info', 'bridge_orchestrator_power_ratio'] as const;
type IdentityFamily = (typeof IDENTITY_FAMILIES)[number];
/** What tells when a validator is jailed. */
const DEADLINE_FAMILIES = [
  'bridge_orchestrator_confirm_deadline_height',
  'bridge_height',
  'bridge_block_time_seconds',
] as const;
type DeadlineFamily = (typeof DEADLINE_FAMILIES)[number];

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

/** When the first of these validators is jailed; empty without a deadline. */
function firstDeadline({ all }: DatedFindings, number: number, { samples }: PollView<DeadlineFamily>): string {
  const deadlines = byOrchestrator(samples, 'bridge_orchestrator_confirm_deadline_height');
  const heights = all.flatMap(({ labels }) => deadlines.get(orchestratorKey(labels)) ?? []);
  const height = samples.value('bridge_height');
  const blocks = height === undefined ? 0 : Math.min(...heights) - height;
  if (heights.length === 0 || blocks <= 0) return '';
  const who = number === 1 ? 'it' : 'the first';
  return `${who} is jailed in ${blocksFor(blocks, samples.value('bridge_block_time_seconds'), 'hub')}`;
}

const NEAR_DEADLINES = `bridge_orchestrator_confirm_deadline_height - ${ON_TARGET} group_left () max by (${TARGET}) (bridge_height)
  < ${ON_TARGET} group_left () (max by (${TARGET}) (bridge_params_signed_valsets_window_blocks) * ${DEADLINE_RATIO})`;

function deadlineNear(
  isWatched: boolean,
  alert: {
    readonly severity: Severity;
    readonly comment: string;
    readonly when: string;
    readonly expr: string;
    readonly validator: string;
    readonly action: string;
  },
) {
  const { validator, ...rest } = alert;
  return dataAlert('module_state', {
    ...rest,
    name: 'BridgeOrchestratorDeadlineNear',
    dashboard: 'bridge-signers',
    recordings: [orchestratorNames],
    forMinutes: 5,
    families: [...IDENTITY_FAMILIES, ...DEADLINE_FAMILIES, 'bridge_params_signed_valsets_window_blocks'],
    find: ({ samples }) => {
      const height = samples.value('bridge_height');
      const window = samples.value('bridge_params_signed_valsets_window_blocks');
      if (height === undefined || window === undefined) return [];
      const info = infoByOrchestrator(samples);
      return samples
        .series('bridge_orchestrator_confirm_deadline_height')
        .filter(({ value }) => value - height < window * DEADLINE_RATIO)
        .filter(({ labels }) => (info.get(orchestratorKey(labels))?.['watched'] === 'true') === isWatched)
        .map(({ labels, value }) => ({ labels: orchestratorLabels(labels), value: value - height }));
    },
    summary: `${validator} {{ or $labels.name $labels.orchestrator }} is about to be jailed.`,
    description: `${validator[0]?.toUpperCase()}${validator.slice(1)} {{ $labels.name }} (orchestrator {{ $labels.orchestrator }}) of {{ $labels.target }} has {{ $value | printf "%.0f" }} hub blocks left to confirm a validator set. After that it is jailed.`,
    sentence: (findings, view) => {
      const blockTime = view.samples.value('bridge_block_time_seconds');
      const nearest = blocksFor(Math.min(...findings.all.map(({ value }) => value)), blockTime, 'hub');
      const who = validatorsOf(findings, view);
      return who.length === 1
        ? `${validators(who)} will be jailed in ${nearest} unless it confirms a validator set`
        : `${count(who.length, 'validator')} will be jailed, the first in ${nearest}, unless they confirm a validator set: ${validators(who)}`;
    },
    inhibits: [{ alert: 'BridgeOrchestratorMissingConfirms', equal: ['orchestrator'] }],
  });
}

export const validatorAlerts = [
  deadlineNear(true, {
    severity: 'critical',
    comment: `Your own validators: those in \`watch\`.
Share of signed_valsets_window that is left: one of four days (500000 blocks) on Injective mainnet.`,
    when: `Less than ${DEADLINE_RATIO * 100} % of \`signed_valsets_window\` is left for a watched validator to confirm a validator set.`,
    expr: `(
  ${NEAR_DEADLINES}
)
* on (${ORCHESTRATOR}) group_left (name, watched)
topk by (${ORCHESTRATOR}) (1, ${orchestratorNames.name}{watched="true"})`,
    validator: 'your validator',
    action: 'Restart the orchestrator now.',
  }),
  deadlineNear(false, {
    severity: 'warning',
    comment: 'The validators of others, and all when bridge_orchestrator_info is missing. The same share.',
    when: 'The same for a validator that is not watched.',
    expr: withNameLabels(`(
  ${NEAR_DEADLINES}
)
unless on (${ORCHESTRATOR}) ${orchestratorNames.name}{watched="true"}`),
    validator: 'validator',
    action: 'Inform the operators; if a validator is yours, restart its orchestrator and add it to watch.',
  }),
  dataAlert('module_state', {
    name: 'BridgeValsetUnsigned',
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: 'A warning, because withdrawals continue with the old set. BridgeOrchestratorDeadlineNear covers jailing.',
    when: `Unrelayed validator sets have been below \`power_threshold\` for ${VALSET_UNSIGNED_MINUTES} minutes, and no set was installed in the contract.`,
    ...aboveWhileUnchanged(
      'bridge_unrelayed_valsets_below_threshold',
      0,
      'bridge_last_observed_valset_nonce',
      VALSET_UNSIGNED_MINUTES,
    ),
    recordings: [orchestratorNames, unsignedPower],
    forMinutes: 15,
    summary: 'a validator set lacks signatures.',
    description: `For an hour, at least {{ $value }} unrelayed validator sets of {{ $labels.target }} have had less signed power than power_threshold, and no set was installed in the contract. Missing signatures, largest power first: ${LARGEST_UNSIGNED}all on /pending.`,
    action: CONTACT_SIGNERS,
    sentence: ({ oldest, duration }, view) => {
      const valset = belowThreshold(bridgeItemsOf(view)?.valsets);
      const signed = valset === undefined ? '' : `signed validator set ${valset.nonce}`;
      return parts(
        `validator sets have lacked signatures for ${duration}, ${oldest.value} at present`,
        missingValidators(valset?.missing ?? null, signed),
        timeLeft(valset?.headroom, (time) => `who does not sign it is jailed in ${time}`),
      );
    },
    actionFor: (_, view) => ownFirst(missingOf(belowThreshold(bridgeItemsOf(view)?.valsets)?.missing), CONTACT_SIGNERS),
  }),
  dataAlert('module_state', {
    name: 'BridgeValsetDrift',
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: `2h, because relayers may wait for low gas prices.
Sum of the differences of all power shares. The hub creates a new set at 0.05, so twice that is a set that was not relayed. From 0.67
on, the members in the contract may no longer reach the threshold to install a new set.`,
    when: `The power shares of the newest validator set differ by more than ${DRIFT_RATIO * 100} % from those in the contract.`,
    ...above('bridge_valset_power_drift_ratio', DRIFT_RATIO),
    forMinutes: 120,
    linksToPending: false,
    summary: 'the validator set in the contract is out of date.',
    description:
      'For 2 hours, the power shares of the newest validator set of {{ $labels.target }} have differed from those in the contract; the differences add up to {{ $value | humanizePercentage }}.',
    action: 'Have a relayer relay the newest validator set.',
    sentence: ({ oldest, duration }) =>
      `the validator set in the contract has been out of date for ${duration}; its power shares differ by ${percent(oldest.value)}`,
  }),
  dataAlert('module_state', {
    name: 'BridgeWatchedValidatorInactive',
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: 'A warning, because an unjailed validator is in no set before the hub creates the next one.',
    when: 'An entry of `watch` is not in the newest validator set.',
    expr: 'bridge_watched_validator_active == 0',
    forMinutes: 10,
    linksToPending: false,
    families: ['bridge_watched_validator_active'],
    find: ({ samples }) =>
      samples
        .series('bridge_watched_validator_active')
        .filter(({ value }) => value === 0)
        .map(({ labels, value }) => ({ labels: { address: labelOf(labels, 'address') }, value })),
    summary: 'your validator {{ $labels.address }} is not in the newest validator set.',
    description:
      'For 10 minutes, no member of the newest validator set of {{ $labels.target }} has had the address {{ $labels.address }} of watch. Its signatures and votes are not monitored.',
    action:
      'Check whether the validator is jailed, and the address in watch: no alert covers a validator outside the set.',
    sentence: ({ all, duration }) => {
      const addresses = all.map(({ labels }) => shortAddress(labelOf(labels, 'address')));
      const are = all.length === 1 ? 'watched validator has' : 'watched validators have';
      return `${all.length} ${are} not been in the newest validator set for ${duration}: ${list(addresses)}`;
    },
  }),
  dataAlert('module_state', {
    name: 'BridgeOrchestratorMissingConfirms',
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: `Batch confirms: missing in every sample of an hour. A running orchestrator signs within minutes and is at 0 regularly.
Valset confirms: the same deadline for an hour.`,
    when: 'The signatures of a validator have been missing for an hour: on batches, or on the validator set with its next deadline.',
    expr: withNameLabels(`label_replace(min_over_time(bridge_orchestrator_missing_batch_confirms[${promDuration(CONFIRMS_MINUTES)}]) > 0 and bridge_orchestrator_missing_batch_confirms offset ${promDuration(CONFIRMS_MINUTES)}, "confirms", "batch", "", "")
or
label_replace(bridge_orchestrator_missing_valset_confirms > 0 and ${unchanged('bridge_orchestrator_confirm_deadline_height', CONFIRMS_MINUTES)}, "confirms", "valset", "", "")`),
    recordings: [orchestratorNames],
    forMinutes: 5,
    families: [
      ...IDENTITY_FAMILIES,
      ...DEADLINE_FAMILIES,
      'bridge_orchestrator_missing_batch_confirms',
      'bridge_orchestrator_missing_valset_confirms',
    ],
    patterns: [
      {
        rangeMinutes: CONFIRMS_MINUTES,
        find: (view) => orchestratorsAbove0('bridge_orchestrator_missing_batch_confirms', view, { confirms: 'batch' }),
      },
      {
        rangeMinutes: CONFIRMS_MINUTES,
        // The deadline is that of the first validator set that is not signed.
        find: (view) => {
          const deadlines = byOrchestrator(view.samples, 'bridge_orchestrator_confirm_deadline_height');
          return orchestratorsAbove0('bridge_orchestrator_missing_valset_confirms', view, { confirms: 'valset' })
            .map((finding) => ({ ...finding, unchangedValue: deadlines.get(orchestratorKey(finding.labels)) }))
            .filter(({ unchangedValue }) => unchangedValue !== undefined);
        },
      },
    ],
    summary: `${VALIDATOR} does not sign.`,
    description: `${VALIDATOR_FIRST} (orchestrator {{ $labels.orchestrator }}) of {{ $labels.target }} has missed at least {{ $value }} {{ $labels.confirms }} confirms for an hour. A validator that misses a deadline is jailed.`,
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
    name: 'BridgeOrchestratorMissingVotes',
    severity: 'warning',
    dashboard: 'bridge-signers',
    comment: `Votes are often a few minutes late. The first operand waits until the last observed event is 10 minutes old (plus \`for\`). On a busy
bridge the last event changes more often; the second operand requires a missing vote in every sample of 2 hours.`,
    when: 'A validator has not voted for the last observed event, which is 10 minutes old, or for any in 2 hours.',
    expr: withNameLabels(`bridge_orchestrator_missing_votes == 1 and ${ON_TARGET} ${unchanged('bridge_last_observed_nonce', VOTES_MINUTES)}
or
min_over_time(bridge_orchestrator_missing_votes[${promDuration(VOTES_BUSY_MINUTES)}]) == 1 and bridge_orchestrator_missing_votes offset ${promDuration(VOTES_BUSY_MINUTES)}`),
    recordings: [orchestratorNames],
    forMinutes: 20,
    families: [...IDENTITY_FAMILIES, 'bridge_orchestrator_missing_votes', 'bridge_last_observed_nonce'],
    patterns: [
      {
        rangeMinutes: VOTES_MINUTES,
        find: (view) => {
          const nonce = view.samples.value('bridge_last_observed_nonce');
          if (nonce === undefined) return [];
          const missing = orchestratorsAbove0('bridge_orchestrator_missing_votes', view);
          return missing.map((finding) => ({ ...finding, unchangedValue: nonce }));
        },
      },
      {
        rangeMinutes: VOTES_BUSY_MINUTES,
        find: (view) => orchestratorsAbove0('bridge_orchestrator_missing_votes', view),
      },
    ],
    summary: `${VALIDATOR} does not vote.`,
    description: `${VALIDATOR_FIRST} (orchestrator {{ $labels.orchestrator }}) of {{ $labels.target }} has not voted for the last observed event for at least 30 minutes.`,
    action: CHECK_VOTES,
    sentence: (findings, view) => {
      const who = validatorsOf(findings, view);
      const voted = `${haveOrHas(who.length)} not voted for the last observed event for ${findings.duration}`;
      return `${extentOf(who)} ${voted}: ${validators(who)}`;
    },
    actionFor: (findings, view) => ownFirst(validatorsOf(findings, view), CHECK_VOTES),
  }),
];
