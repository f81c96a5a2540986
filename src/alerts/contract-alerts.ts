import { count } from '../text/format.js';
import { above, dataAlert, endpointAlert } from './alert.js';
import { IDENTITY_HOURS, identityChanged } from './identity-changes.js';
import { COMPARE_VALSETS } from './integrity-alerts.js';
import { countOfValue, ON_TARGET, promDuration, TARGET, TOKEN_SYMBOL } from './promql.js';
import { withDetails } from './sentences.js';
import { REMEMBERED_MINUTES, valueAgo } from './poll-history.js';
import { labelOf } from './samples.js';
import { findingIf, type Finding, type PollView } from './view.js';

/* Alerts on the contract on the external chain, which a target has only with `external`. */

const SILENT_MINUTES = 60;
const UNBACKED_MINUTES = 10;
/** The contract rounds its threshold, and requires a little more than it. */
const ROUNDING_RATIO = 0.0001;

const memory = promDuration(REMEMBERED_MINUTES);
const hour = promDuration(SILENT_MINUTES);

type SilentFamily = 'bridge_contract_last_event_nonce' | 'bridge_contract_unobserved_events';

/** Whether an event of an hour ago is still not observed, and there are no fewer of those than then. */
function hasOldUnobserved(view: PollView<SilentFamily>): boolean {
  const { samples } = view;
  const unobserved = samples.value('bridge_contract_unobserved_events');
  const nonce = samples.value('bridge_contract_last_event_nonce');
  const before = valueAgo(view, 'bridge_contract_unobserved_events', {}, SILENT_MINUTES);
  const nonceBefore = valueAgo(view, 'bridge_contract_last_event_nonce', {}, SILENT_MINUTES);
  if (unobserved === undefined || nonce === undefined || before === undefined || nonceBefore === undefined)
    return false;
  return nonceBefore > nonce - unobserved && unobserved >= before;
}

type SurplusFamily = 'bridge_token_backing_surplus_amount';

/** Tokens with a shortfall that was not as large a day ago. */
function newShortfalls(view: PollView<SurplusFamily>): readonly Finding[] {
  return view.samples.series('bridge_token_backing_surplus_amount').flatMap(({ labels, value }) => {
    const before = valueAgo(view, 'bridge_token_backing_surplus_amount', labels, REMEMBERED_MINUTES);
    return value < 0 && (before === undefined || before > value) ? [{ labels, value }] : [];
  });
}

