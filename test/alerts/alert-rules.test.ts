import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { families } from '../../src/exposition/metrics-page.js';
import { ENDPOINT_LABELS, pollFamilies } from '../../src/exposition/poll-metrics.js';
import { createProcessMetrics } from '../../src/exposition/process-metrics.js';
import { clock } from '../../src/clock.js';
import type { Alert } from '../../src/alerts/alert.js';
import { alerts } from '../../src/alerts/alerts.js';
import { identityLabels } from '../../src/alerts/poll-history.js';
import { alertRules, ruleGroups, rules, type Rule } from '../support/alert-rules.js';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { hasTool, runTool } from '../support/tools.js';
import { incidents, type AlertKey } from './incidents.js';
import { metricNamesIn, NEWEST_PROMTOOL, RULES } from './promtool.js';

const hasPromtool = hasTool('promtool');
const hasNewestPromtool = hasTool(NEWEST_PROMTOOL);
const hasAmtool = hasTool('amtool');
const hasPint = hasTool('pint', ['version']);

const runbook = readProjectFile('docs/runbook.md');
const ALERTMANAGER_CONFIG = projectPath('prometheus/alertmanager.yml');
const RUNBOOK_URL = 'https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md';

/** The alert names on which users may rely: alerts may be added, but not renamed. */
const STABLE_ALERTS =
  `BridgeExporterAbsent BridgeEndpointNotPolled BridgeEndpointDown BridgeSnapshotStale BridgeEndpointMisconfigured
BridgeResponseNearLimit BridgeHeightStalled CrosschainHeightStalled BridgeBacklogHigh BridgeBacklogStuck
BridgeBatchTimeoutNear BridgeBatchOverdue BridgeBatchUnsigned BridgeValsetUnsigned BridgeValsetDrift BridgeOracleStalled
BridgeConflictingClaims BridgeOrchestratorMissingConfirms BridgeOrchestratorDeadlineNear BridgeOrchestratorMissingVotes
BridgeWatchedValidatorInactive BridgeParamsChanged BridgeBlacklistChanged CrosschainBacklogHigh CrosschainBacklogStuck CrosschainCctxsMissed
CrosschainFreezeNear CrosschainOldestPendingTooOld CrosschainPendingListTruncated CrosschainRateLimitNear CrosschainRateLimitExceeded
BridgeExporterInvalidValues BridgeExporterSeriesDropped BridgeExporterShardMissing BridgeExporterConfigReloadFailed BridgeStateRolledBack
BridgeWatchdog`.split(/\s+/);

const dashboardFiles = readdirSync(projectPath('grafana/dashboards')).filter((file) => file.endsWith('.json'));
const dashboardUids = dashboardFiles.map(
  (file) => (JSON.parse(readProjectFile(`grafana/dashboards/${file}`)) as { readonly uid: string }).uid,
);

const severityOf = (rule: Rule): string => rule.labels?.['severity'] ?? '';

