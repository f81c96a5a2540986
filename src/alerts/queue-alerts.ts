import { fingerprint } from '../facts/fingerprint.js';
import { type FiniteSample } from '../metrics/render-families.js';
import type { WaitingTokenItem } from '../facts/items/items.js';
import { count, list } from '../text/format.js';
import { dataAlert } from './alert.js';
import { countOfValue, ON_TARGET, ON_TOKEN, promDuration, TARGET, TOKEN, TOKEN_SYMBOL, unchanged } from './promql.js';
import { bridgeItemsOf, listedRows, tokenName, waitingAmounts, withList } from './sentences.js';
import { valueAgo } from './poll-history.js';
import { labelOf } from './samples.js';
import {
  type AlertLabels,
  lastedSince,
  type Finding,
  findingIf,
  HUB_TIME_FAMILIES,
  type PollView,
  timeOfItemHeight,
} from './view.js';

/* Alerts on transfers that are in no batch. */

const STUCK_MINUTES = 45;
/** Without a known minimum fee, only the growth of a queue shows that transfers are stuck. */
const GROWING_MINUTES = 180;
const GROWING_TRANSFERS = 10;

/** The symbol of the token and its contract, in texts. */
const TOKEN_TEXT = `${TOKEN_SYMBOL}{{ $labels.token_contract }}`;

/**
 * Restricts series to tokens of which no batch was built in the range. The oldest transfer shows it when the batch was executed between
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
function waitingTokenFindings(
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
      // Not the id itself, which would be remembered.
      unchangedValue: fingerprint({
        batch: valueOf(view, 'bridge_token_newest_batch_nonce', labels),
        transfer: valueOf(view, 'bridge_token_oldest_unbatched_transfer_id', labels),
      }),
    }));
}

/** What waits of the token of a finding. */
function waitingItem({ labels }: Finding, view: Pick<PollView, 'items'>): WaitingTokenItem | undefined {
  return listedRows(bridgeItemsOf(view)?.tokens).find(({ token }) => token.contract === labels['token_contract']);
}

function waitingTransfers(all: readonly Finding[], view: PollView<'bridge_token_info'>): string {
  // In the order of the items, which is by worth.
  const tokens = listedRows(bridgeItemsOf(view)?.tokens).map(({ token }) => token.contract);
  const rankOf = ({ labels }: Finding): number => {
    const index = tokens.indexOf(labelOf(labels, 'token_contract'));
    return index === -1 ? Infinity : index;
  };
  const byWorth = all.toSorted((a, b) => (rankOf(a) === rankOf(b) ? b.value - a.value : rankOf(a) - rankOf(b)));
  return list(
    byWorth.map(({ labels, value }) => {
      const contract = labelOf(labels, 'token_contract');
      const amount = waitingAmounts(bridgeItemsOf(view), ['unbatched'], contract);
      const transfers = count(value, 'transfer');
      return amount === '' ? `${transfers} of ${tokenName(view.samples, contract)}` : `${amount} (${transfers})`;
    }),
  );
}

export const queueAlerts = [
  dataAlert('module_state', {
    name: 'BridgeBacklogStuck',
    listsAmounts: true,
    severity: 'critical',
    description: `The fees of the transfers of a token have reached its \`min_batch_fee\` for ${STUCK_MINUTES} minutes, and no batch of the token was built, which usually takes minutes.`,
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
      ...HUB_TIME_FAMILIES,
    ],
    rangeMinutes: STUCK_MINUTES,
    find: (view) =>
      waitingTokenFindings(view)
        .filter(({ labels }) => {
          const fees = valueOf(view, 'bridge_token_top_batch_fees', labels);
          const needed = valueOf(view, 'bridge_token_min_batch_fee', labels);
          return fees !== undefined && needed !== undefined && fees >= needed;
        })
        .map((finding) => ({
          ...finding,
          start: lastedSince(
            () => timeOfItemHeight(view, waitingItem(finding, view)?.standstillSinceHeight),
            () => timeOfItemHeight(view, waitingItem(finding, view)?.newestBatchHeight),
          ),
        })),
    summary: `${countOfValue('transfer')} of ${TOKEN_TEXT} in no batch, and none is built.`,
    action:
      'Request a batch of the token: anyone can, and the error says what prevents one, such as the rate limit of the token or an older batch with higher fees. Then check the batch creators.',
    sentence: ({ all, duration }, view) =>
      withList(`no batch built for ${duration}`, `${waitingTransfers(all, view)} waiting with sufficient fees`),
    inhibits: [{ alert: 'BridgeBacklogHigh' }],
  }),
  dataAlert('module_state', {
    name: 'BridgeBacklogStuck',
    listsAmounts: true,
    severity: 'warning',
    // Transfers whose fees nobody takes wait for weeks on any real chain, but their number grows slowly.
    description: `${GROWING_TRANSFERS} transfers of a token without \`min_batch_fee\` were added to its queue in ${GROWING_MINUTES / 60} hours, and no batch of the token was built.`,
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
    find: waitingTokenFindings,
    holdsNow: ({ labels, value }, view) => {
      const now = sampleOf(view, 'bridge_token_unbatched_transfers', labels);
      const before = now && valueAgo(view, 'bridge_token_unbatched_transfers', now.labels, GROWING_MINUTES);
      const isMinimumKnown = valueOf(view, 'bridge_token_min_batch_fee', labels) !== undefined;
      return before !== undefined && value - before >= GROWING_TRANSFERS && !isMinimumKnown;
    },
    summary: `${countOfValue('transfer')} of ${TOKEN_TEXT} added to its queue, and no batch is built.`,
    action:
      'Compare the fees of the transfers with the minimum of the batch creators, and configure it as min_batch_fee of the token. If they are sufficient, request a batch: the error says what prevents one.',
    sentence: ({ all, duration }, view) =>
      withList(`no batch built for ${duration}`, `${waitingTransfers(all, view)} waiting`),
  }),
  dataAlert('module_state', {
    name: 'BridgeBacklogHigh',
    severity: 'warning',
    description:
      'More transfers than `backlog_limit` are pending, batched or unbatched. The queue may still move; BridgeBacklogStuck fires when it does not.',
    expr: `bridge_unbatched_transfers + bridge_batch_transactions
  > ${ON_TARGET} group_left () max by (${TARGET}) (bridge_backlog_limit_transfers)`,
    forMinutes: 30,
    families: [
      'bridge_unbatched_transfers',
      'bridge_batch_transactions',
      'bridge_backlog_limit_transfers',
      ...HUB_TIME_FAMILIES,
    ],
    find: (view) => {
      const { samples } = view;
      const unbatched = samples.value('bridge_unbatched_transfers');
      const batched = samples.value('bridge_batch_transactions');
      const limit = samples.value('bridge_backlog_limit_transfers');
      if (unbatched === undefined || batched === undefined || limit === undefined) return [];
      const start = lastedSince(() => timeOfItemHeight(view, bridgeItemsOf(view)?.aboveLimitSinceHeight));
      return findingIf(unbatched + batched > limit, unbatched + batched, undefined, start);
    },
    summary: `${countOfValue('transfer is', 'transfers are')} pending.`,
    action: 'Check whether batches are built, signed and relayed.',
    sentence: ({ oldest, duration }, { samples }) => {
      const unbatched = samples.value('bridge_unbatched_transfers') ?? 0;
      const limit = samples.value('bridge_backlog_limit_transfers') ?? 0;
      return withList(
        `the number of pending transfers has been above ${limit} for ${duration}`,
        `${oldest.value} at present, of which ${unbatched} in no batch`,
      );
    },
  }),
];
