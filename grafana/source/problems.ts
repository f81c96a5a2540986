import { subjectLabels } from '../../src/problems/problem.js';
import { FILTERS } from './queries.js';

/*
 * Queries for what is wrong: the problems that the exporter exports, and the alerts that fire, also those on the data itself. A problem younger
 * than ten minutes is left out until its alert fires: on a healthy bridge it ends before, such as a new batch without signatures.
 */

const LASTING_SECONDS = 600;

/** What a problem is about. */
const SUBJECT = ['cluster', 'target', 'problem', ...subjectLabels].join(', ');

function problems(matchers: readonly string[]): string {
  return `bridge_problem_start_timestamp_seconds{${[FILTERS, ...matchers].join(', ')}}`;
}

/** With the name of the alert as that of the problem, which those on funds and on the data have not. */
function alerts(metric: string, matchers: readonly string[]): string {
  const own = matchers.map((matcher) => matcher.replace(/^problem/, 'alertname'));
  const selected = [FILTERS, 'alertname=~"(Bridge|Crosschain).+"', ...own].join(', ');
  return `label_replace(${metric}{${selected}}, "problem", "$1", "alertname", "(.+)")`;
}

/** 3 and 2 for critical alerts and warnings that fire, 1 for problems that last and whose alert does not fire yet. */
export function worst(labels: readonly string[], ...matchers: readonly string[]): string {
  const group = `group by (${['cluster', 'target', ...labels].join(', ')})`;
  const firing = (severity: string): string =>
    `${group} (${alerts('ALERTS', ['alertstate="firing"', `severity="${severity}"`, ...matchers])})`;
  const lasting = `${problems(['severity!="info"', ...matchers])} < time() - ${LASTING_SECONDS}`;
  return `3 * ${firing('critical')} or 2 * ${firing('warning')} or ${group} (${lasting})`;
}

/** Since when each problem is there, by severity, which is `critical soon` or `warning soon` until the alert fires; no warning beside its critical form. */
export function problemStarts(...matchers: readonly string[]): string {
  const labels = `severity, ${SUBJECT}`;
  const starts = `min by (${labels}) (${problems(matchers)})`;
  const alertStarts = `min by (${labels}) (${alerts('ALERTS_FOR_STATE', matchers)})`;
  const firing = `group by (${labels}) (${alerts('ALERTS', ['alertstate="firing"', ...matchers])})`;
  const soon = `${starts} < time() - ${LASTING_SECONDS} unless ${firing}`;
  const all = `(${starts} or ${alertStarts}) and ${firing} or label_replace(${soon}, "severity", "$1 soon", "severity", "(critical|warning)")`;
  const critical = `group by (${SUBJECT}) (${alerts('ALERTS', ['alertstate="firing"', 'severity="critical"', ...matchers])})`;
  return `(${all}) unless on (${labels}) label_replace(${critical}, "severity", "warning", "", "")`;
}

/** In milliseconds: an annotation is drawn at this time. */
export const problemStartMs = `1000 * min by (severity, ${SUBJECT}) (${problems([])} < time() - ${LASTING_SECONDS})`;

/** Adds the label `about`: the symbol, chain or name of what the problem is about, or its ids. */
export function withSubject(expr: string): string {
  const names = [
    ['token_contract', 'symbol', 'bridge_token_info'],
    ['chain_id', 'chain', 'crosschain_age_limit_seconds'],
    ['orchestrator', 'name', 'bridge_orchestrator_info'],
  ].map(([id, name, metric]) => {
    const info = `group by (cluster, target, ${id}, ${name}) (${metric}{${FILTERS}, ${name}!=""})`;
    const ofSubject = `group by (${SUBJECT}) (${problems([])}) * on (cluster, target, ${id}) group_left (${name}) topk by (cluster, target, ${id}) (1, ${info})`;
    return `label_replace(${ofSubject}, "about", "$1", "${name}", "(.+)")`;
  });
  const named = `(${expr}) * on (${SUBJECT}) group_left (about) (${names.join(' or ')})`;
  const ids = `label_join(${expr}, "about", " ", "kind", "token_contract", "chain_id", "orchestrator", "address")`;
  const about = `label_replace(label_replace(${ids}, "about", "$1", "about", " *(.*?) *"), "about", "other validators", "watched", "false")`;
  return `min by (severity, cluster, target, problem, about) (${named} or on (severity, ${SUBJECT}) ${about})`;
}
