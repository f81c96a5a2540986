import { msBetween } from '../clock.js';
import { MINUTE_MS } from '../config/units.js';
import { dataAlert } from './alert.js';
import { ON_TARGET, promDuration, TARGET, unchanged } from './promql.js';
import { stakingStatus } from '../queries/watched-validators.js';
import { list } from '../text/format.js';
import { bridgeItemsOf, shortAddress } from './sentences.js';
import { SUBSTANTIAL_POWER_RATIO } from './oracle-alerts.js';
import { REMEMBERED_MINUTES, valuesWithin } from './poll-history.js';
import { labelOf } from './samples.js';
import { type AlertLabels, type DatedFindings, type Finding, type PollView } from './view.js';

/* Alerts on the validators of `watch`, by what the node answers about each of them. */

const LAGGING_MINUTES = 30;
const SPENDING_DAYS = 3;
const SPENDING_MINUTES = SPENDING_DAYS * 24 * 60;
const GONE_MINUTES = 60;

const ORCHESTRATOR = `${TARGET}, orchestrator`;
const WHO = 'your validator {{ or $labels.name $labels.orchestrator }}';
const UNJAIL = 'injectived tx slashing unjail --from VALIDATOR_KEY';

const labelsOf = (labels: AlertLabels): AlertLabels => ({
  orchestrator: labelOf(labels, 'orchestrator'),
  name: labelOf(labels, 'name'),
});

function names({ all }: DatedFindings): string {
  return all.map(({ labels }) => labelOf(labels, 'name') || shortAddress(labelOf(labels, 'orchestrator'))).join(', ');
}

/** "your validator A has" or "your validators A, B have". */
function yours(findings: DatedFindings, one: string, several: string): string {
  return findings.all.length === 1
    ? `your validator ${names(findings)} ${one}`
    : `your validators ${names(findings)} ${several}`;
}

const FIND_CAUSE = `Find the cause (missed signatures of batches or validator sets, or missed blocks), correct it, then unjail with "${UNJAIL}".`;

/** With the cause, if the documents prove it. */
function unjailAfter({ all }: DatedFindings, view: PollView<'bridge_watched_validator_jailed'>): string {
  const watched = bridgeItemsOf(view)?.watched ?? [];
  const causes = all.map(({ labels }) => {
    const item = watched.find(({ orchestrator }) => orchestrator === labelOf(labels, 'orchestrator'));
    return item?.missedSignature ?? undefined;
  });
  const [first] = causes;
  if (first === undefined || causes.includes(undefined)) return FIND_CAUSE;
  const missed = list(Array.from(new Set(causes.map((cause) => `${cause?.of} ${cause?.nonce}`))));
  return `The reason is a missing signature of ${missed}: restart the orchestrator, check its funds and nodes, then unjail with "${UNJAIL}".`;
}

const LAG_FAMILIES = [
  'bridge_watched_validator_last_event_nonce',
  'bridge_last_observed_nonce',
  'bridge_next_event_voted_power_ratio',
] as const;

function findLagging({ samples }: PollView<(typeof LAG_FAMILIES)[number]>): readonly Finding[] {
  const observed = samples.value('bridge_last_observed_nonce');
  if (observed === undefined) return [];
  const isNextClaimed = (samples.value('bridge_next_event_voted_power_ratio') ?? 0) >= SUBSTANTIAL_POWER_RATIO;
  const claimed = observed + (isNextClaimed ? 1 : 0);
  return samples
    .series('bridge_watched_validator_last_event_nonce')
    .filter(({ value }) => value < claimed)
    .map(({ labels, value }) => ({ labels: labelsOf(labels), value: claimed - value, unchangedValue: value }));
}

const BALANCE = 'bridge_watched_orchestrator_balance_amount';
const LIMIT = 'bridge_watched_orchestrator_balance_limit_amount';

function findShortOfFunds(view: PollView<typeof BALANCE | typeof LIMIT>): readonly Finding[] {
  const limit = view.samples.value(LIMIT) ?? 0;
  return view.samples.series(BALANCE).flatMap(({ labels, value }) => {
    const spentADay = (Math.max(...valuesWithin(view, BALANCE, labels, SPENDING_MINUTES)) - value) / SPENDING_DAYS;
    return value < limit || value < spentADay
      ? [{ labels: { ...labelsOf(labels), denom: labelOf(labels, 'denom') }, value }]
      : [];
  });
}

/** Those that were answered within a day, and are not any more. */
function findUnanswered({
  samples,
  state,
  now,
}: PollView<'bridge_watched_orchestrator_info' | 'bridge_watched_validator_jailed'>): readonly Finding[] {
  const answered = new Set(
    samples.series('bridge_watched_validator_jailed').map(({ labels }) => labelOf(labels, 'orchestrator')),
  );
  return samples
    .series('bridge_watched_orchestrator_info')
    .filter(({ labels }) => !answered.has(labelOf(labels, 'orchestrator')))
    .flatMap(({ labels }): readonly Finding[] => {
      const at = state.queries.get(stakingStatus.name)?.answers.get(labelOf(labels, 'orchestrator'))?.at;
      if (at === undefined || msBetween(at, now) > REMEMBERED_MINUTES * MINUTE_MS) return [];
      return [{ labels: labelsOf(labels), value: 1 }];
    });
}

