import { dataAlert } from './alert.js';
import { countOfValue, ON_TARGET, ON_TOKEN, promDuration, TARGET, TOKEN, unchanged } from './promql.js';
import { blocksFor, bridgeItemsOf, waitingAmounts, withDetails } from './sentences.js';
import { hasDecreased } from './poll-history.js';
import type { Samples } from './samples.js';
import { lastedSince, HUB_TIME_FAMILIES, type PollView, timeOfHeight } from './view.js';

/* Alerts on signed batches that nobody executes. */

const NOT_RELAYED_FOR_MINUTES = 15;

export const CHECK_RELAYERS =
  'Check the relayers: funds for gas, maximum gas price, minimum fee, and whether the contract is paused. Anyone can relay a batch.';

export const PAUSED = 'The contract is paused: find out who paused it and why.';

/** With what is known about the contract. */
export function checkRelayers({ isContractPaused }: Pick<PollView, 'isContractPaused'>): string {
  if (isContractPaused === undefined) return CHECK_RELAYERS;
  return isContractPaused
    ? `${PAUSED} Until then nobody can relay a batch.`
    : 'Check the relayers: funds for gas, maximum gas price and minimum fee. The contract is not paused, and anyone can relay a batch.';
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

/** What relayers could execute. */
function inRelayableBatches(view: Pick<PollView, 'items'>): string {
  const amounts = waitingAmounts(bridgeItemsOf(view), ['relayable']);
  return amounts === '' ? '' : `${amounts} in them`;
}

function notRelayed(severity: 'critical' | 'warning', minutes: number, needsKnownFees: boolean, description: string) {
  const range = promDuration(minutes);
  const tokens = batchedTokens(` > 0${needsKnownFees ? ` and ${ON_TOKEN} bridge_token_min_batch_fee` : ''}`);
  return dataAlert('module_state', {
    name: 'BridgeBatchNotRelayed',
    listsAmounts: true,
    severity,
    description,
    // Two tokens, because the contract can refuse a batch of one token for a reason of its own.
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
          start: lastedSince(
            () => idleSince(view, height),
            () => timeOfHeight(view, height),
          ),
        },
      ];
    },
    holdsNow: ({ value }, view) => {
      const withMinimum = new Set(
        view.samples.series('bridge_token_min_batch_fee').map(({ labels }) => labels['token_contract']),
      );
      const known = view.samples
        .series('bridge_token_batched_transfers')
        .filter((token) => token.value > 0)
        .filter(({ labels }) => !needsKnownFees || withMinimum.has(labels['token_contract']));
      const isNothingRelayed = !hasDecreased(view, 'bridge_relayable_batches', {}, minutes);
      return value > 1 && known.length > 1 && isNothingRelayed;
    },
    summary: `${countOfValue('signed batch waits', 'signed batches wait')} for a relayer.`,
    action: CHECK_RELAYERS,
    actionFor: (_, view) => checkRelayers(view),
    sentence: ({ oldest, duration }, view) =>
      withDetails(
        `no signed batch has been executed for ${duration}, ${oldest.value} waiting`,
        inRelayableBatches(view),
        firstTimeout(view.samples),
      ),
  });
}

export const relayAlerts = [
  notRelayed(
    'critical',
    225,
    true,
    'Signed batches of two or more tokens whose fees reach their `min_batch_fee` wait, and none was executed in four hours.',
  ),
  notRelayed(
    'warning',
    105,
    false,
    'Signed batches of two or more tokens wait, and none was executed in two hours, whether or not `min_batch_fee` is configured: relayers wait for a lower gas price, or have no funds.',
  ),
];
