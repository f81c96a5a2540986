import { list, percent } from '../text/format.js';
import { above, dataAlert } from './alert.js';
import { ON_TARGET, TARGET } from './promql.js';
import {
  bridgeItemsOf,
  listedRows,
  membersOf,
  missingValidators,
  ownFirst,
  withDetails,
  withList,
  shortAddress,
  timeLeft,
} from './sentences.js';
import { labelOf } from './samples.js';
import { beganAt, findingIf, HUB_TIME_FAMILIES, timeOfAge, timeOfItemHeight, type PollView } from './view.js';

/* Alerts on the validator sets of the hub and of the contract. */

/** Sum of the differences of all power shares. */
export const DRIFT_RATIO = 0.1;
const VALSET_UNSIGNED_MINUTES = 60;
const CONTACT_SIGNERS =
  'Contact the operators of the validators that have not signed; the contract keeps an older validator set.';

function inactive(severity: 'critical' | 'warning', description: string) {
  const wasActive = severity === 'critical';
  const ADDRESS = `on (${TARGET}, address)`;
  return dataAlert('module_state', {
    name: 'BridgeWatchedValidatorInactive',
    severity,
    dashboard: 'bridge-signers',
    description,
    // A validator that is unjailed is in no set before the hub creates the next one.
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
    action: wasActive
      ? 'Check whether the validator is jailed; correct the cause, then unjail it.'
      : 'Check whether the validator is jailed, and the address in watch: no alert covers a validator outside the set.',
    sentence: ({ all, duration: lasting }) => {
      const addresses = all.map(({ labels }) => shortAddress(labelOf(labels, 'address')));
      const are = all.length === 1 ? 'of your validators has' : 'of your validators have';
      return withList(`${all.length} ${are} not been in the newest validator set for ${lasting}`, list(addresses));
    },
  });
}

const drift = above('bridge_valset_power_drift_ratio', DRIFT_RATIO);

/** Since when neither the newest validator set nor the one in the contract has changed, in Unix seconds: the latter needs an event. */
function unchangedValsetsSince(view: PollView<(typeof HUB_TIME_FAMILIES)[number]>): number | undefined {
  const created = timeOfItemHeight(view, newestUnrelayed(view)?.createdHeight);
  const lastEvent = timeOfItemHeight(view, bridgeItemsOf(view)?.lastEventHeight);
  return created === undefined || lastEvent === undefined ? undefined : Math.max(created, lastEvent);
}

/** The newest unrelayed validator set, if the list has it: the list has the oldest. */
function newestUnrelayed(view: Pick<PollView, 'items'>) {
  const valsets = bridgeItemsOf(view)?.valsets;
  const rows = listedRows(valsets);
  return valsets?.total === rows.length ? rows.at(-1) : undefined;
}

/**
 * The first of the newest validator sets that all lack signatures: since it was created, the newest one has lacked some. Nobody withdraws a
 * signature.
 */
function firstUnsigned(view: Pick<PollView, 'items'>) {
  const valsets = bridgeItemsOf(view)?.valsets;
  const rows = listedRows(valsets);
  if (valsets?.total !== rows.length) return undefined;
  const lastSigned = rows.findLastIndex(({ belowThreshold }) => belowThreshold !== true);
  return rows[lastSigned + 1];
}

export const valsetAlerts = [
  dataAlert('module_state', {
    name: 'BridgeValsetUnsigned',
    severity: 'warning',
    dashboard: 'bridge-signers',
    description: `The newest validator set has been signed by less power than \`power_threshold\` for ${VALSET_UNSIGNED_MINUTES} minutes, so it cannot be relayed. Withdrawals continue with the old one; BridgeOrchestratorDeadlineNear covers jailing.`,
    expr: `bridge_newest_valset_signed_power_ratio
  < ${ON_TARGET} group_left () max by (${TARGET}) (bridge_power_threshold_ratio)`,
    forMinutes: VALSET_UNSIGNED_MINUTES,
    families: ['bridge_newest_valset_signed_power_ratio', 'bridge_power_threshold_ratio'],
    find: (view) => {
      const signed = view.samples.value('bridge_newest_valset_signed_power_ratio');
      const threshold = view.samples.value('bridge_power_threshold_ratio');
      if (signed === undefined || threshold === undefined) return [];
      return findingIf(
        signed < threshold,
        signed,
        undefined,
        beganAt(() => timeOfAge(view, firstUnsigned(view)?.age)),
      );
    },
    summary: 'only {{ $value | humanizePercentage }} of the power has signed the newest validator set.',
    action: CONTACT_SIGNERS,
    sentence: ({ oldest, duration: lasting }, view) => {
      const valset = newestUnrelayed(view);
      return withDetails(
        `the newest validator set has lacked signatures for ${lasting}`,
        `${percent(oldest.value)} of the power has signed it`,
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
    description: `The power shares of the newest validator set differ by more than ${DRIFT_RATIO * 100} % in sum from those in the contract. From 68 % on, the members in the contract may no longer reach the 66 % from which on relayers relay.`,
    // The hub creates a new set at 0.05, so twice that is a set that was not relayed. Relayers may wait for low gas prices.
    ...drift,
    families: [...drift.families, ...HUB_TIME_FAMILIES],
    // Since the newer of both sets, the difference has been the same.
    find: (view) =>
      drift.find(view).map((finding) => ({ ...finding, start: beganAt(() => unchangedValsetsSince(view)) })),
    forMinutes: 120,
    linksToPending: false,
    summary:
      'the validator set in the contract is out of date; the power shares differ by {{ $value | humanizePercentage }}.',
    action: 'Have a relayer relay the newest validator set; anyone can, and the hub pays no reward.',
    sentence: ({ oldest, duration: lasting }) =>
      withDetails(
        `the validator set in the contract has been out of date for ${lasting}`,
        `its power shares differ by ${percent(oldest.value)}`,
      ),
  }),
  inactive(
    'critical',
    'An entry of `watch` was in the newest validator set since the exporter started, and is not any more. Its signatures and votes are not monitored.',
  ),
  inactive(
    'warning',
    'A registered entry of `watch` has not been in the newest validator set since the exporter started. Its signatures and votes are not monitored.',
  ),
];