export const watchedAlerts = [
  dataAlert('module_state', {
    name: 'BridgeWatchedValidatorJailed',
    severity: 'critical',
    dashboard: 'bridge-validator',
    description:
      'A validator of `watch` is jailed, by the staking module of the node. It earns nothing, and signs and votes for nothing.',
    expr: 'bridge_watched_validator_jailed == 1',
    forMinutes: 2,
    linksToPending: false,
    families: ['bridge_watched_validator_jailed'],
    find: ({ samples }) =>
      samples
        .series('bridge_watched_validator_jailed')
        .filter(({ value }) => value === 1)
        .map(({ labels, value }) => ({ labels: labelsOf(labels), value })),
    summary: `${WHO} is jailed.`,
    actionFor: unjailAfter,
    action: FIND_CAUSE,
    sentence: (findings) => `${yours(findings, 'is', 'are')} jailed, for ${findings.duration}`,
    inhibits: [
      { alert: 'BridgeWatchedOrchestratorLagging', equal: ['orchestrator'] },
      { alert: 'BridgeOrchestratorMissingVotes', equal: ['orchestrator'] },
    ],
  }),
  dataAlert('module_state', {
    name: 'BridgeWatchedOrchestratorLagging',
    severity: 'warning',
    dashboard: 'bridge-validator',
    description:
      'The last claim of a validator of `watch` is behind the last observed event, or behind the next one that a third of the power has claimed, and has not moved for 30 minutes. It claims events in order, so it votes for none until it moves.',
    expr: `${unchanged('bridge_watched_validator_last_event_nonce', LAGGING_MINUTES)}
  < ${ON_TARGET} group_left ()
max by (${TARGET}) (
  bridge_last_observed_nonce offset ${promDuration(LAGGING_MINUTES)}
    + (bridge_next_event_voted_power_ratio offset ${promDuration(LAGGING_MINUTES)} >= bool ${SUBSTANTIAL_POWER_RATIO})
  or bridge_last_observed_nonce offset ${promDuration(LAGGING_MINUTES)}
)`,
    linksToPending: false,
    families: LAG_FAMILIES,
    rangeMinutes: LAGGING_MINUTES,
    find: findLagging,
    summary: `${WHO} has claimed no event after {{ $value }}.`,
    action: 'Check the log of the orchestrator and its node of the external chain; it goes on where it has stopped.',
    sentence: (findings) =>
      `${yours(findings, 'has', 'have')} claimed no event for ${findings.duration}, ${findings.oldest.value} behind the others`,
    inhibits: [{ alert: 'BridgeOrchestratorMissingVotes', equal: ['orchestrator'] }],
  }),
  dataAlert('module_state', {
    name: 'BridgeWatchedOrchestratorFundsLow',
    severity: 'warning',
    dashboard: 'bridge-validator',
    description: `The balance of an orchestrator of \`watch\` is below \`watch_min_balance\`, or lasts less than a day at the rate of the last ${SPENDING_DAYS} days.`,
    expr: `${BALANCE}
  < ${ON_TARGET} group_left ()
max by (${TARGET}) (${LIMIT})
or
${BALANCE} < (max_over_time(${BALANCE}[${promDuration(SPENDING_MINUTES)}]) - ${BALANCE}) / ${SPENDING_DAYS}`,
    forMinutes: 15,
    linksToPending: false,
    families: [BALANCE, LIMIT],
    find: findShortOfFunds,
    summary: `${WHO} has {{ $value }} {{ $labels.denom }} left, in smallest units.`,
    action:
      'Send coins of the hub to the orchestrator; without them it neither signs nor votes, and the validator is jailed.',
    sentence: (findings) => `${yours(findings, 'is', 'are')} short of funds for transactions, for ${findings.duration}`,
  }),
  dataAlert('module_state', {
    name: 'BridgeWatchedValidatorUnknown',
    severity: 'warning',
    dashboard: 'bridge-validator',
    description:
      'The node has not answered for an hour whether a validator of `watch` is jailed, had done so within a day, and still serves the document.',
    expr: `bridge_watched_orchestrator_info
and on (${ORCHESTRATOR}) last_over_time(bridge_watched_validator_jailed[${promDuration(REMEMBERED_MINUTES)}])
unless on (${ORCHESTRATOR}) present_over_time(bridge_watched_validator_jailed[${promDuration(GONE_MINUTES)}])`,
    linksToPending: false,
    families: ['bridge_watched_orchestrator_info', 'bridge_watched_validator_jailed'],
    rangeMinutes: GONE_MINUTES,
    find: findUnanswered,
    summary: `whether ${WHO} is jailed is not known.`,
    action:
      'Look for "query of the node failed" in the log of the exporter, and request the path by hand; another node may serve it.',
    sentence: (findings) =>
      `the node has not answered for ${findings.duration} whether ${yours(findings, 'is', 'are')} jailed`,
  }),
];
