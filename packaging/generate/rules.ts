import { readFileSync } from 'node:fs';
import { format } from 'prettier';
import { parse } from 'yaml';
import { exporterRules } from '../../src/problems/rules.js';
import { hides, hidings, urgentWarnings, type Hiding, type HidingAlert } from '../../src/problems/hiding.js';
import type { AgeKind } from '../../src/problems/sentence.js';
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
  return `${HEADER}\ngroups:\n${withAnchors(groups.join('\n'))}`;
}

/** The same for jsonnet, of which one implementation knows no anchors of YAML. */
export async function mixinAlerts(): Promise<string> {
  return format(JSON.stringify(parse(rulesYaml())), { parser: 'json', printWidth: 120 });
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
    `  labels: { ${Object.entries({ severity: rule.severity, ...rule.labels })
      .map(([name, value]) => `${name}: ${value}`)
      .join(', ')} }\n`,
    `  annotations:\n${Object.entries(annotationsOf(rule))
      .map(([name, text]) => `    ${name}: ${quoted(text)}\n`)
      .join('')}`,
  ].join('');
}

const PROBLEM = 'bridge_problem_info{id=%q,instance=%q,cluster=%q}';

/** A text of the problem, as on the pages of the exporter; a fixed one without `bridge_problem_info`. */
function ofProblem(label: 'summary' | 'action', fixed: string): string {
  return `{{ with printf "${PROBLEM}" $labels.id $labels.instance $labels.cluster | query }}{{ . | first | label "${label}" }}{{ else }}${fixed}{{ end }}`;
}

const AGE = '{{ $value | humanizeDuration }}';
const ages = {
  lasting: `for ${AGE}`,
  over: `over the limit for ${AGE}`,
  ago: `${AGE} ago`,
} as const satisfies Record<AgeKind, string>;

const summaryOf = (kind: AgeKind = 'lasting'): string =>
  `{{ $labels.target }}: ${ofProblem('summary', '{{ $labels.problem }}')}, ${ages[kind]}`;
const ACTION = ofProblem('action', 'See the runbook.');
const PENDING_URL = '/pending?target={{ $labels.target | urlquery }}#{{ $labels.id }}';

/** The annotations that rules share, by their anchor. */
const sharedTexts: Readonly<Record<string, string>> = {
  summary: summaryOf('lasting'),
  summary_over_limit: summaryOf('over'),
  summary_of_change: summaryOf('ago'),
  action: ACTION,
  pending_url: PENDING_URL,
};

/** Writes each shared text once, as an anchor of YAML. */
function withAnchors(yaml: string): string {
  return Object.entries(sharedTexts).reduce((text, [anchor, shared]) => {
    const [before = '', ...after] = text.split(quoted(shared));
    return after.length === 0 ? text : `${before}&${anchor} ${quoted(shared)}${after.join(`*${anchor}`)}`;
  }, yaml);
}

function annotationsOf({
  name,
  problem,
  summary = '',
  description,
  action = '',
  dashboard,
}: Rule): Record<string, string> {
  const isOfTarget = problem !== undefined || summary.includes('$labels.target');
  const texts = problem === undefined ? { summary, action } : { summary: summaryOf(problem.age), action: ACTION };
  return {
    ...texts,
    // Markdown is for docs/alerts.md.
    description: description.replaceAll('`', ''),
    runbook_url: `${RUNBOOK}#${name.toLowerCase()}`,
    dashboard_url: `/d/${dashboard}${isOfTarget ? '?var-target={{ $labels.target | urlquery }}' : ''}`,
    ...(problem && { pending_url: PENDING_URL }),
  };
}

function indent(text: string, spaces = 2): string {
  return text.replaceAll(/^(?=.)/gm, ' '.repeat(spaces));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

const TARGET = ['cluster', 'namespace', 'job', 'instance', 'target'];

/** prometheus/alertmanager.yml, whose route of urgent warnings and inhibitions are generated. */
export async function alertmanagerYaml(): Promise<string> {
  const file = readFileSync('prometheus/alertmanager.yml', 'utf8').replace(
    /(# Warnings that wake.*\n.*\n *matchers: ).*/,
    (_, route: string) => `${route}['alertname =~ "${urgentWarnings.join('|')}"', severity = warning]`,
  );
  const [, before, after] = /^([^]*\ninhibit_rules:\n)[^]*?(\nreceivers:\n[^]*)$/.exec(file) ?? [];
  return formatYaml(`${before}${indent(inhibitRules())}${after}`);
}

export function inhibitRules(): string {
  const gaps = findGaps();
  if (gaps.length > 0) throw new Error(`what hides what is not complete:\n${gaps.join('\n')}`);
  return Array.from(new Set(hidings.map(formatInhibition))).join('');
}

function formatInhibition({ source, target, equal, comment }: Hiding): string {
  const isOfCluster = source.names?.some((name) => clusterRules.has(name)) === true;
  const labels = [
    // Only alerts of one name, unless it names them.
    ...(source.names === undefined ? ['alertname'] : []),
    ...(isOfCluster ? ['cluster'] : TARGET),
    ...equal,
  ];
  return `${comment === undefined ? '' : `# ${comment}\n`}- source_matchers: ['${matchersOf(source).join("', '")}']
  target_matchers: ['${matchersOf(target).join("', '")}']
  equal: [${labels.join(', ')}]
`;
}

const clusterRules = new Set(exporterRules.filter(({ isOfCluster }) => isOfCluster).map(({ name }) => name));

function matchersOf({ names, exceptNames, severity, exceptSeverity, exceptWatched }: Hiding['source']): string[] {
  const nameMatcher = (list: readonly string[]): string =>
    list.length === 1 ? `alertname = ${list.join('')}` : `alertname =~ "${list.join('|')}"`;
  return [
    ...(names === undefined ? [] : [nameMatcher(names)]),
    ...(exceptNames ?? []).map((name) => `alertname != ${name}`),
    ...(severity === undefined ? [] : [`severity = ${severity}`]),
    ...(exceptSeverity === undefined ? [] : [`severity != ${exceptSeverity}`]),
    ...(exceptWatched === true ? ['watched != "true"'] : []),
  ];
}

/**
 * Pairs of which one hides the other over a third, but not itself, and pairs that hide each other: of alerts with equal
 * documents and subjects.
 */
export function findGaps(): readonly string[] {
  const gaps = [{}, { watched: 'true' }].flatMap((subject) => {
    const alerts = rules.flatMap(({ name, severity }): HidingAlert[] =>
      severity === 'none' ? [] : [{ alert: name, severity, document: '', subject }],
    );
    const findEffects = (cause: HidingAlert): readonly HidingAlert[] =>
      alerts.filter((other) => other !== cause && hides(cause, other));
    return alerts.flatMap((cause) =>
      findEffects(cause).flatMap((between) => gapsOver(cause, between, findEffects(between))),
    );
  });
  return Array.from(new Set(gaps));
}

function gapsOver(cause: HidingAlert, between: HidingAlert, effects: readonly HidingAlert[]): readonly string[] {
  const formatAlert = ({ alert, severity }: HidingAlert): string => `${alert} ${severity}`;
  return effects.flatMap((effect) => {
    if (effect === cause) return [`${formatAlert(cause)} and ${formatAlert(between)} hide each other`];
    if (hides(cause, effect)) return [];
    return [`${formatAlert(cause)} hides ${formatAlert(between)}, which hides ${formatAlert(effect)}`];
  });
}
