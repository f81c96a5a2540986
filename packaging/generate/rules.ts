import { readFileSync } from 'node:fs';
import { format } from 'prettier';
import { exporterRules } from '../../src/problems/exporter-rules.js';
import { subjectLabels, type Severity } from '../../src/problems/problem.js';
import { problems, warningsHidingCritical } from '../../src/problems/problems.js';
import { rules, type Rule } from '../../src/problems/rules.js';

/* The rules of Prometheus and the inhibitions of Alertmanager, from the declarations in src/problems. */

const RUNBOOK = 'https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md';

/** Mimir accepts no more by default. */
const MAX_RULES = 20;

const groupComments: Readonly<Record<string, string>> = {
  'bridge-exporter': 'The exporter, and whether its data is current.',
  bridge: 'The bridge.',
  contract: 'The contract on the external chain, where it is polled.',
  crosschain: 'Cross-chain transactions.',
  'bridge-watchdog':
    'Remove this group if your monitoring has such an alert already, such as `Watchdog` of kube-prometheus.',
};

const HEADER = `# Alerts of bridge-exporter. Requires Prometheus 2.42 or newer (keep_firing_for).
# Generated from src/problems by \`npm run generate\`; do not edit this copy in the repository.
# The exporter judges what is wrong and exports since when: a rule compares the age of a problem in seconds with a limit. The limit is 0 where
# the problem itself has one that varies, such as the age limit of a chain, or is a change: one odd poll is no problem. To change a limit, set
# \`problems\` in the configuration of the exporter to the same value, so that its pages agree. docs/alerts.md lists the
# alerts, docs/runbook.md describes diagnosis and mitigation.
# The critical and the warning alert of one name can fire together: prometheus/alertmanager.yml inhibits the warning.
# keep_firing_for bridges gaps in the data, such as a restart. pending_url is relative to the exporter and dashboard_url to Grafana.
# severity: critical alerts someone at any time, warning is for working hours, info is for the record, and none is a sign of life.
# pint file/disable rule/dependency
`;

export const alertsYaml = async (): Promise<string> => formatYaml(rulesYaml());

/** prometheus/alerts.yml before it is formatted, which takes half a second. */
export function rulesYaml(): string {
  const names = Array.from(new Set(rules.map(({ group }) => group)));
  const groups = names.flatMap((name) => {
    const own = rules.filter(({ group }) => group === name);
    const parts = Array.from({ length: Math.ceil(own.length / MAX_RULES) }, (_, part) =>
      own.slice(part * MAX_RULES, (part + 1) * MAX_RULES),
    );
    return parts.map((part, index) => formatGroup(index === 0 ? name : `${name}-${index + 1}`, name, part));
  });
  return `${HEADER}\ngroups:\n${groups.join('\n')}`;
}

async function formatYaml(text: string): Promise<string> {
  return format(text, { parser: 'yaml', printWidth: 120, singleQuote: true });
}

function formatGroup(name: string, group: string, own: readonly Rule[]): string {
  const formatted = own.map((rule) => indent(formatRule(rule), 6)).join('');
  return `  # ${groupComments[group]}\n  - name: ${name}\n    rules:\n${formatted}`;
}

function formatRule(rule: Rule): string {
  return [
    `${rule.name === 'BridgeWatchdog' ? '# pint disable alerts/comparison\n' : ''}- alert: ${rule.name}\n`,
    rule.expr.includes('\n') ? `  expr: |\n${indent(rule.expr, 4)}\n` : `  expr: ${rule.expr}\n`,
    rule.forMinutes === 0 ? '' : `  for: ${rule.forMinutes}m\n`,
    rule.keepFiringMinutes === 0 ? '' : `  keep_firing_for: ${rule.keepFiringMinutes}m\n`,
    `  labels:\n${Object.entries({ severity: rule.severity, ...rule.labels })
      .map(([name, value]) => `    ${name}: ${value}\n`)
      .join('')}`,
    `  annotations:\n${Object.entries(annotationsOf(rule))
      .map(([name, text]) => `    ${name}: ${quoted(text)}\n`)
      .join('')}`,
  ].join('');
}

