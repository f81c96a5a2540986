import { format } from 'prettier';
import type { Alert, Inhibition, Severity } from '../../src/alerts/alert.js';
import { alerts } from '../../src/alerts/alerts.js';
import { SUBJECT_LABELS } from '../../src/alerts/judge.js';
import { indent, promDuration, TARGET, type RecordingRule } from '../../src/alerts/promql.js';

/* The files that are generated from the declarations in src/alerts. */

const RUNBOOK = 'https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md';

/** Mimir accepts no more by default. */
const MAX_RULES = 20;

interface Group {
  readonly name: string;
  readonly alerts: readonly Alert[];
  readonly recordings: readonly RecordingRule[];
  /** From 2 on for the parts of a group that would have too many rules. */
  readonly part: number;
}

const groupComments: Readonly<Record<string, string>> = {
  'bridge-exporter': 'The exporter, and whether its data is current.',
  bridge: 'The bridge.',
  contract: 'The contract on the external chain, where it is polled.',
  crosschain: 'Cross-chain transactions.',
  'bridge-watchdog':
    'Remove this group if your monitoring has such an alert already, such as `Watchdog` of kube-prometheus.',
};

function recordingsOf(own: readonly Alert[]): RecordingRule[] {
  const byName = new Map(own.flatMap(({ recordings }) => recordings.map((rule) => [rule.name, rule] as const)));
  return Array.from(byName.values());
}

/** Splits a group with too many rules. Each part has the recording rules that it reads. */
function groupsOf(name: string): Group[] {
  const parts: Alert[][] = [[]];
  for (const alert of alerts.filter(({ group }) => group === name)) {
    const grown = [...(parts.at(-1) ?? []), alert];
    if (grown.length + recordingsOf(grown).length <= MAX_RULES) parts[parts.length - 1] = grown;
    else parts.push([alert]);
  }
  return parts.map((own, index) => ({
    name: index === 0 ? name : `${name}-${index + 1}`,
    alerts: own,
    recordings: recordingsOf(own),
    part: index + 1,
  }));
}

const HEADER = `# Alerts of bridge-exporter. Requires Prometheus 2.42 or newer (keep_firing_for).
# Generated from src/alerts by \`npm test -- -u\`; do not edit this copy in the repository.
#
# docs/alerts.md lists the alerts and describes how to adapt them, docs/runbook.md describes diagnosis and mitigation.
#
# - Joins use \`on (cluster, namespace, job, instance, target)\`. Labels that are absent match each other. Joins with \`group_left\` aggregate
#   the other side, so that several copies of a series, such as those of two Prometheus replicas, are no error.
# - "Unchanged for an hour" is \`x == x offset 1h\`: it does not fire on the first samples, and a restart in between does not reset it.
# - \`for\` tolerates short failures. \`keep_firing_for\` bridges gaps in the data, such as a restart; when the data stays away, another alert
#   fires before it ends.
# - \`unless … target:…:outdated\` suspends alerts on data that is not current. Without the recording rule they still fire.
# - A recording rule is in the group of the alerts that read it. A group that is split in parts (Mimir accepts 20 rules in a group) has a copy
#   in each part, with the label \`part\`.
# - pending_url is relative to the exporter and dashboard_url to Grafana.
# - severity: critical alerts someone at any time, warning is for working hours, info is for the record.
#
# pint file/disable rule/dependency
`;

/** prometheus/alerts.yml. */
export async function rulesFile(): Promise<string> {
  const names = Array.from(new Set(alerts.map(({ group }) => group)));
  const groups = names.flatMap(groupsOf).map(formatGroup);
  return format(`${HEADER}\ngroups:\n${groups.join('\n')}`, { parser: 'yaml', printWidth: 120, singleQuote: true });
}

function formatGroup({ name, alerts: own, recordings, part }: Group): string {
  const comment = groupComments[name.replace(/-\d+$/, '')] ?? '';
  const rules = [...recordings.map((rule) => formatRecording(rule, part)), ...own.map(formatAlert)];
  return `${indent(commentOf(comment))}  - name: ${name}\n    rules:\n${rules.map((rule) => indent(rule, 6)).join('\n')}`;
}

function formatRecording({ name, expr }: RecordingRule, part: number): string {
  const labels = part === 1 ? '' : `  labels:\n    part: '${part}'\n`;
  return `- record: ${name}\n${exprOf(expr)}${labels}`;
}

