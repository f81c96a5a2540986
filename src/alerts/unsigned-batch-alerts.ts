import { aboveWhileUnchanged, dataAlert } from './alert.js';
import { countOfValue } from './promql.js';
import {
  amountsIn,
  belowThreshold,
  bridgeItemsOf,
  isLate,
  membersOf,
  missingValidators,
  ownFirst,
  withDetails,
  timeLeft,
} from './sentences.js';
import { beganAt, HUB_TIME_FAMILIES, type PollView, timeOfHeight } from './view.js';

/* The alert on batches that lack signatures. */

const UNSIGNED_MINUTES = 20;
const UNSIGNED_FOR_MINUTES = 10;

const CONTACT_SIGNERS = 'Contact the operators of the validators that have not signed; the batches cannot be relayed.';

/** What is in the batches that have lacked signatures for longer than usual. */
function unsignedAmounts(view: Pick<PollView, 'items'>): string {
  return amountsIn(bridgeItemsOf(view), ({ belowThreshold: isBelow, age }) => isBelow === true && isLate(age));
}

const unsigned = aboveWhileUnchanged(
  'bridge_batches_below_threshold',
  0,
  'bridge_oldest_unsigned_batch_height',
  UNSIGNED_MINUTES,
);

export const unsignedBatchAlerts = [
  dataAlert('module_state', {
    name: 'BridgeBatchUnsigned',
    listsAmounts: true,
    severity: 'critical',
    dashboard: 'bridge-signers',
    description: `Batches have been signed by less power than \`power_threshold\` for ${UNSIGNED_MINUTES} minutes, and the oldest of them is the same. They cannot be relayed.`,
    // Orchestrators sign one batch a minute, the newest first. The unchanged oldest unsigned batch distinguishes one that stays unsigned from a
    // sequence of batches that are being signed.
    ...unsigned,
    families: [...unsigned.families, ...HUB_TIME_FAMILIES],
    // Nobody withdraws a signature, so a batch that lacks some has lacked them since it was built.
    find: (view) => {
      const height = view.samples.value('bridge_oldest_unsigned_batch_height');
      return unsigned.find(view).map((finding) => ({ ...finding, start: beganAt(() => timeOfHeight(view, height)) }));
    },
    forMinutes: UNSIGNED_FOR_MINUTES,
    summary: `${countOfValue('batch lacks', 'batches lack')} signatures.`,
    action: CONTACT_SIGNERS,
    sentence: ({ oldest, duration }, view) => {
      const batch = belowThreshold(bridgeItemsOf(view)?.batches);
      const signed = batch === undefined ? '' : `signed batch ${batch.nonce}`;
      return withDetails(
        `batches have lacked signatures for ${duration}, ${oldest.value} at present`,
        missingValidators(batch?.missing ?? null, signed),
        timeLeft(batch?.projectedHeadroom, (time) => `it times out in ${time}`),
        unsignedAmounts(view),
      );
    },
    actionFor: (_, view) => ownFirst(membersOf(belowThreshold(bridgeItemsOf(view)?.batches)?.missing), CONTACT_SIGNERS),
    inhibits: [{ alert: 'BridgeOrchestratorMissingConfirms', labels: { watched: 'false' } }],
  }),
];
