import type { BatchItem } from '../pending/items.js';
import { count } from '../text/format.js';
import { dataAlert, type Severity } from './alert.js';
import { countOfValue, ON_TARGET, TARGET } from './promql.js';
import { CHECK_RELAYERS, checkRelayers, PAUSED } from './relay-alerts.js';
import { amountsIn, blocksFor, bridgeItemsOf, listedRows, withDetails } from './sentences.js';
import { beganAt, findingIf, timeUntil, type PollView } from './view.js';

/* Alerts on batches that time out. */

/** Share of the lifetime of a batch that is left. */
export const TIMEOUT_RATIO = 0.2;

/** External blocks to the timeout of a batch, by the estimated external height, else by the last observed one. */
function blocksLeft(family: string): string {
  return `${family} - (bridge_external_height_projected or bridge_last_observed_external_height)`;
}

const TIMEOUT_FAMILIES = [
  'bridge_external_height_projected',
  'bridge_last_observed_external_height',
  'bridge_params_target_batch_timeout_seconds',
  'bridge_params_average_external_block_time_seconds',
  'bridge_external_block_time_seconds',
  'bridge_batch_next_timeout_height',
  'bridge_relayable_batch_next_timeout_height',
] as const;

function timeoutNear(
  severity: 'warning' | 'info',
  family: 'bridge_batch_next_timeout_height' | 'bridge_relayable_batch_next_timeout_height',
  texts: {
    readonly comment: string;
    readonly when: string;
    readonly batch: string;
    readonly action: string;
    readonly actionFor?: typeof checkRelayers;
  },
) {
  const isInfo = severity === 'info';
  const near = `${blocksLeft(family)}
  < bridge_params_target_batch_timeout_seconds / bridge_params_average_external_block_time_seconds * ${TIMEOUT_RATIO}`;
  return dataAlert('module_state', {
    name: 'BridgeBatchTimeoutNear',
    severity,
    comment: texts.comment,
    when: texts.when,
    expr: `(
  ${near.replaceAll('\n', '\n  ')}
)
* ${ON_TARGET} group_left () max by (${TARGET}) (bridge_external_block_time_seconds)
> 0${isInfo ? `\nunless ${ON_TARGET} bridge_batch_next_timeout_height == bridge_relayable_batch_next_timeout_height` : ''}`,
    forMinutes: 5,
    families: TIMEOUT_FAMILIES,
    find: ({ samples }) => {
      const timeout = samples.value(family);
      const height =
        samples.value('bridge_external_height_projected') ?? samples.value('bridge_last_observed_external_height');
      const lifetime = samples.value('bridge_params_target_batch_timeout_seconds');
      const lifetimeBlockTime = samples.value('bridge_params_average_external_block_time_seconds');
      const blockTime = samples.value('bridge_external_block_time_seconds');
      if (timeout === undefined || height === undefined || lifetime === undefined) return [];
      if (lifetimeBlockTime === undefined || blockTime === undefined) return [];
      if (isInfo && timeout === samples.value('bridge_relayable_batch_next_timeout_height')) return [];
      const blocks = timeout - height;
      const isNear = blocks > 0 && blocks < (lifetime / lifetimeBlockTime) * TIMEOUT_RATIO;
      return findingIf(isNear, blocks * blockTime);
    },
    summary: `${texts.batch} times out in {{ $value | humanizeDuration }}.`,
    description: `In {{ $value | humanizeDuration }}, ${texts.batch} of {{ $labels.target }} times out by the estimated external height. After that the contract rejects it, and its transfers are locked until the hub observes the next event.`,
    action: texts.action,
    actionFor: (_, view) => texts.actionFor?.(view) ?? texts.action,
    sentence: ({ oldest }, { samples }) => {
      const blockTime = samples.value('bridge_external_block_time_seconds') ?? 1;
      return `${texts.batch} times out in ${blocksFor(Math.round(oldest.value / blockTime), blockTime, 'external')}`;
    },
  });
}

const CHECK_PAUSE = 'Check that the contract is not paused';
const MAKE_DEPOSIT =
  'make a small deposit on the external chain: the hub cancels the batches with the next observed event';
const GET_EVENT_OBSERVED = `${CHECK_PAUSE}. If events are pending, find out who has not voted for them; if none are, ${MAKE_DEPOSIT}.`;

/** What makes the hub cancel the batches, with what is known about pending events and the contract. */
function getEventObserved({
  samples,
  isContractPaused,
}: Pick<PollView<'bridge_pending_events'>, 'samples' | 'isContractPaused'>): string {
  const pending = samples.value('bridge_pending_events');
  if (pending === undefined) return GET_EVENT_OBSERVED;
  if (pending > 0) {
    return 'Find out who has not voted for the pending events: the hub cancels the batches with the next observed one.';
  }
  switch (isContractPaused) {
    case undefined:
      return `${CHECK_PAUSE}, then ${MAKE_DEPOSIT}.`;
    case true:
      return `${PAUSED} Until it is unpaused, it has no event with which the hub could cancel the batches.`;
    case false:
      return `The contract is not paused: ${MAKE_DEPOSIT}.`;
  }
}

