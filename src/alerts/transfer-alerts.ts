import { groupBy } from '../metrics/grouping.js';
import type { FiniteSample } from '../metrics/render-families.js';
import { count, list } from '../text/format.js';
import { aboveWhileUnchanged, dataAlert, type Severity } from './alert.js';
import {
  countOfValue,
  LARGEST_UNSIGNED,
  ON_TARGET,
  ON_TOKEN,
  orchestratorNames,
  promDuration,
  TARGET,
  TOKEN,
  TOKEN_SYMBOL,
  unchanged,
  unsignedPower,
} from './promql.js';
import {
  belowThreshold,
  blocksFor,
  bridgeItemsOf,
  isLate,
  listedRows,
  membersOf,
  missingValidators,
  ownFirst,
  parts,
  sumText,
  timeLeft,
  tokenName,
  waitingAmounts,
} from './sentences.js';
import {
  findingIf,
  hasDecreased,
  HUB_TIME_FAMILIES,
  labelOf,
  timeOfHeight,
  valueAgo,
  type AlertLabels,
  type Finding,
  type PollView,
  type Samples,
} from './view.js';

/* Alerts on transfers and batches. Within a severity, the cause comes before its consequences. */

const STUCK_MINUTES = 45;
/** Without a known minimum fee, only a queue that grows tells that transfers are stuck. */
const GROWING_MINUTES = 180;
const GROWING_TRANSFERS = 10;
/** Share of the lifetime of a batch that is left. */
export const TIMEOUT_RATIO = 0.2;
const UNSIGNED_MINUTES = 20;
const UNSIGNED_FOR_MINUTES = 10;
const NOT_RELAYED_FOR_MINUTES = 15;

const CONTACT_SIGNERS = 'Contact the operators of the validators that have not signed; the batches cannot be relayed.';
const CHECK_RELAYERS =
  'Check the relayers: funds for gas, maximum gas price, minimum fee, and whether the contract is paused. Anyone can relay a batch.';

/** The symbol of the token and its contract, and its denom, in texts. */
const TOKEN_TEXT = `${TOKEN_SYMBOL}{{ $labels.token_contract }}`;
const DENOM_TEXT = '{{ with $labels.denom }} {{ . }}{{ end }}';

/**
 * Restricts series to tokens of which no batch was built in the range. The oldest transfer tells it when the batch was executed between
 * two polls.
 */
function withoutNewBatch(minutes: number): string {
  const range = promDuration(minutes);
  return `and ${ON_TOKEN} ${unchanged('bridge_token_oldest_unbatched_transfer_id', minutes)}
unless ${ON_TOKEN} (
  changes(bridge_token_newest_batch_nonce[${range}]) > 0
  or bridge_token_newest_batch_nonce unless ${ON_TOKEN} bridge_token_newest_batch_nonce offset ${range}
)`;
}

/** The labels of a token. Prometheus has no empty labels. */
function tokenLabels(labels: AlertLabels): AlertLabels {
  const denom = labelOf(labels, 'denom');
  return { token_contract: labelOf(labels, 'token_contract'), ...(denom !== '' && { denom }) };
}

type TokenFamily =
  | 'bridge_token_unbatched_transfers'
  | 'bridge_token_batched_transfers'
  | 'bridge_token_top_batch_fees'
  | 'bridge_token_min_batch_fee'
  | 'bridge_token_newest_batch_nonce'
  | 'bridge_token_oldest_unbatched_transfer_id';

/** The sample of a family for a token. */
function sampleOf<Family extends TokenFamily>(
  { samples }: PollView<Family>,
  family: Family,
  labels: AlertLabels,
): FiniteSample | undefined {
  return samples.series(family).find((own) => own.labels['token_contract'] === labels['token_contract']);
}

/** The value of a family for a token. */
function valueOf<Family extends TokenFamily>(
  view: PollView<Family>,
  family: Family,
  labels: AlertLabels,
): number | undefined {
  return sampleOf(view, family, labels)?.value;
}

