import { OUTDATED_SECONDS } from '../../src/problems/polls.js';
import { BEHIND_SECONDS as NODE_BEHIND_SECONDS } from '../../src/queries/node-status.js';

/*
 * PromQL expressions that several panels share. They aggregate over all exporters that poll a target, so that replicas neither count twice nor
 * break a vector match. Targets of different clusters can have the same name.
 */

/** The label that distinguishes clusters, and matchers of all series, each with a comma after it: placeholders of the mixin and of the chart. */
export const CLUSTER = '%(clusterLabel)s';
export const SELECTOR = '%(selector)s';
/** The severity of firing alerts. */
export const SEVERITIES = { critical: '%(critical)s', warning: '%(warning)s' } as const;

/** Replaces them as the defaults in mixin/config.libsonnet. */
export function fillDefaults(text: string): string {
  return text
    .replaceAll(CLUSTER, 'cluster')
    .replaceAll(SELECTOR, '')
    .replaceAll(SEVERITIES.critical, 'critical')
    .replaceAll(SEVERITIES.warning, 'warning');
}

/** Selects the exporters. `All` matches series without the labels cluster and namespace. */
export const EXPORTER_FILTERS = `${SELECTOR}${CLUSTER}=~"$cluster", namespace=~"$namespace", job=~"$job", instance=~"$instance"`;
export const FILTERS = `${EXPORTER_FILTERS}, target=~"$target"`;

/** Selects alerts. Some are about no target or exporter, so absent labels always match. */
export const ALERT_FILTERS = `${CLUSTER}=~"$cluster|", namespace=~"$namespace|", job=~"$job|", instance=~"$instance|", target=~"$target|"`;

/** The labels of the result besides those of a target, and which series. */
export interface Selection {
  readonly by?: readonly string[];
  readonly where?: readonly string[];
  /** Also series that have ended within this time, with their last value. */
  readonly within?: string;
}

const labelsBy = (by: readonly string[]): string => [CLUSTER, 'target', ...by].join(', ');
const selector = (metric: string, where: readonly string[]): string => `${metric}{${[FILTERS, ...where].join(', ')}}`;

export function latest(metric: string, { by = [], where = [], within }: Selection = {}): string {
  const series = selector(metric, where);
  return `max by (${labelsBy(by)}) (${within === undefined ? series : `last_over_time(${series}[${within}])`})`;
}

export function lowest(metric: string, { by = [], where = [] }: Selection = {}): string {
  return `min by (${labelsBy(by)}) (${selector(metric, where)})`;
}

/** The time since the earliest of these points in time. */
export function ageOf(metric: string, selection?: Selection): string {
  return `time() - ${lowest(metric, selection)}`;
}

/** The change of a gauge. Nonces can decrease, so `increase` does not apply. */
export function changeOf(metric: string, window: string, { by = [], where = [] }: Selection = {}): string {
  return `max by (${labelsBy(by)}) (delta(${selector(metric, where)}[${window}]))`;
}

/** The increase of a counter. */
export function increaseOf(metric: string, window: string, { by = [], where = [] }: Selection = {}): string {
  return `max by (${labelsBy(by)}) (increase(${selector(metric, where)}[${window}]))`;
}

export function sumBy(by: readonly string[], expr: string): string {
  return `sum by (${labelsBy(by)}) (${expr})`;
}

/** The right side is of the target or the token, and the left one has more labels. */
export const perToken = (left: string, operator: string, right: string): string =>
  `(${left}) ${operator} on (${CLUSTER}, target, token_contract) group_left () (${right})`;

/** Adds the label `symbol`: the configured symbol of the token, or its shortened contract. */
export function withSymbol(expr: string): string {
  const symbol = `topk by (${CLUSTER}, target, token_contract) (1, ${latest('bridge_token_info', { by: ['token_contract', 'symbol'] })})`;
  const withContract = `label_replace(${expr}, "symbol", "$1…$2", "token_contract", "(.{0,6}).*?(.{0,4})")`;
  return `(${expr}) * on (${CLUSTER}, target, token_contract) group_left (symbol) ${symbol} or on (${CLUSTER}, target, token_contract) ${withContract}`;
}

export const CHAIN = ['chain_id', 'chain'] as const;

/** Without targets whose last successful poll is too old: the values of it stay until `stale_after`. */
export function ofCurrentData(expr: string, document: string): string {
  const age = ageOf('bridge_exporter_last_success_timestamp_seconds', { where: [`document="${document}"`] });
  return `(${expr}) unless on (${CLUSTER}, target) ${age} > ${OUTDATED_SECONDS}`;
}

/** The expression with 0 for the rows of `known` that it lacks: tables show a dash only for values that are not known. */
export const orZero = (expr: string, on: readonly string[], known: string): string =>
  `${expr} or on (${labelsBy(on)}) 0 * (${known})`;

/** The same with -1, for expressions of which 0 is a value. */
export const orNothing = (expr: string, on: readonly string[], known: string): string =>
  `${orZero(expr, on, known)} - 1`;

/** Without a hub whose node is behind: what it says is as old. */
export function ofCurrentNode(expr: string): string {
  const node = { where: ['document="module_state"'] };
  const old = `time() - ${latest('bridge_node_block_timestamp_seconds', node)} > ${NODE_BEHIND_SECONDS}`;
  return ofCurrentData(`(${expr}) unless on (${CLUSTER}, target) ${old}`, 'module_state');
}
