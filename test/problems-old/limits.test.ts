import { expect, it } from 'vitest';
import { judgedAlerts, type AlertName } from '../../src/alerts/alerts.js';
import type { JudgedAlert } from '../../src/alerts/alert.js';
import { NO_FLOW_HISTORY } from '../../src/alerts/flow-history.js';
import { NO_HISTORY } from '../../src/alerts/poll-history.js';
import type { PollView } from '../../src/alerts/view.js';
import { initialState } from '../../src/poll/endpoint-state.js';

/* The conditions of alerts exactly at their limits, which no incident reaches. */

type Labels = Readonly<Record<string, string>>;
/** The value of a family without labels, or its series. */
type Families = Readonly<Record<string, number | readonly (readonly [Labels, number])[]>>;

const now = { epochSeconds: 10_000, monotonicMs: 10_000_000 };

function viewOf(families: Families, past: PollView['history']['past'] = new Map()): PollView {
  const series = (family: string) => {
    const values = families[family] ?? [];
    return (typeof values === 'number' ? [[{}, values] as const] : values).map(([labels, value]) => ({
      labels,
      value,
    }));
  };
  return {
    state: initialState({ target: 't', document: 'module_state' }, { maxBodyBytes: 1, staleAfterMs: 1 }, now),
    history: { ...NO_HISTORY, past },
    flow: NO_FLOW_HISTORY,
    samples: { series, value: (family) => series(family)[0]?.value },
    items: undefined,
    now,
  };
}

/** How many of these alerts have a condition that holds. */
function countHolding(key: string, view: PollView): number {
  const all: readonly JudgedAlert<AlertName>[] = judgedAlerts;
  return all
    .filter(({ name, severity }) => `${name}/${severity}` === key)
    .flatMap(({ condition }) => condition.patterns)
    .flatMap(({ find, holdsNow }) => find(view).filter((finding) => holdsNow?.(finding, view) !== false)).length;
}

const token = (name: string): Labels => ({ token_contract: name, denom: '' });
const chain = { chain: '', chain_id: '1' };
const validator = { orchestrator: 'a', name: '' };
const twoTokens = [
  [token('a'), 1],
  [token('b'), 1],
] as const;
const notRelayed = {
  bridge_relayable_batches: 2,
  bridge_oldest_relayable_batch_height: 7,
  bridge_token_batched_transfers: twoTokens,
  bridge_token_min_batch_fee: twoTokens,
};
const disputed = {
  bridge_conflicting_claims: 1,
  bridge_next_event_voted_power_ratio: 0.5,
  bridge_next_event_second_claim_power_ratio: 0.35,
};

const timeoutNear = {
  bridge_relayable_batch_next_timeout_height: 519,
  bridge_external_height_projected: 500,
  bridge_external_block_time_seconds: 10,
  bridge_params_target_batch_timeout_seconds: 1000,
  bridge_params_average_external_block_time_seconds: 10,
};