function annotationsOf(rule: Rule): Record<string, string> {
  const variables = rule.summary.includes('$labels.target') ? '?var-target={{ $labels.target | urlquery }}' : '';
  return {
    summary: rule.summary,
    // Markdown is for docs/alerts.md.
    description: rule.description.replaceAll('`', ''),
    action: rule.action,
    runbook_url: `${RUNBOOK}#${rule.name.toLowerCase()}`,
    dashboard_url: `/d/${rule.dashboard}${variables}`,
    ...(rule.linksToPending && { pending_url: '/pending?target={{ $labels.target | urlquery }}' }),
  };
}

function indent(text: string, spaces = 2): string {
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(spaces));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

const TARGET = ['cluster', 'namespace', 'job', 'instance', 'target'];

/** prometheus/alertmanager.yml, whose inhibitions are generated. */
export async function alertmanagerYaml(): Promise<string> {
  const file = readFileSync('prometheus/alertmanager.yml', 'utf8');
  const [, before, after] = /^([^]*\ninhibit_rules:\n)[^]*?(\nreceivers:\n[^]*)$/.exec(file) ?? [];
  return formatYaml(`${before}${indent(inhibitRules())}${after}`);
}

export function inhibitRules(): string {
  const causes = (of: Severity): readonly string[] => [
    ...exporterRules.filter((own) => own.inhibitsDocument && own.severity === of).map(({ name }) => name),
    ...problems.filter((own) => own.inhibitsDocument && own.severity === of).map(({ name }) => name),
  ];
  const ofDocument = Array.from(new Set(problems.filter((own) => !own.inhibitsDocument).map(({ name }) => name)));
  const ofProblems = problems.flatMap((source) =>
    source.inhibits.map(({ problem, severity, equal = [], exceptWatched = false }) => {
      // The other severity of the problem does not inhibit it.
      const isLimited = problems.some(
        (own) =>
          own.name === source.name &&
          own.severity !== source.severity &&
          !own.inhibits.some((other) => other.problem === problem && other.severity === severity),
      );
      const sources = [`alertname = ${source.name}`, ...(isLimited ? [`severity = ${source.severity}`] : [])];
      const targets = [
        `alertname = ${problem}`,
        ...(severity === undefined ? [] : [`severity = ${severity}`]),
        ...(exceptWatched ? ['watched != "true"'] : []),
      ];
      return formatInhibition(sources, targets, [...TARGET, ...equal]);
    }),
  );
  const ofExporter = exporterRules.flatMap((source) =>
    source.inhibits.map(({ problem, equal }) =>
      formatInhibition([`alertname = ${source.name}`], [`alertname = ${problem}`], ['cluster', ...equal]),
    ),
  );
  const hiding = (severity: Severity, names: readonly string[], target: readonly string[]): string =>
    formatInhibition(
      [`alertname =~ "${Array.from(new Set(causes(severity))).join('|')}"`, `severity = ${severity}`],
      [`alertname =~ "${names.join('|')}"`, ...target],
      [...TARGET, 'document'],
    );
  const hiddenByWarnings = ofDocument.filter((name) => !warningsHidingCritical.has(name));
  return [
    '# Nothing else that a document shows is current while it is stale or stalled.\n',
    hiding('critical', ofDocument, []),
    '# A warning hides no critical alert, but CrosschainOutboundDisabled those that only repeat it; so no other warning hides that one.\n',
    hiding('warning', hiddenByWarnings, ['severity != critical']),
    '# A critical alert inhibits the warning for the same subject.\n',
    formatInhibition(
      ['severity = critical'],
      ['severity = warning'],
      ['alertname', ...TARGET, 'document', 'problem', ...subjectLabels],
    ),
    ...new Set([...ofExporter, ...ofProblems]),
  ].join('');
}

function formatInhibition(sources: readonly string[], targets: readonly string[], equal: readonly string[]): string {
  return `- source_matchers: ['${sources.join("', '")}']
  target_matchers: ['${targets.join("', '")}']
  equal: [${equal.join(', ')}]
`;
}