/** Tokens with transfers in no batch. The finding lasts while no batch of the token is built. */
function waitingTokens(
  view: PollView<
    'bridge_token_unbatched_transfers' | 'bridge_token_newest_batch_nonce' | 'bridge_token_oldest_unbatched_transfer_id'
  >,
): readonly Finding[] {
  return view.samples
    .series('bridge_token_unbatched_transfers')
    .filter(({ value }) => value > 0)
    .map(({ labels, value }) => ({
      labels: tokenLabels(labels),
      value,
      unchangedValue: JSON.stringify([
        valueOf(view, 'bridge_token_newest_batch_nonce', labels),
        valueOf(view, 'bridge_token_oldest_unbatched_transfer_id', labels),
      ]),
    }));
}

function waitingSentence(all: readonly Finding[], view: PollView<'bridge_token_info'>): string {
  const largestFirst = all.toSorted((a, b) => b.value - a.value);
  return list(
    largestFirst.map(({ labels, value }) => {
      const contract = labelOf(labels, 'token_contract');
      const amount = waitingAmounts(bridgeItemsOf(view), ['unbatched'], contract);
      const transfers = count(value, 'transfer');
      return amount === '' ? `${transfers} of ${tokenName(view.samples, contract)}` : `${amount} (${transfers})`;
    }),
  );
}

/** What is in the batches that have lacked signatures for longer than usual. */
function unsignedAmounts(view: Pick<PollView, 'items'>): string {
  const batches = listedRows(bridgeItemsOf(view)?.batches).filter(
    ({ belowThreshold: isBelow, age }) => isBelow === true && isLate(age),
  );
  const amounts = Array.from(groupBy(batches, ({ token }) => token.contract).values()).flatMap((ofToken) =>
    sumText(ofToken.map(({ amount }) => amount)),
  );
  return amounts.length === 0 ? '' : `${list(amounts)} in them`;
}

/** What is in live batches, of which some do not move. */
function inBatches(view: Pick<PollView, 'items'>): string {
  const amounts = waitingAmounts(bridgeItemsOf(view), ['batched']);
  return amounts === '' ? '' : `in all batches ${amounts}`;
}

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
  texts: { readonly comment: string; readonly when: string; readonly batch: string; readonly action: string },
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
    sentence: ({ oldest }, { samples }) => {
      const blockTime = samples.value('bridge_external_block_time_seconds') ?? 1;
      return `${texts.batch} times out in ${blocksFor(Math.round(oldest.value / blockTime), blockTime, 'external')}`;
    },
  });
}

const FIND_VOTERS = 'find out who has not voted for them';
const MAKE_DEPOSIT =
  'make a small deposit on the external chain: the hub cancels the batches with the next observed event';

function overdue(
  severity: Severity,
  fees: 'sufficient' | 'unknown' | 'insufficient',
  texts: { readonly comment: string; readonly when: string; readonly fees: string; readonly forMinutes: number },
) {
  const batches = `${countOfValue('batch', 'batches')}${texts.fees === '' ? '' : ` ${texts.fees}`}`;
  return dataAlert('module_state', {
    name: 'BridgeBatchOverdue',
    severity,
    comment: texts.comment,
    when: texts.when,
    expr: `sum without (fees) (bridge_overdue_batches{fees="${fees}"}) > 0`,
    families: ['bridge_overdue_batches', 'bridge_pending_events'],
    find: ({ samples }) =>
      samples
        .series('bridge_overdue_batches')
        .filter(({ labels, value }) => labels['fees'] === fees && value > 0)
        .map(({ value }) => ({ labels: {}, value })),
    linksToPending: severity !== 'info',
    forMinutes: texts.forMinutes,
    summary: `${batches} past the timeout.`,
    description: `For at least ${texts.forMinutes} minutes, the hub of {{ $labels.target }} has held ${batches} past the timeout at the estimated external height. The contract rejects what has timed out, and the hub cancels it only with the next observed event.`,
    action: `Check that the contract is not paused. If events are pending, ${FIND_VOTERS}; if none are, ${MAKE_DEPOSIT}.`,
    actionFor: (_, { samples }) => {
      const pending = samples.value('bridge_pending_events');
      const next = pending === undefined ? undefined : pending > 0 ? FIND_VOTERS : MAKE_DEPOSIT;
      const pause = 'Check that the contract is not paused';
      return next === undefined
        ? `${pause}. If events are pending, ${FIND_VOTERS}; if none are, ${MAKE_DEPOSIT}.`
        : `${pause}, then ${next}.`;
    },
    sentence: ({ oldest, duration }, view) =>
      parts(
        `transfers have been locked for ${duration} in ${count(oldest.value, 'batch', 'batches')} past the timeout at the estimated external height`,
        inBatches(view),
      ),
    inhibits: severity === 'critical' ? [{ alert: 'BridgeBatchTimeoutNear' }] : [],
  });
}

