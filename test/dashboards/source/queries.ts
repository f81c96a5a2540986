import { STUCK_SECONDS, STUCK_TRANSFERS } from './thresholds.js';

/*
 * Expressions that many panels share. The newest value of a target is taken over all exporters that poll it, so that replicas
 * neither double a number nor break a join.
 */

export const TARGET = 'target=~"$target"';
export const CHAIN = 'chain_id=~"$chain_id"';
export const ORCHESTRATOR = 'orchestrator=~"$orchestrator"';

export function latest(metric: string): string {
  return `max by (target) (${metric}{${TARGET}})`;
}

/** By labels besides the target, of series with these matchers. */
export function latestBy(labels: readonly string[], metric: string, ...matchers: readonly string[]): string {
  return `max by (target, ${labels.join(', ')}) (${metric}{${[TARGET, ...matchers].join(', ')}})`;
}

/** Change of a gauge; nonces are no counters, they can step back. */
export function moved(metric: string, window = '15m'): string {
  return `max by (target) (delta(${metric}{${TARGET}}[${window}]))`;
}

/** Seconds a hub block takes: as measured, or as the module reckons while there is too little to measure. */
export const hubBlockSeconds = `(1 / (max by (target) (deriv(bridge_height{${TARGET}}[15m])) > 0) or ${latest('bridge_params_average_block_time_seconds')})`;

export const externalBlockSeconds = latest('bridge_params_average_external_block_time_seconds');

/**
 * How long ago a gauge first had the value it has now, of these six hours. It holds over gaps, as when nothing waited for a
 * while; `@ end()` makes it one for instant queries.
 */
function sameValueSeconds(metric: string): string {
  const series = `${metric}{${TARGET}}`;
  return `time() - min by (target) (min_over_time(timestamp(${series} == ${series} @ end())[6h:15s]))`;
}

/** While transfers wait. */
export const sameOldestSeconds = sameValueSeconds('bridge_oldest_pending_transfer_id');

/** While so many transfers have waited for as long as the alert asks that a batch should have been built. */
export const noBatchSeconds = `${sameValueSeconds('bridge_last_outgoing_batch_id')} and on (target) max by (target) (min_over_time(bridge_unbatched_transfers{${TARGET}}[${STUCK_SECONDS / 60}m])) >= ${STUCK_TRANSFERS}`;

export const oldestCctxSeconds = `time() - min by (target) (crosschain_oldest_cctx_created_timestamp_seconds{${TARGET}})`;

export const oldestBatchBlocks = `${latest('bridge_height')} - on (target) ${latest('bridge_batch_oldest_height')}`;

export const batchBlocksLeft = `${latest('bridge_batch_next_timeout_height')} - on (target) (${latest('bridge_external_height_projected')} or ${latest('bridge_last_observed_external_height')})`;

/** As a share of the blocks a new batch has. */
export const batchLifeLeft = `(${batchBlocksLeft}) * on (target) ${externalBlockSeconds} / on (target) ${latest('bridge_params_target_batch_timeout_seconds')}`;

/** Amounts in whole coins, of tokens whose decimals are configured. */
export function wholeCoins(metric: string): string {
  const amount = latestBy(['token_contract', 'denom'], metric);
  const decimals = latestBy(['token_contract'], 'bridge_token_decimals');
  return `${amount} / on (target, token_contract) group_left () (10 ^ ${decimals})`;
}

/** Adds the symbol to series with a token contract, empty without one. */
export function withSymbol(expr: string): string {
  const symbol = latestBy(['token_contract', 'symbol'], 'bridge_token_info');
  return `(${expr}) * on (target, token_contract) group_left (symbol) ${symbol} or on (target, token_contract, denom) (${expr})`;
}

export const smallestUnits = (metric: string): string =>
  `${latestBy(['token_contract', 'denom'], metric)} unless on (target, token_contract) ${latestBy(['token_contract'], 'bridge_token_decimals')}`;

/** A family of orchestrators, of those chosen. */
export function ofOrchestrators(metric: string): string {
  return latestBy(['orchestrator', 'external_address'], metric, ORCHESTRATOR);
}

export function ofChains(labels: readonly string[], metric: string, ...matchers: readonly string[]): string {
  return latestBy(['chain_id', 'chain', ...labels], metric, CHAIN, ...matchers);
}