it.each<readonly [key: string, holding: Families, atLimit: Families]>([
  ['BridgeBatchNotRelayed/critical', notRelayed, { bridge_relayable_batches: 1 }],
  ['BridgeBatchNotRelayed/critical', notRelayed, { bridge_token_min_batch_fee: twoTokens.slice(1) }],
  ['BridgeBatchNotRelayed/warning', notRelayed, { bridge_token_batched_transfers: twoTokens.slice(1) }],
  [
    'BridgeBacklogHigh/warning',
    { bridge_unbatched_transfers: 300, bridge_batch_transactions: 201, bridge_backlog_limit_transfers: 500 },
    { bridge_batch_transactions: 200 },
  ],
  [
    'BridgeBacklogStuck/critical',
    {
      bridge_token_unbatched_transfers: [[token('a'), 3]],
      bridge_token_top_batch_fees: [[token('a'), 5]],
      bridge_token_min_batch_fee: [[token('a'), 5]],
    },
    { bridge_token_top_batch_fees: [[token('a'), 4]] },
  ],
  ['BridgeBatchTimeoutNear/warning', timeoutNear, { bridge_relayable_batch_next_timeout_height: 520 }],
  ['BridgeBatchTimeoutNear/warning', timeoutNear, { bridge_relayable_batch_next_timeout_height: 500 }],
  [
    'BridgeOracleStalled/critical',
    { bridge_next_event_voted_power_ratio: 0.33 },
    { bridge_next_event_voted_power_ratio: 0.32 },
  ],
  [
    'BridgeOracleStalled/warning',
    { bridge_next_event_voted_power_ratio: 0.32 },
    { bridge_next_event_voted_power_ratio: 0.33 },
  ],
  ['BridgeConflictingClaims/critical', disputed, { bridge_next_event_second_claim_power_ratio: 0.34 }],
  [
    'BridgeValsetUnsigned/warning',
    { bridge_newest_valset_signed_power_ratio: 0.65, bridge_power_threshold_ratio: 0.66 },
    { bridge_newest_valset_signed_power_ratio: 0.66 },
  ],
  ['BridgeValsetDrift/warning', { bridge_valset_power_drift_ratio: 0.11 }, { bridge_valset_power_drift_ratio: 0.1 }],
  [
    'BridgeTokenUnbacked/critical',
    { bridge_token_backing_surplus_amount: [[token('a'), -1]] },
    { bridge_token_backing_surplus_amount: [[token('a'), 0]] },
  ],
  [
    'BridgeWatchedOrchestratorLagging/warning',
    {
      bridge_last_observed_nonce: 7,
      bridge_next_event_voted_power_ratio: 0.33,
      bridge_watched_validator_last_event_nonce: [[validator, 7]],
    },
    { bridge_next_event_voted_power_ratio: 0.32 },
  ],
  [
    'BridgeWatchedOrchestratorFundsLow/warning',
    {
      bridge_watched_orchestrator_balance_limit_amount: 10,
      bridge_watched_orchestrator_balance_amount: [[validator, 9]],
    },
    { bridge_watched_orchestrator_balance_amount: [[validator, 10]] },
  ],
  [
    'CrosschainBacklogHigh/warning',
    { crosschain_total_pending: 201, crosschain_backlog_limit_cctxs: 200 },
    { crosschain_total_pending: 200 },
  ],
  [
    'CrosschainOldestPendingTooOld/warning',
    {
      crosschain_age_limit_seconds: [[chain, 1000]],
      crosschain_oldest_cctx_created_timestamp_seconds: [[{ ...chain, list: 'pending' }, 8999]],
    },
    { crosschain_oldest_cctx_created_timestamp_seconds: [[{ ...chain, list: 'pending' }, 9000]] },
  ],
  [
    'CrosschainBacklogStuck/critical',
    {
      crosschain_age_limit_seconds: [[chain, 1000]],
      crosschain_lowest_pending_nonce: [[chain, 3]],
      crosschain_lowest_pending_nonce_changed_timestamp_seconds: [[chain, 0]],
      crosschain_cctxs_hidden: 0,
    },
    { crosschain_cctxs_hidden: 1 },
  ],
])('%s holds beyond its limit only: %j, and not with %j', (key, holding, atLimit) => {
  expect(countHolding(key, viewOf(holding))).toBe(1);
  expect(countHolding(key, viewOf({ ...holding, ...atLimit }))).toBe(0);
});

/** A series without labels that has changed an hour ago, and an hour before that. */
const past = (family: string, before: number, since: number) => {
  const at = { epochSeconds: now.epochSeconds - 3600, monotonicMs: now.monotonicMs - 3_600_000 };
  return [
    JSON.stringify([family, {}]),
    [
      { value: before, at: { ...at, monotonicMs: 0 } },
      { value: since, at },
    ],
  ] as const;
};

it('BridgeBatchNotRelayed does not hold when the number of signed batches has decreased', () => {
  const decreased = new Map([past('bridge_relayable_batches', 3, 2)]);
  expect(countHolding('BridgeBatchNotRelayed/warning', viewOf(notRelayed, decreased))).toBe(0);
});

it('BridgeOracleSilent holds when as many events are not observed as an hour ago, and none of then is', () => {
  const anHourAgo = new Map([
    past('bridge_contract_last_event_nonce', 6, 7),
    past('bridge_contract_unobserved_events', 0, 2),
  ]);
  const countAt = (nonce: number, unobserved: number): number => {
    const families = { bridge_contract_last_event_nonce: nonce, bridge_contract_unobserved_events: unobserved };
    return countHolding('BridgeOracleSilent/critical', viewOf(families, anHourAgo));
  };
  expect([countAt(8, 2), countAt(8, 1), countAt(9, 2)]).toEqual([1, 0, 0]);
});