describe('prometheus/alerts.yml', () => {
  it('has all stable alerts', () => {
    const names = new Set(alertRules.map(({ alert }) => alert));
    expect(STABLE_ALERTS.filter((name) => !names.has(name))).toEqual([]);
  });

  it.each(alertRules.map((rule) => [rule.alert, severityOf(rule), rule] as const))(
    'has a severity, a summary, a description, a runbook and a dashboard for %s (%s)',
    (alert, severity, rule) => {
      expect(['critical', 'warning', 'info', ...(alert === 'BridgeWatchdog' ? ['none'] : [])]).toContain(severity);
      const {
        summary,
        description,
        action,
        runbook_url: url,
        dashboard_url: dashboard,
        pending_url,
        ...others
      } = rule.annotations ?? {};
      expect(others).toEqual({});
      expect([undefined, '/pending?target={{ $labels.target | urlquery }}']).toContain(pending_url);
      expect(action).toMatch(/\.(?:\{\{ end \}\})?$/);
      expect(summary).toMatch(/\.$/);
      expect(description).toMatch(/\.(?:\{\{ end \}\})?$/);
      expect(url).toBe(`${RUNBOOK_URL}#${alert.toLowerCase()}`);
      const [, uid, variables] =
        /^\/d\/([\w-]+)(\?var-target=\{\{ \$labels\.target \| urlquery \}\})?$/.exec(dashboard ?? '') ?? [];
      expect(dashboardUids).toContain(uid);
      // All alerts but these concern a target, which the texts have to name.
      const ofExporter = [
        'BridgeExporterAbsent',
        'BridgeExporterShardMissing',
        'BridgeExporterConfigReloadFailed',
        'BridgeExporterRecorderFailing',
      ];
      const target = ['BridgeWatchdog', ...ofExporter].includes(alert) ? '' : '{{ $labels.target }}';
      expect(variables === undefined).toBe(target === '');
      expect(summary).toContain(target);
      expect(description).toContain(target);
    },
  );

  it('explains every threshold in a comment above its alert, and reads none from a series', () => {
    const text = readProjectFile('prometheus/alerts.yml');
    const blocks = text.split(/\n(?= {6}- (?:alert|record): )/);
    const isExplained = (index: number): boolean => /\n {6}# [^\n]+$/.test(blocks[index - 1] ?? '');
    const unexplained = blocks.filter((block, index) => {
      const numbers = block.match(/(?<=[<>*]=? (?:bool )?)\d[\d.]*(?=[ )\n])/g) ?? [];
      // 0 to 3 mean none, some or few.
      return numbers.some((number) => ![0, 1, 2, 3].includes(Number(number))) && !isExplained(index);
    });
    expect(unexplained).toEqual([]);
    expect(text).not.toContain('scalar(');
  });

  it('reads every recording rule in its own group, and no other', () => {
    for (const { name: group, rules: rulesOfGroup } of ruleGroups) {
      const read = new Set(
        rulesOfGroup.flatMap(({ expr, annotations }) =>
          metricNamesIn([String(expr), ...Object.values(annotations ?? {})].join(' ')),
        ),
      );
      const readRecordings = [...read].filter((name) => name.includes(':'));
      const recorded = rulesOfGroup.flatMap(({ record }) => record ?? []);
      expect(readRecordings.toSorted(), group).toEqual(recorded.toSorted());
    }
  });

  it('has no group with more than the 20 rules that Mimir accepts', () => {
    for (const group of ruleGroups) expect(group.rules.length, group.name).toBeLessThanOrEqual(20);
  });
});

