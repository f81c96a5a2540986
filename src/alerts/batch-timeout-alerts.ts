import type { BatchItem } from '../facts/items/items.js';
import { count } from '../text/format.js';
import { dataAlert } from './alert.js';
import { countOfValue, ON_TARGET, TARGET } from './promql.js';
import { CHECK_RELAYERS, checkRelayers, PAUSED } from './relay-alerts.js';
import { amountsIn, blocksFor, bridgeItemsOf, listedRows, withDetails } from './sentences.js';
import { beganAt, findingIf, timeUntil, type PollView } from './view.js';

/* Alerts on batches that time out. */

/** Share of the lifetime of a batch that is left. */
export const TIMEOUT_RATIO = 0.2;

const NEXT_TIMEOUT = 'bridge_relayable_batch_next_timeout_height';

const timeoutNear = dataAlert('module_state', {
  name: 'BridgeBatchTimeoutNear',
  severity: 'warning',
  description: `Less than ${TIMEOUT_RATIO * 100} % of the lifetime of a signed batch with sufficient fees is left before its timeout. After that the contract rejects it, and its transfers are locked until the hub observes the next event.`,
  // The share of target_batch_timeout is 576 external blocks or 1.9 h on Injective mainnet. Without an estimated external height, the last
  // observed height is used. It lags, so the result is too high rather than too low.
  expr: `(
  ${NEXT_TIMEOUT} - (bridge_external_height_projected or bridge_last_observed_external_height)
    < bridge_params_target_batch_timeout_seconds / bridge_params_average_external_block_time_seconds * ${TIMEOUT_RATIO}
)
* ${ON_TARGET} group_left () max by (${TARGET}) (bridge_external_block_time_seconds)
> 0`,
  forMinutes: 5,
  families: [
    'bridge_external_height_projected',
    'bridge_last_observed_external_height',
    'bridge_params_target_batch_timeout_seconds',
    'bridge_params_average_external_block_time_seconds',
    'bridge_external_block_time_seconds',
    NEXT_TIMEOUT,
  ],
  find: ({ samples }) => {
    const timeout = samples.value(NEXT_TIMEOUT);
    const height =
      samples.value('bridge_external_height_projected') ?? samples.value('bridge_last_observed_external_height');
    const lifetime = samples.value('bridge_params_target_batch_timeout_seconds');
    const lifetimeBlockTime = samples.value('bridge_params_average_external_block_time_seconds');
    const blockTime = samples.value('bridge_external_block_time_seconds');
    if (timeout === undefined || height === undefined || lifetime === undefined) return [];
    if (lifetimeBlockTime === undefined || blockTime === undefined) return [];
    const blocks = timeout - height;
    const isNear = blocks > 0 && blocks < (lifetime / lifetimeBlockTime) * TIMEOUT_RATIO;
    return findingIf(isNear, blocks * blockTime);
  },
  summary: 'a signed batch times out in {{ $value | humanizeDuration }}.',
  action: CHECK_RELAYERS,
  actionFor: (_, view) => checkRelayers(view),
  sentence: ({ oldest }, { samples }) => {
    const blockTime = samples.value('bridge_external_block_time_seconds') ?? 1;
    return `a signed batch times out in ${blocksFor(Math.round(oldest.value / blockTime), blockTime, 'external')}`;
  },
});

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

function overdue(severity: 'critical' | 'warning', forMinutes: number, description: string) {
  const fees = severity === 'critical' ? 'sufficient' : 'unknown';
  return dataAlert('module_state', {
    name: 'BridgeBatchOverdue',
    listsAmounts: true,
    severity,
    description,
    expr: `sum without (fees) (bridge_overdue_batches{fees="${fees}"}) > 0`,
    families: ['bridge_overdue_batches', 'bridge_pending_events'],
    find: (view) =>
      view.samples
        .series('bridge_overdue_batches')
        .filter(({ labels, value }) => labels['fees'] === fees && value > 0)
        .map(({ value }) => ({ labels: {}, value, start: beganAt(() => overdueSince(view, fees)) })),
    forMinutes,
    summary: `${countOfValue('batch', 'batches')} past the timeout.`,
    action: GET_EVENT_OBSERVED,
    actionFor: (_, view) => getEventObserved(view),
    sentence: ({ oldest, duration }, view) =>
      withDetails(
        `transfers have been locked for ${duration} in ${count(oldest.value, 'batch', 'batches')} past the timeout at the estimated external height`,
        amountsIn(bridgeItemsOf(view), isOverdue(fees)),
      ),
  });
}

export const batchTimeoutAlerts = [
  // The hub cancels the batch with the next observed event. Half an hour without an event is an idle bridge or a stalled oracle.
  overdue(
    'critical',
    30,
    'The hub holds a signed batch with sufficient fees that has timed out at the estimated external height. The contract rejects it, and its transfers are locked until the hub observes the next event.',
  ),
  // It is unknown whether a relayer should have executed the batch. Even on a quiet bridge, an event is usually observed within two hours.
  overdue(
    'warning',
    120,
    'The hub holds a batch that has timed out at the estimated external height, and whose `min_batch_fee` is not configured or that was not signed. Its transfers are locked until the hub observes the next event.',
  ),
  timeoutNear,
];
