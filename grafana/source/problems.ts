import { subjectLabels } from '../../src/problems/problem.js';
import { CLUSTER, SEVERITIES, ALERT_FILTERS, FILTERS } from './queries.js';

/*
 * Queries for what is wrong: the problems that the exporter exports, and the alerts that fire, also those on the data itself. A problem younger
 * than ten minutes is left out until its alert fires: on a healthy bridge it ends before, such as a new batch without signatures.
 */

const LASTING_SECONDS = 600;

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
  const group = `group by (${[CLUSTER, 'target', ...labels].join(', ')})`;
  const firing = (severity: keyof typeof SEVERITIES): string =>
    `${group} (${alerts('ALERTS', ['alertstate="firing"', `severity="${SEVERITIES[severity]}"`, ...matchers])})`;
  const lasting = `${problems(['severity!="info"', ...matchers])} < time() - ${LASTING_SECONDS}`;
  return `3 * ${firing('critical')} or 2 * ${firing('warning')} or ${group} (${lasting})`;
}

/** The labels of a row: what is wrong, and what to do first, in the words of the exporter. */
const ROW = [CLUSTER, 'target', 'severity', 'problem', 'summary', 'action', 'id'];

/**
 * Since when each problem without a firing cause is there, once for all exporters of the target. The severity is `critical soon` or `warning soon` until
 * the alert fires. Alerts that Prometheus judges have no texts.
 */
export function problemStarts(...matchers: readonly string[]): string {
  const info = `bridge_problem_info{${[FILTERS, 'hidden_by=""', ...matchers].join(', ')}}`;
  const starts = `min by (${ROW.join(', ')}) (${problems(matchers)} * on (${CLUSTER}, namespace, job, instance, id) group_left (summary, action) ${info})`;
  const firing = `on (${CLUSTER}, id) ALERTS{${ALERT_FILTERS}, alertstate="firing"}`;
  const soon = `label_replace(${starts} < time() - ${LASTING_SECONDS} unless ${firing}, "severity", "$1 soon", "severity", "(critical|warning)")`;
  return `${starts} and ${firing} or ${soon}`;
}

/** Since when the alerts that Prometheus judges fire. */
export const exporterAlertStarts = `min by (${CLUSTER}, target, severity, problem) (label_replace(ALERTS_FOR_STATE{${ALERT_FILTERS}, alertname=~"BridgeExporter.+|BridgeEndpointNotPolled", problem=""} and ignoring (alertstate) ALERTS{alertstate="firing"}, "problem", "$1", "alertname", "(.+)"))`;

/** What a problem is about. */
const SUBJECT = [CLUSTER, 'target', 'problem', ...subjectLabels].join(', ');

/** In milliseconds: an annotation is drawn at this time. */
export const problemStartMs = `1000 * min by (severity, ${SUBJECT}) (${problems([])} < time() - ${LASTING_SECONDS})`;
