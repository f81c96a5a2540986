import { criticalAge } from '../../src/alerts/crosschain-progress-alerts.js';

/*
 * PromQL expressions that several panels share. They aggregate over all exporters that poll a target, so that replicas
 * neither count twice nor break a vector match. Targets of different clusters can have the same name.
 */

/** Selects the exporters. `All` matches series without the labels cluster and namespace. */
export const EXPORTER_FILTERS = 'cluster=~"$cluster", namespace=~"$namespace", job=~"$job", instance=~"$instance"';

export const FILTERS = `${EXPORTER_FILTERS}, target=~"$target"`;

/** Selects alerts. Some are about no target or exporter, so absent labels always match. */
export const ALERT_FILTERS =
  'cluster=~"$cluster|", namespace=~"$namespace|", job=~"$job|", instance=~"$instance|", target=~"$target|"';

export const CHAIN_MATCHER = 'chain_id=~"$chain_id"';
const ORCHESTRATOR_MATCHER = 'orchestrator=~"$orchestrator"';
export const WATCHED_MATCHER = 'watched=~"$watched"';

export function latest(metric: string, ...matchers: readonly string[]): string {
  return `max by (cluster, target) (${metric}{${[FILTERS, ...matchers].join(', ')}})`;
}

/** The value by target and these labels, of the series that match. */
export function latestBy(labels: readonly string[], metric: string, ...matchers: readonly string[]): string {
  return `max by (cluster, target, ${labels.join(', ')}) (${metric}{${[FILTERS, ...matchers].join(', ')}})`;
}

/** The change of a gauge. Nonces can decrease, so `increase` does not apply. */
export function changeOf(metric: string, window = '15m'): string {
  return `max by (cluster, target) (delta(${metric}{${FILTERS}}[${window}]))`;
}

/** The increase of a counter by target and these labels. */
export function increaseBy(
  labels: readonly string[],
  metric: string,
  window: string,
  ...matchers: readonly string[]
): string {
  const selector = [FILTERS, ...matchers].join(', ');
  return `max by (${['cluster', 'target', ...labels].join(', ')}) (increase(${metric}{${selector}}[${window}]))`;
}

/** The quantile of a histogram over the observations of this window. */
export function quantileOf(rank: number, histogram: string, window: string): string {
  return `histogram_quantile(${rank}, ${increaseBy(['le'], `${histogram}_bucket`, window)})`;
}

/** The quantile of a histogram by chain, for the selected chains. */
export function quantileByChain(rank: number, histogram: string, window: string): string {
  return `histogram_quantile(${rank}, ${increaseBy(['chain_id', 'chain', 'le'], `${histogram}_bucket`, window, CHAIN_MATCHER)})`;
}

/** The block times in use: configured, measured, or those of the parameters. */
export const hubBlockSeconds = latest('bridge_block_time_seconds');
export const externalBlockSeconds = latest('bridge_external_block_time_seconds');

/**
 * The time since a gauge first had its current value, at most six hours. Gaps between equal values do not matter. `@
 * end()` selects the current value in an instant query.
 */
function sameValueSeconds(metric: string): string {
  const series = `${metric}{${FILTERS}}`;
  const seconds = `time() - min by (cluster, target) (min_over_time(timestamp(${series} == ${series} @ end())[6h:15s]))`;
  // The subquery has no sample of a value that is younger than its step.
  return `(${seconds} or 0 * ${latest(metric)})`;
}

/** Absent while no transfer is pending. */
export const secondsWithSameOldestTransfer = sameValueSeconds('bridge_oldest_pending_transfer_id');

/** The tokens whose fees reach `min_batch_fee`. */
export const payingTokens = `(${latestBy(['token_contract'], 'bridge_token_top_batch_fees')} >= on (cluster, target, token_contract) ${latestBy(['token_contract'], 'bridge_token_min_batch_fee')})`;

/** Transfers of tokens whose fees reach `min_batch_fee`; absent where no token has one. */
export const payingTransfers = `sum by (cluster, target) (${latestBy(['token_contract'], 'bridge_token_unbatched_transfers')} and on (cluster, target, token_contract) ${payingTokens}) or 0 * count by (cluster, target) (${latestBy(['token_contract'], 'bridge_token_min_batch_fee')})`;

/** Past their timeout, except those that nobody was expected to execute. */
export const overdueBatches = `sum by (cluster, target) (${latestBy(['fees'], 'bridge_overdue_batches', 'fees!="insufficient"')})`;

/** What only an attack, a bug or a restored state explains. */
export const integrityViolations = `sum by (cluster, target) (${latestBy(['kind'], 'bridge_integrity_violations', 'kind!="lost_claims"')})`;

export const oldestCctxAge = `time() - min by (cluster, target) (crosschain_oldest_cctx_created_timestamp_seconds{${FILTERS}, list="pending"})`;

