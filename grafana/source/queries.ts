import { subjectLabels } from '../../src/problems/problem.js';

/*
 * PromQL expressions that several panels share. They aggregate over all exporters that poll a target, so that replicas
 * neither count twice nor break a vector match. Targets of different clusters can have the same name.
 */

/** Selects the exporters. `All` matches series without the labels cluster and namespace. */
export const EXPORTER_FILTERS = 'cluster=~"$cluster", namespace=~"$namespace", job=~"$job", instance=~"$instance"';

export const FILTERS = `${EXPORTER_FILTERS}, target=~"$target"`;

/** When each problem began. */
const PROBLEM_STARTS = 'bridge_problem_start_timestamp_seconds';

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

/** The tokens whose fees reach `min_batch_fee`. */
export const payingTokens = `(${latestBy(['token_contract'], 'bridge_token_top_batch_fees')} >= on (cluster, target, token_contract) ${latestBy(['token_contract'], 'bridge_token_min_batch_fee')})`;

/** Of live batches and of queues that pay for one; absent when nothing is due. */
export const oldestDueSeconds = `time() - min by (cluster, target) (bridge_oldest_due_transfer_timestamp_seconds{${FILTERS}})`;

export const oldestCctxAge = `time() - min by (cluster, target) (crosschain_oldest_cctx_created_timestamp_seconds{${FILTERS}, list="pending"})`;

/** Whether the oldest pending transaction of a chain is too old: 1 as a warning, 2 also as a critical problem. */
export function tooOldByChain(...matchers: readonly string[]): string {
  const starts = latestBy(
    ['chain_id', 'severity'],
    PROBLEM_STARTS,
    'problem="CrosschainOldestPendingTooOld"',
    ...matchers,
  );
  const chains = latestBy(['chain_id', 'chain'], 'crosschain_age_limit_seconds', ...matchers);
  return `0 * ${chains} + on (cluster, target, chain_id) group_left () count by (cluster, target, chain_id) (${starts}) or 0 * ${chains}`;
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

/** Hub blocks until each signer is jailed for an unsigned validator set or batch, which the label `confirms` tells apart. */
export function blocksToJailing(...matchers: readonly string[]): string {
  const deadlines = latestBy(
    ['orchestrator', 'external_address', 'confirms'],
    'bridge_orchestrator_confirm_deadline_height',
    ...matchers,
  );
  return `${withSigner(deadlines)} - on (cluster, target) group_left () ${latest('bridge_height')}`;
}

export function secondsToJailing(...matchers: readonly string[]): string {
  return `(${blocksToJailing(...matchers)}) * on (cluster, target) group_left () ${hubBlockSeconds}`;
}

/** The value by chain and these labels, for the selected chains. */
export function latestByChain(labels: readonly string[], metric: string, ...matchers: readonly string[]): string {
  return latestBy(['chain_id', 'chain', ...labels], metric, CHAIN_MATCHER, ...matchers);
}

/** What a problem is about. */
export const PROBLEM = ['problem', ...subjectLabels] as const;

/** The worst severity: 1 info, 2 warning, 3 critical. */
function worstSeverity(labels: readonly string[], metric: string, ...matchers: readonly string[]): string {
  const by = ['cluster', 'target', ...labels].join(', ');
  const ofSeverity = (severity: string): string =>
    `group by (${by}) (${metric}{${[FILTERS, ...matchers, `severity="${severity}"`].join(', ')}})`;
  return `3 * ${ofSeverity('critical')} or 2 * ${ofSeverity('warning')} or ${ofSeverity('info')}`;
}

/** Of the problems whose alert fires. */
function firingSeverity(labels: readonly string[], ...matchers: readonly string[]): string {
  return worstSeverity(
    labels,
    'ALERTS',
    'alertstate="firing"',
    'problem!=""',
    'alertname!="BridgeProblemUnjudged"',
    ...matchers,
  );
}

/** The worst severity of each problem, and 10 more when its alert fires. */
export function problemSeverity(labels: readonly string[], ...matchers: readonly string[]): string {
  return `10 + (${firingSeverity(labels, ...matchers)}) or ${worstSeverity(labels, PROBLEM_STARTS, ...matchers)}`;
}

/** The age of each problem of either severity. */
export function problemAge(...matchers: readonly string[]): string {
  const by = ['cluster', 'target', ...PROBLEM].join(', ');
  return `time() - min by (${by}) (${PROBLEM_STARTS}{${[FILTERS, ...matchers].join(', ')}})`;
}

/** On a healthy bridge, problems whose alert does not fire end before, such as a new batch without signatures. */
const LASTING_SECONDS = 600;

/** When problems began that last, in milliseconds: an annotation is drawn at this time. */
export const problemStartMs = `1000 * min by (cluster, target, severity, ${PROBLEM.join(', ')}) (${PROBLEM_STARTS}{${FILTERS}} < time() - ${LASTING_SECONDS})`;

/** Without problems that do not last, unless their alert fires. */
export function lasting(expr: string, ...matchers: readonly string[]): string {
  return `(${expr}) and (${firingSeverity(PROBLEM, ...matchers)} or ${problemAge(...matchers)} > ${LASTING_SECONDS})`;
}
