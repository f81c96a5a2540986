/*
 * Parts of the PromQL expressions of alerts. Joins use the labels of a target of one exporter; labels that are absent match each other.
 * Joins with `group_left` aggregate the other side, so that several copies of a series, such as those of two Prometheus replicas, are no
 * error.
 */

/** The labels of an exporter. */
export const EXPORTER = 'cluster, namespace, job, instance';
export const ON_EXPORTER = `on (${EXPORTER})`;
/** The labels of a target of one exporter. */
export const TARGET = `${EXPORTER}, target`;
export const ON_TARGET = `on (${TARGET})`;
/** The labels of a token of a target. */
export const TOKEN = `${TARGET}, token_contract`;
export const ON_TOKEN = `on (${TOKEN})`;
/** The labels of a member of the newest validator set. */
export const ORCHESTRATOR = `${TARGET}, orchestrator, external_address`;

const MINUTES_PER_HOUR = 60;

/** A number of minutes in PromQL: `45m`, `3h`, `1d`. */
export function promDuration(minutes: number): string {
  if (minutes > 0 && minutes % (24 * MINUTES_PER_HOUR) === 0) return `${minutes / (24 * MINUTES_PER_HOUR)}d`;
  return minutes > 0 && minutes % MINUTES_PER_HOUR === 0 ? `${minutes / MINUTES_PER_HOUR}h` : `${minutes}m`;
}

/**
 * The value now if it was the same at the beginning of the range. Requires data from then, so it is empty for the first samples after a
 * start, and a restart of the exporter in between does not reset it.
 */
export function unchanged(metric: string, minutes: number): string {
  return `${metric} == ${metric} offset ${promDuration(minutes)}`;
}

/** The endpoint that all exporters of a cluster have in common. */
export const ON_ENDPOINT = 'on (cluster, target, document)';

/** A series that other alerts read. */
export interface RecordingRule {
  readonly name: string;
  readonly expr: string;
}

export const orchestratorNames: RecordingRule = {
  name: 'orchestrator:bridge_orchestrator_info:name',
  // Exactly one name per orchestrator, also when replicas of Prometheus disagree: the current name, else the last one
  // of 2 hours, because a restarted exporter reads the names after its first polls.
  expr: `group by (${ORCHESTRATOR}, name, watched) (
  topk by (${ORCHESTRATOR}) (
    1,
    bridge_orchestrator_info{name!=""} + 2
    or last_over_time(bridge_orchestrator_info{name!=""}[2h]) + 1
    or bridge_orchestrator_info
  )
)`,
};

/** Leaves the watched orchestrators out. */
export const UNLESS_WATCHED = `unless on (${ORCHESTRATOR}) ${orchestratorNames.name}{watched="true"}`;

/** The watched orchestrators that an expression selects, with their names. */
export function watchedWithNames(expr: string): string {
  return `${parenthesized(expr)}
* on (${ORCHESTRATOR}) group_left (name, watched)
topk by (${ORCHESTRATOR}) (1, ${orchestratorNames.name}{watched="true"})`;
}

/** The power of the orchestrators that an expression selects and that are not watched, if it is this share at least. */
export function powerOfOthersAtLeast(ratio: number, expr: string): string {
  return `sum by (${TARGET}) (
  max by (${ORCHESTRATOR}) (bridge_orchestrator_power_ratio)
  and on (${ORCHESTRATOR}) (
${indent(expr, 4)}
  )
  ${UNLESS_WATCHED}
) >= ${ratio}`;
}

/** "1 batch" or "5 batches", in a text. */
export function countOfValue(one: string, several = `${one}s`): string {
  return `{{ $value }} {{ if eq $value 1.0 }}${one}{{ else }}${several}{{ end }}`;
}

/** The configured symbol of the token in the labels, followed by a space; empty without one. In texts. */
export const TOKEN_SYMBOL = `{{ range query (printf "topk(1, bridge_token_info{target=%q, token_contract=%q})" $labels.target $labels.token_contract) }}{{ .Labels.symbol }} {{ end }}`;

/** An expression in parentheses, on lines of its own. */
export function parenthesized(expr: string): string {
  return `(\n${indent(expr)}\n)`;
}

export function indent(text: string, spaces = 2): string {
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(spaces));
}
