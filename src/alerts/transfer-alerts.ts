import { count } from '../text/format.js';
import { above, aboveWhileUnchanged, dataAlert } from './alert.js';
import { LARGEST_UNSIGNED, orchestratorNames, promDuration, unchanged, unsignedPower } from './promql.js';
import {
  belowThreshold,
  blocksFor,
  bridgeItemsOf,
  missingOf,
  missingValidators,
  ownFirst,
  parts,
  timeLeft,
} from './sentences.js';
import { findingIf } from './view.js';

/* Alerts on transfers and batches. Within a severity, the cause comes before its consequences. */

/** Pending transfers, batched or unbatched. */
export const BACKLOG_TRANSFERS = 500;
/** Unbatched transfers of the critical BridgeBacklogStuck. */
export const STUCK_TRANSFERS = 10;
export const STUCK_MINUTES = 45;
export const STUCK_WARNING_MINUTES = 180;
/** Share of the lifetime of a batch that is left. */
export const TIMEOUT_RATIO = 0.2;
const UNSIGNED_MINUTES = 20;
const UNSIGNED_FOR_MINUTES = 10;

const CONTACT_SIGNERS = 'Contact the operators of the validators that have not signed; the batches cannot be relayed.';

const BLOCKS_LEFT =
  'bridge_batch_next_timeout_height - (bridge_external_height_projected or bridge_last_observed_external_height)';