export const contractAlerts = [
  dataAlert('external_contract', {
    name: 'BridgeTokenUnbacked',
    severity: 'critical',
    // No tolerance in the amount: both sides are read at nearly the same time, so that the contract has every deposit
    // that the hub has observed (docs/external-contract.md). Ten minutes are two readings. A
    // shortfall that was as large a day ago does not fire again: the token cannot be judged.
    description: `The balance of the contract is lower than the supply and the outstanding transfers of a token, and the shortfall is new or grows. Tokens were minted without a deposit, or taken out of the contract.`,
    expr: `bridge_token_backing_surplus_amount < 0
unless bridge_token_backing_surplus_amount offset ${memory} <= bridge_token_backing_surplus_amount`,
    forMinutes: UNBACKED_MINUTES,
    linksToPending: false,
    families: ['bridge_token_backing_surplus_amount'],
    find: newShortfalls,
    summary: `${TOKEN_SYMBOL}{{ $labels.token_contract }} is not backed by the contract, {{ $value | humanize }} smallest units.`,
    action:
      'Compare the last deposits and executed batches of the token on both chains. If the shortfall is real, alert the owner of the contract, who can pause it, and the other validators.',
    sentence: ({ all, duration }) => {
      const tokens = all.map(({ labels, value }) => `${labelOf(labels, 'token_contract')} by ${-value} smallest units`);
      return withDetails(`${count(all.length, 'token')} not backed by the contract for ${duration}`, tokens.join(', '));
    },
  }),
  dataAlert('external_contract', {
    name: 'BridgeContractValsetMismatch',
    severity: 'critical',
    dashboard: 'bridge-signers',
    // Exported only while the hub block, the external block and the clock are within two minutes, so a hub node that
    // is behind does not fire it.
    description:
      'The validator set in the contract is newer than every set of the hub. Whoever controls it controls all funds; this can be a theft in progress.',
    ...above('bridge_contract_valset_unknown', 0),
    forMinutes: 5,
    linksToPending: false,
    summary: 'the hub did not make the validator set in the contract.',
    action: COMPARE_VALSETS,
    sentence: ({ duration }) =>
      `the validator set in the contract has been newer than every set of the hub for ${duration}`,
  }),
  endpointAlert({
    name: 'BridgeContractOwnerChanged',
    severity: 'critical',
    document: 'external_contract',
    description: `The owner or the implementation of the contract changed within the last ${IDENTITY_HOURS} hours. The owner can pause the contract; another implementation is another contract at the same address.`,
    ...identityChanged('bridge_contract_info'),
    summary: 'the contract has another owner or implementation: {{ $labels.owner }}, {{ $labels.implementation }}.',
    action: 'Check that the change was announced. If not, alert the validators: new code can take all funds.',
    sentence: ({ duration }) => `the owner or the implementation of the contract changed ${duration} ago`,
  }),
  dataAlert('external_contract', {
    name: 'BridgeContractPaused',
    severity: 'critical',
    // A pause is always by hand, so one reading is enough; two outlast a faulty node.
    description:
      'The contract accepts no deposits, batches and validator sets. Transfers in live batches can neither be executed nor canceled until it is unpaused.',
    ...above('bridge_contract_paused', 0),
    forMinutes: 2,
    linksToPending: false,
    summary: 'the contract is paused.',
    action: 'Find out who paused it and why. Do not ask relayers to act: every transaction to the contract fails.',
    sentence: ({ duration }) => `the contract has been paused for ${duration}`,
  }),
  dataAlert('external_contract', {
    name: 'BridgeOracleSilent',
    severity: 'critical',
    dashboard: 'bridge-signers',
    // Events are observed within minutes, so neither a busy bridge nor one that catches up fires it. Also when a few have
    // claimed the event: it exists, so the others are behind.
    description: `An event of the contract has not been observed by the hub for an hour, and no fewer are waiting than an hour ago. No deposit and no executed batch reaches the hub.`,
    expr: `bridge_contract_last_event_nonce offset ${hour} > bridge_contract_last_event_nonce - bridge_contract_unobserved_events
and bridge_contract_unobserved_events >= bridge_contract_unobserved_events offset ${hour}`,
    forMinutes: 5,
    linksToPending: false,
    families: ['bridge_contract_last_event_nonce', 'bridge_contract_unobserved_events'],
    find: (view) => findingIf(hasOldUnobserved(view), view.samples.value('bridge_contract_unobserved_events') ?? 0),
    summary: `${countOfValue('event')} of the contract not observed by the hub.`,
    action:
      'Too few orchestrators claim the events: tell their operators to check the log of the orchestrator and its node of the external chain. Your own comes first.',
    sentence: ({ duration }, view) =>
      withDetails(
        `${count(view.samples.value('bridge_contract_unobserved_events') ?? 0, 'event')} of the contract not observed by the hub`,
        `since an hour before the last ${duration}`,
      ),
    inhibits: [{ alert: 'BridgeBatchNotRelayed' }],
  }),
  dataAlert('external_contract', {
    name: 'BridgePowerThresholdTooLow',
    severity: 'warning',
    // The contract rounds its threshold. A lower one is no reason to lower power_threshold: relayers ask for 66 %
    // anyway.
    description:
      'The contract requires more power than `power_threshold`: batches count as signed that it does not accept.',
    expr: `bridge_contract_power_threshold_ratio
> ${ON_TARGET} group_left () max by (${TARGET}) (bridge_power_threshold_ratio) + ${ROUNDING_RATIO}`,
    forMinutes: 10,
    linksToPending: false,
    families: ['bridge_contract_power_threshold_ratio', 'bridge_power_threshold_ratio'],
    find: ({ samples, items }) => {
      const threshold = samples.value('bridge_contract_power_threshold_ratio');
      const configured = items?.document === 'external_contract' ? items.powerThreshold : null;
      if (threshold === undefined || configured === null) return [];
      return findingIf(threshold > Number(configured) + ROUNDING_RATIO, threshold);
    },
    summary: 'the contract requires {{ $value | humanizePercentage }} of the power.',
    action: 'Set power_threshold of the target to the threshold of the contract.',
    sentence: ({ oldest }) =>
      `the contract requires ${(oldest.value * 100).toFixed(1)} % of the power, more than power_threshold`,
  }),
];