function formatAlert(alert: Alert): string {
  const labels: Readonly<Record<string, string>> = { severity: alert.severity, ...alert.labels };
  return [
    `${alert.name === 'BridgeWatchdog' ? '# pint disable alerts/comparison\n' : ''}- alert: ${alert.name}\n${exprOf(alert.expr)}`,
    alert.forMinutes === 0 ? '' : `  for: ${promDuration(alert.forMinutes)}\n`,
    alert.keepFiringMinutes === 0 ? '' : `  keep_firing_for: ${promDuration(alert.keepFiringMinutes)}\n`,
    `  labels:\n${Object.entries(labels)
      // Unquoted, `false` is a boolean.
      .map(([name, value]) => `    ${name}: ${value === 'false' ? `'${value}'` : value}\n`)
      .join('')}`,
    `  annotations:\n${Object.entries(annotationsOf(alert))
      .map(([name, text]) => `    ${name}: ${quoted(text)}\n`)
      .join('')}`,
  ].join('');
}

function annotationsOf(alert: Alert): Record<string, string> {
  const aboutTarget = alert.summary.includes('$labels.target');
  const variables = aboutTarget ? '?var-target={{ $labels.target | urlquery }}' : '';
  return {
    summary: alert.summary,
    // Markdown is for docs/alerts.md.
    description: alert.description.replaceAll('`', ''),
    action: alert.action,
    runbook_url: `${RUNBOOK}#${alert.name.toLowerCase()}`,
    dashboard_url: `/d/${alert.dashboard}${variables}`,
    ...(alert.linksToPending && { pending_url: '/pending?target={{ $labels.target | urlquery }}' }),
  };
}

function commentOf(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '# ') + (text === '' ? '' : '\n');
}

function exprOf(expr: string): string {
  return expr.includes('\n') ? `  expr: |\n${indent(expr, 4)}\n` : `  expr: ${expr}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The rules below `inhibit_rules:` in prometheus/alertmanager.yml. */
export async function inhibitRules(): Promise<string> {
  const targetLabels = TARGET.split(', ');
  const dataSources = (of: Severity): string =>
    alerts
      .filter(({ inhibitsData, severity }) => inhibitsData && severity === of)
      .map(({ name }) => name)
      .join('|');
  const notOnData = alerts.filter(({ group }) => group === 'bridge-exporter').map(({ name }) => name);
  const declared = alerts.flatMap((source) =>
    source.inhibits.map((inhibition) => formatInhibition(source, inhibition)),
  );
  return [
    `# Alerts on the data of an endpoint are inhibited while the endpoint is stale or stalled. Alerts on the endpoint itself are not.
- source_matchers:
    - alertname =~ "${dataSources('critical')}"
    - severity = critical
  target_matchers:
    - alertname !~ "${Array.from(new Set(notOnData)).join('|')}"
    - document != ""
  equal: [${[...targetLabels, 'document'].join(', ')}]
# While it is down, or another exporter has a current copy, critical alerts are not: a warning inhibits no critical alert.
- source_matchers:
    - alertname =~ "${dataSources('warning')}"
    - severity = warning
  target_matchers:
    - alertname !~ "${Array.from(new Set(notOnData)).join('|')}"
    - document != ""
    - severity != critical
  equal: [${[...targetLabels, 'document'].join(', ')}]
# A critical alert inhibits the warning for the same subject.
- source_matchers: [severity = critical]
  target_matchers: [severity = warning]
  equal:
${['alertname', ...targetLabels, 'document', ...SUBJECT_LABELS].map((label) => `    - ${label}`).join('\n')}
`,
    ...new Set(declared),
  ].join('');
}

function formatInhibition(
  { name, severity, condition }: Alert,
  { alert, severity: of, labels: ofRule = {}, equal = [] }: Inhibition,
): string {
  // The other severity of the alert does not inhibit it.
  const isLimited = alerts.some(
    (own) => own.name === name && own.severity !== severity && !own.inhibits.some((other) => other.alert === alert),
  );
  const sources = [`alertname = ${name}`, ...(isLimited ? [`severity = ${severity}`] : [])];
  const targets = [
    `alertname = ${alert}`,
    ...(of === undefined ? [] : [`severity = ${of}`]),
    ...Object.entries(ofRule).map(([label, value]) => `${label} = "${value}"`),
  ];
  // An alert that no running exporter can judge may be about all exporters of the cluster.
  const labels = condition === undefined ? ['cluster', ...equal] : [...TARGET.split(', '), ...equal];
  return `- source_matchers: [${sources.join(', ')}]
  target_matchers: [${targets.join(', ')}]
  equal: [${labels.join(', ')}]
`;
}