export const transferAlerts = [
  dataAlert('module_state', {
    name: 'BridgeBatchOverdue',
    severity: 'critical',
    comment:
      'The hub cancels the batch with the next observed event. Half an hour without an event is an idle bridge or a stalled oracle.',
    when: 'The hub holds a batch that has timed out at the estimated external height.',
    ...above('bridge_batches_overdue', 0),
    linksToPending: false,
    forMinutes: 30,
    summary: 'transfers are locked in a timed-out batch.',
    description:
      'For 30 minutes, the hub of {{ $labels.target }} has held batches that have timed out at the estimated external height, {{ $value }} at present. The contract rejects them, and the hub cancels them only with the next observed event.',
    action:
      'If events are pending, find out who has not voted. If none are, make a small deposit on the external chain: the hub cancels the batches with the next observed event.',
    sentence: ({ oldest, duration }) =>
      `transfers have been locked for ${duration} in batches that have timed out at the estimated external height, ${count(oldest.value, 'batch', 'batches')} at present`,
    inhibits: [{ alert: 'BridgeBatchTimeoutNear' }],
  }),
  dataAlert('module_state', {
    name: 'BridgeBatchUnsigned',
    severity: 'critical',
    dashboard: 'bridge-signers',
    comment: `A new batch is below the threshold until the orchestrators have signed. The unchanged oldest batch distinguishes one unsigned batch
from a sequence of batches that are being signed.`,
    when: `Batches have been below \`power_threshold\` for ${UNSIGNED_MINUTES} minutes, and the oldest batch is the same.`,
    ...aboveWhileUnchanged('bridge_batches_below_threshold', 0, 'bridge_batch_oldest_height', UNSIGNED_MINUTES),
    recordings: [orchestratorNames, unsignedPower],
    forMinutes: UNSIGNED_FOR_MINUTES,
    summary: 'a batch lacks signatures.',
    description: `For ${UNSIGNED_MINUTES + UNSIGNED_FOR_MINUTES} minutes, at least {{ $value }} batches of {{ $labels.target }} have had less signed power than power_threshold, so they cannot be relayed. Missing signatures, largest power first: ${LARGEST_UNSIGNED}all on /pending.`,
    action: CONTACT_SIGNERS,
    sentence: ({ oldest, duration }, view) => {
      const batch = belowThreshold(bridgeItemsOf(view)?.batches);
      const signed = batch === undefined ? '' : `signed batch ${batch.nonce}`;
      return parts(
        `batches have lacked signatures for ${duration}, ${oldest.value} at present`,
        missingValidators(batch?.missing ?? null, signed),
        timeLeft(batch?.projectedHeadroom, (time) => `it times out in ${time}`),
      );
    },
    actionFor: (_, view) => ownFirst(missingOf(belowThreshold(bridgeItemsOf(view)?.batches)?.missing), CONTACT_SIGNERS),
  }),
  dataAlert('module_state', {
    name: 'BridgeBacklogStuck',
    severity: 'critical',
    comment: `A batch is built within minutes when its fees are sufficient.
Unbatched transfers for the critical alert. Fewer can be dust whose fees do not pay for a batch.`,
    when: `At least ${STUCK_TRANSFERS} transfers have been unbatched for ${STUCK_MINUTES} minutes, and no batch was built.`,
    ...aboveWhileUnchanged(
      'bridge_unbatched_transfers',
      STUCK_TRANSFERS - 1,
      'bridge_last_outgoing_batch_id',
      STUCK_MINUTES,
    ),
    // With `>=`, so that the number in the rule is the one in the texts.
    expr: `min_over_time(bridge_unbatched_transfers[${promDuration(STUCK_MINUTES)}]) >= ${STUCK_TRANSFERS}
and ${unchanged('bridge_last_outgoing_batch_id', STUCK_MINUTES)}`,
    forMinutes: 5,
    summary: 'transfers wait and no batch is built.',
    description: `At least {{ $value }} transfers of {{ $labels.target }} have waited for a batch for ${STUCK_MINUTES} minutes, and no batch was built in that time.`,
    action: 'Check the batch creator and the fees of the transfers.',
    sentence: ({ oldest, duration }) => `no batch built for ${duration}, ${count(oldest.value, 'transfer')} waiting`,
    inhibits: [{ alert: 'BridgeBacklogHigh' }],
  }),
  dataAlert('module_state', {
    name: 'BridgeBatchTimeoutNear',
    severity: 'warning',
    comment: `Share of the batch lifetime (target_batch_timeout, 12h) that is left: 2.4h to find a relayer.
Without an estimated external height, the last observed height is used. It lags, so the result is too high rather than too low.`,
    when: `Less than ${TIMEOUT_RATIO * 100} % of the lifetime of a batch is left before its timeout.`,
    expr: `${BLOCKS_LEFT} > 0
and
${BLOCKS_LEFT}
  < bridge_params_target_batch_timeout_seconds / bridge_params_average_external_block_time_seconds * ${TIMEOUT_RATIO}`,
    forMinutes: 5,
    families: [
      'bridge_batch_next_timeout_height',
      'bridge_external_height_projected',
      'bridge_last_observed_external_height',
      'bridge_params_target_batch_timeout_seconds',
      'bridge_params_average_external_block_time_seconds',
    ],
    find: ({ samples }) => {
      const timeout = samples.value('bridge_batch_next_timeout_height');
      const height =
        samples.value('bridge_external_height_projected') ?? samples.value('bridge_last_observed_external_height');
      const lifetime = samples.value('bridge_params_target_batch_timeout_seconds');
      const blockTime = samples.value('bridge_params_average_external_block_time_seconds');
      if (timeout === undefined || height === undefined || lifetime === undefined || blockTime === undefined) return [];
      const blocks = timeout - height;
      return findingIf(blocks > 0 && blocks < (lifetime / blockTime) * TIMEOUT_RATIO, blocks);
    },
    summary: 'a batch is near its timeout.',
    description:
      'A live batch of {{ $labels.target }} times out in {{ $value | printf "%.0f" }} external blocks and has not been executed.',
    action: 'Check the signatures of the batch and the relayers; after the timeout its transfers return to the queue.',
    sentence: ({ oldest }, { samples }) => {
      const blockTime = samples.value('bridge_params_average_external_block_time_seconds');
      return `a batch times out in ${blocksFor(oldest.value, blockTime, 'external')}`;
    },
  }),
  dataAlert('module_state', {
    name: 'BridgeBacklogStuck',
    severity: 'warning',
    comment: `The oldest transfer has not changed for 3 hours, or no batch was built while transfers were unbatched: fees that do not pay for a
batch, a token without a price, or a batch that is not relayed.`,
    when: 'The oldest pending transfer has not changed for 3 hours, or no batch was built for 3 hours while transfers were unbatched.',
    expr: `${unchanged('bridge_oldest_pending_transfer_id', STUCK_WARNING_MINUTES)}
or
${unchanged('bridge_last_outgoing_batch_id', STUCK_WARNING_MINUTES)} and min_over_time(bridge_unbatched_transfers[${promDuration(STUCK_WARNING_MINUTES)}]) > 0`,
    forMinutes: 5,
    families: ['bridge_oldest_pending_transfer_id', 'bridge_last_outgoing_batch_id', 'bridge_unbatched_transfers'],
    patterns: [
      {
        rangeMinutes: STUCK_WARNING_MINUTES,
        find: ({ samples }) => {
          const id = samples.value('bridge_oldest_pending_transfer_id');
          return id === undefined ? [] : findingIf(true, id, id);
        },
      },
      aboveWhileUnchanged('bridge_unbatched_transfers', 0, 'bridge_last_outgoing_batch_id', STUCK_WARNING_MINUTES),
    ],
    summary: 'pending transfers do not move.',
    description:
      'Transfers of {{ $labels.target }} have been pending for 3 hours without progress: the oldest transfer id or the last batch nonce is still {{ $value | printf "%.0f" }}.',
    action: 'Check token and fee of the oldest transfers.',
    sentence: ({ duration }, { samples }) => {
      const id = samples.value('bridge_oldest_pending_transfer_id');
      const unbatched = samples.value('bridge_unbatched_transfers');
      return parts(
        `pending transfers have not moved for ${duration}`,
        id === undefined ? '' : `the oldest is transfer ${id}`,
        unbatched === undefined ? '' : `${unbatched} waiting for a batch`,
      );
    },
  }),
  dataAlert('module_state', {
    name: 'BridgeBacklogHigh',
    severity: 'warning',
    comment:
      'Pending transfers, batched or unbatched. Five full batches of 100; tens are usual, thousands occur in bad hours.',
    when: `More than ${BACKLOG_TRANSFERS} transfers are pending, batched or unbatched.`,
    expr: `bridge_unbatched_transfers + bridge_batch_transactions > ${BACKLOG_TRANSFERS}`,
    forMinutes: 30,
    families: ['bridge_unbatched_transfers', 'bridge_batch_transactions'],
    find: ({ samples }) => {
      const unbatched = samples.value('bridge_unbatched_transfers');
      const batched = samples.value('bridge_batch_transactions');
      if (unbatched === undefined || batched === undefined) return [];
      return findingIf(unbatched + batched > BACKLOG_TRANSFERS, unbatched + batched);
    },
    summary: '{{ $value }} transfers are pending.',
    description:
      '{{ $value }} transfers of {{ $labels.target }} are pending, batched or unbatched, and the backlog has been above the threshold for 30 minutes. The queue may still move; BridgeBacklogStuck fires when it does not.',
    action: 'Check whether batches are built, signed and relayed.',
    sentence: ({ oldest, duration }, { samples }) => {
      const unbatched = samples.value('bridge_unbatched_transfers') ?? 0;
      return `the number of pending transfers has been above ${BACKLOG_TRANSFERS} for ${duration}: ${oldest.value} at present, of which ${unbatched} in no batch`;
    },
  }),
];