/** How many tokens have transfers in live batches. */
function batchedTokens(condition: string): string {
  return `count by (${TARGET}) (group by (${TOKEN}) (bridge_token_batched_transfers${condition}))`;
}

const NEXT_TIMEOUT_FAMILIES = [
  'bridge_relayable_batch_next_timeout_height',
  'bridge_external_height_projected',
  'bridge_external_block_time_seconds',
] as const;

/** When the first relayable batch times out; empty without an estimate. */
function firstTimeout(samples: Samples<(typeof NEXT_TIMEOUT_FAMILIES)[number]>): string {
  const timeout = samples.value('bridge_relayable_batch_next_timeout_height');
  const height = samples.value('bridge_external_height_projected');
  if (timeout === undefined || height === undefined) return '';
  const blocks = Math.round(timeout - height);
  return `the first times out in ${blocksFor(blocks, samples.value('bridge_external_block_time_seconds'), 'external')}`;
}

/** Since when nothing can have been executed while the oldest relayable batch waited, in Unix seconds: no event was observed. */
function idleSince(
  view: PollView<
    (typeof HUB_TIME_FAMILIES)[number] | (typeof NEXT_TIMEOUT_FAMILIES)[number] | 'bridge_last_observed_external_height'
  >,
  oldestHeight: number,
): number | undefined {
  const { samples, state, now } = view;
  const projected = samples.value('bridge_external_height_projected');
  const observed = samples.value('bridge_last_observed_external_height');
  const blockTime = samples.value('bridge_external_block_time_seconds');
  const created = timeOfHeight(view, oldestHeight);
  if (projected === undefined || observed === undefined || blockTime === undefined || created === undefined) {
    return undefined;
  }
  // The estimate adds the time since the last observed event to the height of that event.
  const lastEvent = (state.success?.at ?? now).epochSeconds - (projected - observed) * blockTime;
  return Math.max(created, lastEvent);
}

function notRelayed(
  severity: 'critical' | 'warning',
  minutes: number,
  needsKnownFees: boolean,
  texts: { readonly comment: string; readonly when: string },
) {
  const range = promDuration(minutes);
  const tokens = batchedTokens(` > 0${needsKnownFees ? ` and ${ON_TOKEN} bridge_token_min_batch_fee` : ''}`);
  return dataAlert('module_state', {
    name: 'BridgeBatchNotRelayed',
    severity,
    comment: texts.comment,
    when: texts.when,
    expr: `bridge_relayable_batches > 1
and resets(bridge_relayable_batches[${range}]) == 0
and ${unchanged('bridge_oldest_relayable_batch_height', minutes)}
and ${ON_TARGET} ${tokens} > 1`,
    forMinutes: NOT_RELAYED_FOR_MINUTES,
    families: [
      'bridge_relayable_batches',
      'bridge_oldest_relayable_batch_height',
      ...HUB_TIME_FAMILIES,
      'bridge_token_batched_transfers',
      'bridge_token_min_batch_fee',
      ...NEXT_TIMEOUT_FAMILIES,
      'bridge_last_observed_external_height',
    ],
    rangeMinutes: minutes,
    find: (view) => {
      const { samples } = view;
      const batches = samples.value('bridge_relayable_batches') ?? 0;
      const height = samples.value('bridge_oldest_relayable_batch_height');
      if (height === undefined) return [];
      return [
        {
          labels: {},
          value: batches,
          unchangedValue: height,
          notBeforeSeconds: timeOfHeight(view, height),
          provenSinceSeconds: () => idleSince(view, height),
        },
      ];
    },
    holdsNow: ({ value }, view) => {
      const known = view.samples
        .series('bridge_token_batched_transfers')
        .filter((token) => token.value > 0)
        .filter(({ labels }) => !needsKnownFees || valueOf(view, 'bridge_token_min_batch_fee', labels) !== undefined);
      const isNothingRelayed = !hasDecreased(view, 'bridge_relayable_batches', {}, minutes);
      return value > 1 && known.length > 1 && isNothingRelayed;
    },
    summary: `${countOfValue('signed batch waits', 'signed batches wait')} for a relayer.`,
    description: `For at least ${promDuration(minutes + NOT_RELAYED_FOR_MINUTES)}, no signed batch of {{ $labels.target }} has been executed, of whatever token; ${countOfValue('waits', 'wait')}.`,
    action: CHECK_RELAYERS,
    sentence: ({ oldest, duration }, view) =>
      parts(
        `no signed batch has been executed for ${duration}, ${oldest.value} waiting`,
        inBatches(view),
        firstTimeout(view.samples),
      ),
  });
}

