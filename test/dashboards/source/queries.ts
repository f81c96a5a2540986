import { STUCK_SECONDS, STUCK_TRANSFERS } from './thresholds.js';

/*
 * PromQL expressions that several panels share. They aggregate over all exporters that poll a target, so that replicas
 * neither count twice nor break a vector match.
 */

export const TARGET_MATCHER = 'target=~"$target"';
export const CHAIN_MATCHER = 'chain_id=~"$chain_id"';
export const ORCHESTRATOR_MATCHER = 'orchestrator=~"$orchestrator"';

export function latest(metric: string): string {
  return `max by (target) (${metric}{${TARGET_MATCHER}})`;
}

/** The value by target and these labels, of the series that match. */
export function latestBy(labels: readonly string[], metric: string, ...matchers: readonly string[]): string {
  return `max by (target, ${labels.join(', ')}) (${metric}{${[TARGET_MATCHER, ...matchers].join(', ')}})`;
}

/** The change of a gauge. Nonces can decrease, so `increase` does not apply. */
export function changeOf(metric: string, window = '15m'): string {
  return `max by (target) (delta(${metric}{${TARGET_MATCHER}}[${window}]))`;
}

/** The hub block time: measured, or the parameter of the module while there are too few samples. */
export const hubBlockSeconds = `(1 / (max by (target) (deriv(bridge_height{${TARGET_MATCHER}}[15m])) > 0) or ${latest('bridge_params_average_block_time_seconds')})`;

export const externalBlockSeconds = latest('bridge_params_average_external_block_time_seconds');

/**
 * The time since a gauge first had its current value, at most six hours. Gaps between equal values do not matter. `@
 * end()` selects the current value in an instant query.
 */
function sameValueSeconds(metric: string): string {
  const series = `${metric}{${TARGET_MATCHER}}`;
  return `time() - min by (target) (min_over_time(timestamp(${series} == ${series} @ end())[6h:15s]))`;
}

/** Absent while no transfer is pending. */
export const secondsWithSameOldestTransfer = sameValueSeconds('bridge_oldest_pending_transfer_id');

/** Absent unless as many transfers are unbatched, for as long, as the critical BridgeBacklogStuck needs. */
export const secondsWithoutBatch = `${sameValueSeconds('bridge_last_outgoing_batch_id')} and on (target) max by (target) (min_over_time(bridge_unbatched_transfers{${TARGET_MATCHER}}[${STUCK_SECONDS / 60}m])) >= ${STUCK_TRANSFERS}`;

export const oldestCctxAge = `time() - min by (target) (crosschain_oldest_cctx_created_timestamp_seconds{${TARGET_MATCHER}})`;

export const oldestBatchBlocks = `${latest('bridge_height')} - on (target) ${latest('bridge_batch_oldest_height')}`;

export const batchBlocksLeft = `${latest('bridge_batch_next_timeout_height')} - on (target) (${latest('bridge_external_height_projected')} or ${latest('bridge_last_observed_external_height')})`;

/** As a share of the lifetime of a new batch. */
export const batchLifetimeLeft = `(${batchBlocksLeft}) * on (target) ${externalBlockSeconds} / on (target) ${latest('bridge_params_target_batch_timeout_seconds')}`;

/** Amounts in whole coins, for tokens with configured decimals. */
export function wholeCoins(metric: string): string {
  const amount = latestBy(['token_contract', 'denom'], metric);
  const decimals = latestBy(['token_contract'], 'bridge_token_decimals');
  return `${amount} / on (target, token_contract) group_left () (10 ^ ${decimals})`;
}

/** Adds the label `symbol` to series of tokens with a configured symbol. */
export function withSymbol(expr: string): string {
  const symbol = latestBy(['token_contract', 'symbol'], 'bridge_token_info');
  return `(${expr}) * on (target, token_contract) group_left (symbol) ${symbol} or on (target, token_contract, denom) (${expr})`;
}

/** Amounts in smallest units, for tokens without configured decimals. */
export const smallestUnits = (metric: string): string =>
  `${latestBy(['token_contract', 'denom'], metric)} unless on (target, token_contract) ${latestBy(['token_contract'], 'bridge_token_decimals')}`;

/** The value by orchestrator, for the selected orchestrators. */
export function latestByOrchestrator(metric: string): string {
  return latestBy(['orchestrator', 'external_address'], metric, ORCHESTRATOR_MATCHER);
}

/** The value by chain and these labels, for the selected chains. */
export function latestByChain(labels: readonly string[], metric: string, ...matchers: readonly string[]): string {
  return latestBy(['chain_id', 'chain', ...labels], metric, CHAIN_MATCHER, ...matchers);
}