function isOverdue(fees: BatchItem['fees']): (batch: BatchItem) => boolean {
  return (batch) => batch.state === 'overdue' && batch.fees === fees;
}

/** When the first of these batches has timed out, by the estimated external height, in Unix seconds. */
function overdueSince(view: Pick<PollView, 'items' | 'state' | 'now'>, fees: BatchItem['fees']): number | undefined {
  const overdueOnes = listedRows(bridgeItemsOf(view)?.batches).filter(isOverdue(fees));
  const times = overdueOnes.flatMap(({ projectedHeadroom }) => timeUntil(view, projectedHeadroom) ?? []);
  return times.length === 0 ? undefined : Math.min(...times);
}

function overdue(
  severity: Severity,
  fees: 'sufficient' | 'unknown' | 'insufficient',
  texts: { readonly comment: string; readonly when: string; readonly fees: string; readonly forMinutes: number },
) {
  const batches = `${countOfValue('batch', 'batches')}${texts.fees === '' ? '' : ` ${texts.fees}`}`;
  return dataAlert('module_state', {
    name: 'BridgeBatchOverdue',
    listsAmounts: true,
    severity,
    comment: texts.comment,
    when: texts.when,
    expr: `sum without (fees) (bridge_overdue_batches{fees="${fees}"}) > 0`,
    families: ['bridge_overdue_batches', 'bridge_pending_events'],
    find: (view) =>
      view.samples
        .series('bridge_overdue_batches')
        .filter(({ labels, value }) => labels['fees'] === fees && value > 0)
        .map(({ value }) => ({ labels: {}, value, start: beganAt(() => overdueSince(view, fees)) })),
    linksToPending: severity !== 'info',
    forMinutes: texts.forMinutes,
    summary: `${batches} past the timeout.`,
    description: `For at least ${texts.forMinutes} minutes, the hub of {{ $labels.target }} has held ${batches} past the timeout at the estimated external height. The contract rejects what has timed out, and the hub cancels it only with the next observed event.`,
    action: GET_EVENT_OBSERVED,
    actionFor: (_, view) => getEventObserved(view),
    sentence: ({ oldest, duration }, view) =>
      withDetails(
        `transfers have been locked for ${duration} in ${count(oldest.value, 'batch', 'batches')} past the timeout at the estimated external height`,
        amountsIn(bridgeItemsOf(view), isOverdue(fees)),
      ),
    inhibits: severity === 'critical' ? [{ alert: 'BridgeBatchTimeoutNear' }] : [],
  });
}

export const batchTimeoutAlerts = [
  overdue('critical', 'sufficient', {
    comment: `The hub cancels the batch with the next observed event. Half an hour without an event is an idle bridge or a stalled oracle.
Only batches that were signed and whose fees reach \`min_batch_fee\` of their token: relayers should have executed them.`,
    when: 'The hub holds a signed batch with sufficient fees that has timed out at the estimated external height.',
    fees: 'with sufficient fees',
    forMinutes: 30,
  }),
  overdue('warning', 'unknown', {
    comment: `Without \`min_batch_fee\`, or without the signatures, it is unknown whether a relayer should have executed the batch. Two hours, because
even on a quiet bridge an event is usually observed in that time.`,
    when: 'The same for two hours, for batches without a known `min_batch_fee` or without sufficient signatures.',
    fees: '',
    forMinutes: 120,
  }),
  overdue('info', 'insufficient', {
    comment:
      'Nobody executes a batch whose fees are below the minimum of the relayers. Its transfers return to the queue.',
    when: 'The same for 30 minutes, for batches whose fees are below `min_batch_fee`.',
    fees: 'with insufficient fees',
    forMinutes: 30,
  }),
  timeoutNear('warning', 'bridge_relayable_batch_next_timeout_height', {
    comment: `Share of the batch lifetime (target_batch_timeout) that is left: 576 external blocks or 1.9 h on Injective mainnet.
Without an estimated external height, the last observed height is used. It lags, so the result is too high rather than too low.`,
    when: `Less than ${TIMEOUT_RATIO * 100} % of the lifetime of a relayable batch is left before its timeout.`,
    batch: 'a signed batch',
    action: CHECK_RELAYERS,
    actionFor: checkRelayers,
  }),
  timeoutNear('info', 'bridge_batch_next_timeout_height', {
    comment: 'A batch that no relayer takes: too poor, or not signed. BridgeBatchUnsigned covers the signatures.',
    when: 'The same for a batch that is not relayable.',
    batch: 'a batch that is not relayable',
    action: 'None is needed for a batch with insufficient fees: its transfers return to the queue after the timeout.',
  }),
];