const unsigned = aboveWhileUnchanged(
  'bridge_batches_below_threshold',
  0,
  'bridge_oldest_unsigned_batch_height',
  UNSIGNED_MINUTES,
);

export const transferAlerts = [
  overdue('critical', 'sufficient', {
    comment: `The hub cancels the batch with the next observed event. Half an hour without an event is an idle bridge or a stalled oracle.
Only batches that were signed and whose fees reach \`min_batch_fee\` of their token: relayers should have executed them.`,
    when: 'The hub holds a signed batch with sufficient fees that has timed out at the estimated external height.',
    fees: 'with sufficient fees',
    forMinutes: 30,
  }),
  dataAlert('module_state', {
    name: 'BridgeBatchUnsigned',
    severity: 'critical',
    dashboard: 'bridge-signers',
    comment: `A new batch is below the threshold until the orchestrators have signed, one batch a minute and the newest first. The unchanged oldest
unsigned batch distinguishes one that stays unsigned from a sequence of batches that are being signed.`,
    when: `Batches have been below \`power_threshold\` for ${UNSIGNED_MINUTES} minutes, and the oldest of them is the same.`,
    ...unsigned,
    families: [...unsigned.families, ...HUB_TIME_FAMILIES],
    // Nobody withdraws a signature, so a batch that lacks some has lacked them since it was built.
    find: (view) => {
      const height = view.samples.value('bridge_oldest_unsigned_batch_height');
      return unsigned
        .find(view)
        .map((finding) => ({ ...finding, provenSinceSeconds: () => timeOfHeight(view, height) }));
    },
    recordings: [orchestratorNames, unsignedPower],
    forMinutes: UNSIGNED_FOR_MINUTES,
    summary: 'a batch lacks signatures.',
    description: `For at least ${UNSIGNED_MINUTES + UNSIGNED_FOR_MINUTES} minutes, batches of {{ $labels.target }} have had less signed power than power_threshold, at least {{ $value }} at any time, so they cannot be relayed. Missing signatures, own validators first, then the largest power first: ${LARGEST_UNSIGNED}all on /pending.`,
    action: CONTACT_SIGNERS,
    sentence: ({ oldest, duration }, view) => {
      const batch = belowThreshold(bridgeItemsOf(view)?.batches);
      const signed = batch === undefined ? '' : `signed batch ${batch.nonce}`;
      return parts(
        `batches have lacked signatures for ${duration}, ${oldest.value} at present`,
        missingValidators(batch?.missing ?? null, signed),
        timeLeft(batch?.projectedHeadroom, (time) => `it times out in ${time}`),
        unsignedAmounts(view),
      );
    },
    actionFor: (_, view) => ownFirst(membersOf(belowThreshold(bridgeItemsOf(view)?.batches)?.missing), CONTACT_SIGNERS),
    inhibits: [{ alert: 'BridgeOrchestratorMissingConfirms', labels: { watched: 'false' } }],
  }),
  notRelayed('critical', 225, true, {
    comment: `Batches of several tokens that pay relayers, and none was executed: the number of relayable batches has not fallen. Two tokens, because the
contract can refuse a batch of one token for a reason of its own.`,
    when: 'Relayable batches of two or more tokens with a `min_batch_fee` wait, and none was executed in four hours.',
  }),
  dataAlert('module_state', {
    name: 'BridgeBacklogStuck',
    severity: 'critical',
    comment: `Batch creators build a batch of a token within minutes once its fees reach their minimum. Transfers below it wait without an end, which is
normal and nobody's fault.`,
    when: `The fees of a token have reached its \`min_batch_fee\` for ${STUCK_MINUTES} minutes, and no batch of the token was built.`,
    expr: `bridge_token_unbatched_transfers
and ${ON_TOKEN} (
  min_over_time(bridge_token_top_batch_fees[${promDuration(STUCK_MINUTES)}])
    >= ${ON_TOKEN} group_left () max by (${TOKEN}) (bridge_token_min_batch_fee)
  and ${ON_TOKEN} bridge_token_top_batch_fees offset ${promDuration(STUCK_MINUTES)}
)
${withoutNewBatch(STUCK_MINUTES)}`,
    forMinutes: 5,
    families: [
      'bridge_token_unbatched_transfers',
      'bridge_token_top_batch_fees',
      'bridge_token_min_batch_fee',
      'bridge_token_newest_batch_nonce',
      'bridge_token_oldest_unbatched_transfer_id',
      'bridge_token_info',
    ],
    rangeMinutes: STUCK_MINUTES,
    find: (view) =>
      waitingTokens(view).filter(({ labels }) => {
        const fees = valueOf(view, 'bridge_token_top_batch_fees', labels);
        const needed = valueOf(view, 'bridge_token_min_batch_fee', labels);
        return fees !== undefined && needed !== undefined && fees >= needed;
      }),
    summary: `${countOfValue('transfer')} of ${TOKEN_TEXT} in no batch, and none is built.`,
    description: `For at least ${STUCK_MINUTES + 5} minutes, no batch of token ${TOKEN_TEXT}${DENOM_TEXT} of {{ $labels.target }} was built although the fees of its transfers pay for one; ${countOfValue('transfer waits', 'transfers wait')}.`,
    action:
      'Request a batch of the token: anyone can, and the error tells what prevents one, such as the rate limit of the token or an older batch with higher fees. Then check the batch creators.',
    sentence: ({ all, duration }, view) =>
      `no batch built for ${duration}: ${waitingSentence(all, view)} waiting with sufficient fees`,
    inhibits: [{ alert: 'BridgeBacklogHigh' }],
  }),
  timeoutNear('warning', 'bridge_relayable_batch_next_timeout_height', {
    comment: `Share of the batch lifetime (target_batch_timeout) that is left: 576 external blocks or 1.9 h on Injective mainnet.
Without an estimated external height, the last observed height is used. It lags, so the result is too high rather than too low.`,
    when: `Less than ${TIMEOUT_RATIO * 100} % of the lifetime of a relayable batch is left before its timeout.`,
    batch: 'a signed batch',
    action: CHECK_RELAYERS,
  }),
  notRelayed('warning', 105, false, {
    comment: `The same before critical: relayers wait for a lower gas price, or have no funds.`,
    when: 'Relayable batches of two or more tokens wait, and none was executed in two hours, whether or not `min_batch_fee` is configured.',
  }),
  overdue('warning', 'unknown', {
    comment: `Without \`min_batch_fee\`, or without the signatures, it is unknown whether a relayer should have executed the batch. Two hours, because
even on a quiet bridge an event is usually observed in that time.`,
    when: 'The same for two hours, for batches without a known `min_batch_fee` or without sufficient signatures.',
    fees: '',
    forMinutes: 120,
  }),
  dataAlert('module_state', {
    name: 'BridgeBacklogStuck',
    severity: 'warning',
    comment: `A token without \`min_batch_fee\`: transfers whose fees nobody takes wait for weeks on any real chain, but their number grows slowly.`,
    when: `${GROWING_TRANSFERS} transfers of a token without \`min_batch_fee\` were added to its queue in ${GROWING_MINUTES / 60} hours, and no batch of the token was built.`,
    expr: `bridge_token_unbatched_transfers - bridge_token_unbatched_transfers offset ${promDuration(GROWING_MINUTES)} >= ${GROWING_TRANSFERS}
${withoutNewBatch(GROWING_MINUTES)}
unless ${ON_TOKEN} bridge_token_min_batch_fee`,
    forMinutes: 5,
    families: [
      'bridge_token_unbatched_transfers',
      'bridge_token_min_batch_fee',
      'bridge_token_newest_batch_nonce',
      'bridge_token_oldest_unbatched_transfer_id',
      'bridge_token_info',
    ],
    rangeMinutes: GROWING_MINUTES,
    find: waitingTokens,
    holdsNow: ({ labels, value }, view) => {
      const now = sampleOf(view, 'bridge_token_unbatched_transfers', labels);
      const before = now && valueAgo(view, 'bridge_token_unbatched_transfers', now.labels, GROWING_MINUTES);
      const isMinimumKnown = valueOf(view, 'bridge_token_min_batch_fee', labels) !== undefined;
      return before !== undefined && value - before >= GROWING_TRANSFERS && !isMinimumKnown;
    },
    summary: `the queue of ${TOKEN_TEXT} grows and no batch is built.`,
    description: `In ${GROWING_MINUTES / 60} hours, {{ $value }} transfers of token ${TOKEN_TEXT}${DENOM_TEXT} of {{ $labels.target }} were added to its queue and no batch of it was built.`,
    action:
      'Compare the fees of the transfers with the minimum of the batch creators, and configure it as min_batch_fee of the token. If they are sufficient, request a batch: the error tells what prevents one.',
    sentence: ({ all, duration }, view) => `no batch built for ${duration}: ${waitingSentence(all, view)} waiting`,
  }),
  dataAlert('module_state', {
    name: 'BridgeBacklogHigh',
    severity: 'warning',
    comment: 'Pending transfers, batched or unbatched. The limit is `backlog_limit` of the target.',
    when: 'More transfers than `backlog_limit` are pending, batched or unbatched.',
    expr: `bridge_unbatched_transfers + bridge_batch_transactions
  > ${ON_TARGET} group_left () max by (${TARGET}) (bridge_backlog_limit_transfers)`,
    forMinutes: 30,
    families: ['bridge_unbatched_transfers', 'bridge_batch_transactions', 'bridge_backlog_limit_transfers'],
    find: ({ samples }) => {
      const unbatched = samples.value('bridge_unbatched_transfers');
      const batched = samples.value('bridge_batch_transactions');
      const limit = samples.value('bridge_backlog_limit_transfers');
      if (unbatched === undefined || batched === undefined || limit === undefined) return [];
      return findingIf(unbatched + batched > limit, unbatched + batched);
    },
    summary: `${countOfValue('transfer is', 'transfers are')} pending.`,
    description:
      'The backlog of {{ $labels.target }} has been above its limit for at least 30 minutes; {{ $value }} transfers are pending, batched or unbatched. The queue may still move; BridgeBacklogStuck fires when it does not.',
    action: 'Check whether batches are built, signed and relayed.',
    sentence: ({ oldest, duration }, { samples }) => {
      const unbatched = samples.value('bridge_unbatched_transfers') ?? 0;
      const limit = samples.value('bridge_backlog_limit_transfers') ?? 0;
      return `the number of pending transfers has been above ${limit} for ${duration}: ${oldest.value} at present, of which ${unbatched} in no batch`;
    },
  }),
  overdue('info', 'insufficient', {
    comment:
      'Nobody executes a batch whose fees are below the minimum of the relayers. Its transfers return to the queue.',
    when: 'The same for 30 minutes, for batches whose fees are below `min_batch_fee`.',
    fees: 'with insufficient fees',
    forMinutes: 30,
  }),
  timeoutNear('info', 'bridge_batch_next_timeout_height', {
    comment: 'A batch that no relayer takes: too poor, or not signed. BridgeBatchUnsigned covers the signatures.',
    when: 'The same for a batch that is not relayable.',
    batch: 'a batch that is not relayable',
    action: 'None is needed for a batch with insufficient fees: its transfers return to the queue after the timeout.',
  }),
];