/** Whether the oldest pending transaction of a chain is too old: 1 above the limit of the chain, 2 above the limit of the critical alert. */
export function tooOldByChain(...matchers: readonly string[]): string {
  const labels = ['chain_id', 'chain'];
  const age = `(time() - ${latestBy(labels, 'crosschain_oldest_cctx_created_timestamp_seconds', 'list="pending"', ...matchers)})`;
  const limit = latestBy(['chain_id'], 'crosschain_age_limit_seconds', ...matchers);
  const exceeds = (expr: string): string => `${age} > bool on (cluster, target, chain_id) group_left () (${expr})`;
  return `(${exceeds(limit)}) + (${exceeds(criticalAge(limit))})`;
}

export const cctxsTooOld = `max by (cluster, target) (${tooOldByChain()})`;

export const oldestBatchBlocks = `${latest('bridge_height')} - on (cluster, target) ${latest('bridge_batch_oldest_height')}`;

export const batchBlocksLeft = `${latest('bridge_batch_next_timeout_height')} - on (cluster, target) (${latest('bridge_external_height_projected')} or ${latest('bridge_last_observed_external_height')})`;

/** As a share of the lifetime of a new batch, which the hub calculates with the parameter. */
export const batchLifetimeLeft = `(${batchBlocksLeft}) * on (cluster, target) ${latest('bridge_params_average_external_block_time_seconds')} / on (cluster, target) ${latest('bridge_params_target_batch_timeout_seconds')}`;

/** Amounts in whole coins, for tokens with configured decimals. */
export function wholeCoins(metric: string): string {
  const amount = latestBy(['token_contract', 'denom'], metric);
  const decimals = latestBy(['token_contract'], 'bridge_token_decimals');
  return `${amount} / on (cluster, target, token_contract) group_left () (10 ^ ${decimals})`;
}

/** Adds the label `symbol`: the configured symbol of the token, or its shortened contract. */
export function withSymbol(expr: string): string {
  const symbol = latestBy(['token_contract', 'symbol'], 'bridge_token_info');
  const withContract = `label_replace(${expr}, "symbol", "$1…$2", "token_contract", "(.{0,6}).*?(.{0,4})")`;
  return `(${expr}) * on (cluster, target, token_contract) group_left (symbol) ${symbol} or on (cluster, target, token_contract, denom) ${withContract}`;
}

/** Amounts in smallest units, for tokens without configured decimals. */
export const smallestUnits = (metric: string): string =>
  `${latestBy(['token_contract', 'denom'], metric)} unless on (cluster, target, token_contract) ${latestBy(['token_contract'], 'bridge_token_decimals')}`;

/**
 * One series with the value 1 for each orchestrator. The label `signer` is its name, or its shortened address; both for orchestrators with
 * the same name. `topk` selects one series where replicas export different names.
 */
export function signerInfo(...matchers: readonly string[]): string {
  const info = latestBy(
    ['orchestrator', 'external_address', 'name', 'watched'],
    'bridge_orchestrator_info',
    ...matchers,
  );
  const withAddress = `label_replace(${info}, "signer", "$1…$2", "orchestrator", "(.{0,12}).*?(.{0,6})")`;
  const names = `count by (cluster, target, name) (${latestBy(['orchestrator', 'external_address', 'name'], 'bridge_orchestrator_info', 'name!=""')}) > 1`;
  const twins = `label_join(${withAddress}, "signer", " ", "name", "signer") and on (cluster, target, name) ${names}`;
  const others = `label_replace(${withAddress}, "signer", "$1", "name", "(.+)") unless on (cluster, target, name) ${names}`;
  return `topk by (cluster, target, orchestrator, external_address) (1, ${twins} or ${others})`;
}

/**
 * Restricts an expression to the 15 signers with the highest average of this metric in the time range. `@ end()` selects the same ones at
 * each point of a graph. A subquery would have no sample in its first step.
 */
export function ofMostMissing(expr: string, metric: string): string {
  const average = `avg_over_time(${metric}{${FILTERS}, ${ORCHESTRATOR_MATCHER}}[$__range] @ end())`;
  return `${expr} and on (cluster, target, orchestrator, external_address) topk(15, max by (cluster, target, orchestrator, external_address) (${average}))`;
}

/** The value by orchestrator, for the selected orchestrators, with the labels `signer` and `watched`. */
export function latestBySigner(metric: string, ...matchers: readonly string[]): string {
  return withSigner(latestBy(['orchestrator', 'external_address'], metric, ...matchers));
}

function withSigner(expr: string): string {
  return `${expr} * on (cluster, target, orchestrator, external_address) group_left (signer, watched) ${signerInfo(ORCHESTRATOR_MATCHER, WATCHED_MATCHER)}`;
}

/** Hub blocks until each signer is jailed for an unsigned validator set or batch. */
export const blocksToJailing = `${withSigner(`min by (cluster, target, orchestrator, external_address) (${latestBy(['orchestrator', 'external_address', 'confirms'], 'bridge_orchestrator_confirm_deadline_height')})`)} - on (cluster, target) group_left () ${latest('bridge_height')}`;

export const secondsToJailing = `(${blocksToJailing}) * on (cluster, target) group_left () ${hubBlockSeconds}`;

/** The value by chain and these labels, for the selected chains. */
export function latestByChain(labels: readonly string[], metric: string, ...matchers: readonly string[]): string {
  return latestBy(['chain_id', 'chain', ...labels], metric, CHAIN_MATCHER, ...matchers);
}