describe('the conditions of the pages', () => {
  // The flow has no samples: its counts are in the memory of the endpoint.
  const ofChain = (expr: string): string[] =>
    metricNamesIn(expr).filter(
      (name) => !/^(?:bridge_exporter|process)_|_duration_seconds_(?:bucket|count)$|:/.test(name),
    );

  it.each(
    alerts.filter(({ condition }) => condition !== undefined).map((alert) => [alert.name, alert.severity, alert]),
  )('of %s (%s) declare the metrics of the rule', (_name, _severity, { expr, families: declared }) => {
    // Names of validators have no influence on whether an alert fires.
    const names = ofChain(
      expr.replaceAll(/\(last_over_time\(\{__name__=~"bridge_orchestrator_[^"]*"\}\[2h\]\)\)/g, ''),
    );
    const labels: readonly string[] = identityLabels.bridge_params_info;
    expect(names.filter((name) => !declared.includes(name) && !labels.includes(name))).toEqual([]);
  });
});

/** The sections of the runbook that are not about an alert. */
const RUNBOOK_CHAPTERS = new Set([
  'I am woken: the three numbers that decide',
  'Preparation',
  'Who may act',
  'Where a cross-chain transaction is',
  'HTTP 500 of the rate limiter input',
  'A new key of the signers',
]);

describe('docs/runbook.md', () => {
  it('has a section with all parts for each alert, and no other', () => {
    const titleOf = (section: string): string => section.slice(0, section.indexOf('\n'));
    const sections = runbook
      .split(/^## /m)
      .slice(1)
      .filter((section) => !RUNBOOK_CHAPTERS.has(titleOf(section)));
    const names = Array.from(new Set(alertRules.map(({ alert }) => alert)));
    expect(sections.map(titleOf).toSorted()).toEqual(names.toSorted());
    for (const section of sections) {
      for (const part of ['Meaning', 'Impact', 'Diagnosis', 'Mitigation', 'Other causes']) {
        expect(section).toContain(`**${part}:**`);
      }
    }
  });

  it('has links that resolve', () => {
    const links = Array.from(runbook.matchAll(/\]\(([^)#]+)\)/g), ([, link]) => link ?? '');
    expect(links).not.toHaveLength(0);
    for (const link of links) expect(readProjectFile(`docs/${link}`)).not.toBe('');
  });
});

const processMetrics = await createProcessMetrics(
  { version: '0.0.0', revision: 'abc', nodeVersion: '20' },
  { index: 1, count: 1 },
  () => ({ recorded: 0, failed: 0, bytes: 0 }),
).render('text', clock());

describe('the queries', () => {
  const labelsOf = new Map<string, readonly string[]>(
    families.map(({ name, labels }) => [name, ['target', ...labels]]),
  );
  for (const { name, labels } of families.filter(({ type }) => type === 'histogram')) {
    for (const suffix of ['_sum', '_count']) labelsOf.set(name + suffix, ['target', ...labels]);
    labelsOf.set(`${name}_bucket`, ['target', ...labels, 'le']);
  }
  for (const { name, labels } of pollFamilies) labelsOf.set(name, [...ENDPOINT_LABELS, ...labels]);
  for (const [, name] of processMetrics.matchAll(/^# TYPE (\S+)/gm)) labelsOf.set(name ?? '', []);
  const recorded = new Set(rules.map(({ record }) => record));
  const queries = Array.from(
    runbook.matchAll(/```promql\n([^`]+)```|`([^`\n]+)`/g),
    ([, block, inline]) => block ?? inline ?? '',
  );

  it.each([
    ['of the rules', rules.map(({ expr }) => String(expr))],
    ['of the runbook', queries],
  ])('%s read only metrics that exist', (_source, expressions) => {
    const names = expressions.flatMap(metricNamesIn);
    expect(names.length).toBeGreaterThan(20);
    // Names of labels, and a prefix of families in prose.
    const otherNames = new Set(['bridge_params_', ...Array.from(labelsOf.values()).flat()]);
    expect(names.filter((name) => !labelsOf.has(name) && !recorded.has(name) && !otherNames.has(name))).toEqual([]);
  });

  it('read only labels that exist', () => {
    const known = new Set([
      'cluster',
      'namespace',
      'job',
      'instance',
      'confirms',
      'shard',
      'family',
      '__name__',
      ...Array.from(labelsOf.values()).flat(),
    ]);
    for (const expression of [...rules.map(({ expr }) => String(expr)), ...queries]) {
      for (const [, inside = ''] of expression.matchAll(/\b(?:on|by|without|ignoring|group_left) ?\(([\w, ]*)\)/g)) {
        expect(
          inside.split(', ').filter((label) => label !== '' && !known.has(label)),
          expression,
        ).toEqual([]);
      }
      // The matchers of a metric.
      for (const [, name = '', matchers = ''] of expression.matchAll(/\b(\w+)\{([^}]+)\}/g)) {
        const labels = Array.from(matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g), ([, label]) => label ?? '');
        const metricLabels = labelsOf.get(name) ?? ['document', 'target', 'family', 'watched'];
        expect(
          labels.filter((label) => !metricLabels.includes(label)),
          expression,
        ).toEqual([]);
      }
    }
    const texts = alertRules.flatMap(({ annotations }) => Object.values(annotations ?? {})).join('\n');
    const usedInTexts = Array.from(texts.matchAll(/\$labels\.(\w+)/g), ([, label]) => label ?? '');
    expect(usedInTexts.filter((label) => !known.has(label))).toEqual([]);
  });
});

describe('labels that Prometheus or prometheus-operator assigns to targets', () => {
  const reserved =
    /^(?:job|instance|endpoint|namespace|service|pod|container|node|cluster|replica|prometheus|prometheus_replica)$/;

  it('are not used by any metric', () => {
    const labels = new Set([
      ...families.flatMap((family) => family.labels),
      ...pollFamilies.flatMap((family) => family.labels),
      ...ENDPOINT_LABELS,
      ...Array.from(processMetrics.matchAll(/[{,](\w+)="/g), ([, label]) => label ?? ''),
    ]);
    expect(labels.size).toBeGreaterThan(20);
    expect(Array.from(labels).filter((label) => reserved.test(label))).toEqual([]);
  });

  it('are not set by any rule', () => {
    const set = rules.flatMap(({ expr, labels = {} }) => [
      ...Object.keys(labels),
      ...Array.from(String(expr).matchAll(/label_(?:replace|join)\([^"]*"(\w+)"/g), ([, label]) => label ?? ''),
    ]);
    expect(set).toContain('document');
    expect(set.filter((label) => reserved.test(label))).toEqual([]);
  });
});

describe('the examples in prometheus/', () => {
  it.skipIf(!hasPromtool)('are valid for Prometheus', () => {
    expect(runTool('promtool', ['check', 'rules', RULES])).toMatchObject({ status: 0 });
    expect(runTool('promtool', ['check', 'config', projectPath('prometheus/prometheus.yml')])).toMatchObject({
      status: 0,
    });
  });

  it.skipIf(!hasNewestPromtool)('are valid for Prometheus 3', () => {
    const check = (kind: string, file: string) =>
      runTool(NEWEST_PROMTOOL, ['check', kind, '--lint=all', '--lint-fatal', file]);
    expect(check('rules', RULES)).toMatchObject({ status: 0 });
    expect(check('config', projectPath('prometheus/prometheus.yml'))).toMatchObject({ status: 0 });
  });

  it.skipIf(!hasPint)('have no remark of pint', () => {
    const flags = ['--offline', '--no-color', 'lint', '--min-severity=info', '--fail-on=info'];
    const { status, output } = runTool('pint', [...flags, RULES]);
    const entries = readProjectFile('prometheus/alerts.yml').match(/^ +- (alert|record): /gm)?.length;
    expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining(`entries=${entries} `) });
  });

  it.skipIf(!hasAmtool)('are valid for Alertmanager', () => {
    expect(runTool('amtool', ['check-config', ALERTMANAGER_CONFIG])).toMatchObject({ status: 0 });
  });

  it.skipIf(!hasAmtool).each(alertRules.map((rule) => [rule.alert, severityOf(rule)]))(
    'route %s (%s) to the receiver of its severity',
    (alert, severity) => {
      const receivers: Record<string, string> = { critical: 'pager', warning: 'chat', info: 'record' };
      const receiver = alert === 'BridgeWatchdog' ? 'heartbeat' : receivers[severity];
      const labels = [`alertname=${alert}`, `severity=${severity}`, 'target=mainnet'];
      const file = `--config.file=${ALERTMANAGER_CONFIG}`;
      const flags = ['config', 'routes', 'test', file, `--verify.receivers=${receiver}`, ...labels];
      const { status, output } = runTool('amtool', flags);
      expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining(`${receiver}\n`) });
    },
  );
});

describe('the incidents', () => {
  it('cover every alert, and no other', () => {
    const keys = alertRules
      .map((rule) => `${rule.alert}/${severityOf(rule)}` as AlertKey)
      .filter((key) => !key.startsWith('BridgeWatchdog/'));
    expect(keys.filter((key) => incidentsOf(key).length === 0)).toEqual([]);
    const expectedKeys = incidents.flatMap(({ expectedAlerts }) => Object.keys(expectedAlerts));
    expect(expectedKeys.filter((key) => !keys.includes(key as AlertKey))).toEqual([]);
  });
});

describe('docs/alerts.md', () => {
  it('matches the rules and the incidents', async () => {
    await expect(alertReference()).toMatchFileSnapshot('../../docs/alerts.md');
  });
});

/** The incidents in which the alert has to fire, with the maximum time. */
function incidentsOf(key: AlertKey): string[] {
  return incidents
    .filter(({ expectedAlerts }) => key in expectedAlerts)
    .map(({ title, expectedAlerts }) => `${title} (${expectedAlerts[key]} min)`);
}

function alertReference(): string {
  const declared = new Map<string, Alert[]>();
  for (const alert of alerts) {
    const key = `${alert.name}/${alert.severity}`;
    declared.set(key, [...(declared.get(key) ?? []), alert]);
  }
  const rows = alertRules.map((rule) => {
    const severity = severityOf(rule);
    const tests =
      rule.alert === 'BridgeWatchdog' ? ['always fires'] : incidentsOf(`${rule.alert}/${severity}` as AlertKey);
    // Rules with the same name and severity are in the order of the declarations.
    const own = declared.get(`${rule.alert}/${severity}`)?.shift();
    const cells = [
      `[${rule.alert}](runbook.md#${rule.alert.toLowerCase()})`,
      own?.when ?? '',
      rule.for ?? '0',
      severity,
      tests.join('; '),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const silentIncidents = incidents
    .filter(({ expectedAlerts }) => Object.keys(expectedAlerts).length === 0)
    .map(({ title }) => title);
  return `# Alerts

Generated from the declarations in \`src/alerts\`, like [\`prometheus/alerts.yml\`](../prometheus/alerts.yml), by \`npm test -- -u\`. The
[runbook](runbook.md) describes what to do for each alert. [Adding an alert](adding-an-alert.md) describes how to add one, [Adapting the alerts](#adapting-the-alerts) how to change addresses, limits and severities.

To try the routes of \`prometheus/alertmanager.yml\` without receivers, this prints the notifications on a terminal:

\`\`\`sh
node -e "require('http').createServer((request, response) => request.pipe(process.stdout) && response.end()).listen(9095)"
\`\`\`

Each alert is tested end to end: a simulated chain goes through an incident, the exporter reads its responses, and promtool evaluates the
rules over the exported series. The column *tested with* lists the incidents and the number of minutes within which the alert has to
fire, for the first of several series. The tests also check that each alert fires once, that no unrelated alert fires, and that all alerts
resolve when the incident ends. Except for BridgeWatchdog, no alert fires in a week of a busy bridge (\`healthy\`), in a week of a quiet one
(\`quiet\`), or when

${silentIncidents.map((title) => `- ${title}`).join('\n')}

An alert fires when its condition has held for the duration in the column *for*. Alerts on the data of a document are suspended while the data
is outdated: no successful poll for 10 minutes, or a hub height that has not changed for 10 minutes. Another alert fires then.

| alert | condition | for | severity | tested with |
|---|---|---|---|---|
${rows.join('\n')}

## Adapting the alerts

**Addresses.** Replace the base addresses of the links in the annotations, those of your Grafana, of the exporter and of your copy of the runbook,
in one place:

\`\`\`sh
sed -i -e "s|dashboard_url: '/d/|dashboard_url: 'https://grafana.example.org/d/|" \\
  -e "s|pending_url: '/pending|pending_url: 'https://bridge-exporter.example.org/pending|" \\
  -e 's|https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md|https://wiki.example.org/bridge-runbook|' alerts.yml
\`\`\`

**Limits.** A limit that differs from bridge to bridge is a setting of the target and a series. Alerts, pages and dashboards read the series, so
change the setting and not the expression. The other limits are numbers in the expressions.

| setting | series | alerts |
|---|---|---|
| \`backlog_limit\` of \`bridge\` | \`bridge_backlog_limit_transfers\` | BridgeBacklogHigh |
| \`min_batch_fee\` of a token | \`bridge_token_min_batch_fee\` | BridgeBacklogStuck, BridgeBatchNotRelayed, BridgeBatchTimeoutNear, BridgeBatchOverdue |
| \`objective\` | \`bridge_objective_seconds\`, \`bridge_objective_ratio\` | BridgeObjectiveMissed |
| \`power_threshold\` | \`bridge_power_threshold_ratio\` | BridgeBatchUnsigned, BridgeValsetUnsigned |
| \`block_time\`, \`external_block_time\` | \`bridge_block_time_seconds\`, \`bridge_external_block_time_seconds\` | BridgeBatchTimeoutNear, BridgeBatchOverdue, BridgeOrchestratorDeadlineNear |
| \`backlog_limit\` of \`crosschain\` | \`crosschain_backlog_limit_cctxs\` | CrosschainBacklogHigh |
| \`age_limits\` | \`crosschain_age_limit_seconds\` | CrosschainBacklogStuck, CrosschainOldestPendingTooOld |
| \`ignore\` | \`crosschain_cctxs_ignored\` | CrosschainCctxsMissed, CrosschainOldestPendingTooOld |

\`\`\`yaml
targets:
  - name: injective
    bridge: { url: 'https://injective-node.example.org', backlog_limit: 1000 }
  - name: zetachain
    crosschain: { url: 'https://zetachain-node.example.org', age_limits: { default: 30m, '8332': 3h } }
tokens:
  - { contract: '0xdac17f958d2ee523a2206206994597c13d831ec7', symbol: USDT, decimals: 6, min_batch_fee: '23300000' }
\`\`\`

Set \`min_batch_fee\` in the smallest unit of the token, to what the batch creators and relayers of the chain require, 23.3 USD by default on Injective. It
tells transfers that nobody takes from those that are stuck.

**Severity and duration.** Values of the chart change them for single alerts, for all severities of an alert or by severity:

\`\`\`yaml
prometheusRule:
  enabled: true
  disabled: { BridgeBlacklistChanged: true }
  alerts:
    BridgeBacklogHigh: { for: 2h }
    BridgeValsetDrift: { severity: info }
    CrosschainOldestPendingTooOld: { severity: { critical: page, warning: ticket }, for: { warning: 15m } }
\`\`\`

The routes and inhibitions of \`prometheus/alertmanager.yml\` compare severities: change them there as well if you rename them.

**Testnets.** Give the targets a label, which all of their series and alerts carry:

\`\`\`yaml
targets:
  - name: injective-testnet
    labels: { network: testnet }
    bridge: { url: 'https://injective-testnet-node.example.org' }
\`\`\`

Route the label before the severities. \`mute_time_intervals\` of the route mutes it at night only:

\`\`\`yaml
route:
  receiver: chat
  routes:
    - { receiver: record, matchers: [network = testnet] }
    - { receiver: pager, matchers: [severity = critical] }
receivers: [{ name: pager }, { name: chat }, { name: record }]
\`\`\`

A silence does it for a while:

\`\`\`sh
amtool silence add network=testnet --duration=8h --comment='upgrade of the testnet' --alertmanager.url=http://localhost:9093
\`\`\`

Alerts on an exporter as a whole, such as BridgeExporterAbsent, have no labels of targets.

**Label of clusters.** The rules join and aggregate by \`cluster\`, the usual label of a store of several clusters. If yours has another name, set
\`prometheusRule.clusterLabel\` of the chart, or replace it in the files:

\`\`\`sh
sed -i -e '/^ *#/! s/\\bcluster\\b/k8s_cluster/g' alerts.yml alertmanager.yml
\`\`\`

The dashboards group by \`cluster\`. Without it they distinguish targets by name only.
`;
}
