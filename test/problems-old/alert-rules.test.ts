import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { families } from '../../src/exposition/metrics-page.js';
import { ENDPOINT_LABELS, pollFamilies } from '../../src/exposition/poll-metrics.js';
import { createProcessMetrics } from '../../src/exposition/process-metrics.js';
import { clock } from '../../src/clock.js';
import { alerts } from '../../src/alerts/alerts.js';
import { identityLabels } from '../../src/alerts/poll-history.js';
import { promDuration } from '../../src/alerts/promql.js';
import { alertRules, ruleGroups, rules, type Rule } from '../support/alert-rules.js';
import { markdownTable, withTables } from '../docs/generated-tables.js';
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
CrosschainFreezeNear CrosschainOldestPendingTooOld CrosschainPendingListTruncated CrosschainOutboundDisabled
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
      expect(description).toMatch(/^[^{`]+\.$/);
      expect(url).toBe(`${RUNBOOK_URL}#${alert.toLowerCase()}`);
      const [, uid, variables] =
        /^\/d\/([\w-]+)(\?var-target=\{\{ \$labels\.target \| urlquery \}\})?$/.exec(dashboard ?? '') ?? [];
      expect(dashboardUids).toContain(uid);
      // All alerts but these concern a target, which the summary has to name.
      const ofExporter = [
        'BridgeExporterAbsent',
        'BridgeExporterShardMissing',
        'BridgeExporterConfigReloadFailed',
        'BridgeExporterRecorderFailing',
      ];
      const target = ['BridgeWatchdog', ...ofExporter].includes(alert) ? '' : '{{ $labels.target }}';
      expect(variables === undefined).toBe(target === '');
      expect(summary).toContain(target);
    },
  );

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
    const names = ofChain(expr);
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
  it('has a section for each alert, and no other', () => {
    const titleOf = (section: string): string => section.slice(0, section.indexOf('\n'));
    const sections = runbook
      .split(/^## /m)
      .slice(1)
      .filter((section) => !RUNBOOK_CHAPTERS.has(titleOf(section)));
    const names = Array.from(new Set(alertRules.map(({ alert }) => alert)));
    expect(sections.map(titleOf).toSorted()).toEqual(names.toSorted());
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
    expect(names).not.toHaveLength(0);
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

  it.skipIf(!hasAmtool).each([
    ['BridgeBatchUnsigned', 'critical', 'pager'],
    ['BridgeEndpointNotPolled', 'critical', 'pager'],
    ['BridgeBatchUnsigned', 'warning', 'chat'],
    ['BridgeParamsChanged', 'info', 'record'],
    ['BridgeWatchdog', 'none', 'heartbeat'],
  ])('route %s (%s) to the receiver of its severity', (alert, severity, receiver) => {
    const file = `--config.file=${ALERTMANAGER_CONFIG}`;
    const labels = [`alertname=${alert}`, `severity=${severity}`, 'target=mainnet'];
    const flags = ['config', 'routes', 'test', file, `--verify.receivers=${receiver}`, ...labels];
    expect(runTool('amtool', flags)).toMatchObject({ status: 0 });
  });

  it('inhibit no alert that inhibits them, also through others', () => {
    const inhibitedBy = (key: string, path: readonly string[]): string[] =>
      alerts
        .filter((alert) => `${alert.name}/${alert.severity}` === key)
        .flatMap(({ inhibits, ...source }) =>
          inhibits.flatMap(({ alert, severity }) =>
            alerts
              .filter((own) => own.name === alert && own.severity === (severity ?? own.severity))
              .filter((own) => own.name !== source.name || own.severity !== source.severity)
              .map((own) => `${own.name}/${own.severity}`),
          ),
        )
        .flatMap((next) => (path.includes(next) ? [[...path, next].join(' > ')] : inhibitedBy(next, [...path, next])));
    const keys = new Set(alerts.map(({ name, severity }) => `${name}/${severity}`));
    expect(Array.from(keys).flatMap((key) => inhibitedBy(key, [key]))).toEqual([]);
  });
});

describe('the incidents', () => {
  it('cover every alert, and no other', () => {
    const keys = alertRules
      .map((rule) => `${rule.alert}/${severityOf(rule)}` as AlertKey)
      .filter((key) => !key.startsWith('BridgeWatchdog/'));
    const expectedKeys = Array.from(new Set(incidents.flatMap(({ expectedAlerts }) => Object.keys(expectedAlerts))));
    expect(expectedKeys.toSorted()).toEqual(Array.from(new Set(keys)).toSorted());
  });
});

describe('docs/alerts.md', () => {
  it('lists the alerts', async () => {
    const rows = alerts.map(({ name, severity, description, forMinutes }) => [
      `[${name}](runbook.md#${name.toLowerCase()})`,
      severity,
      description,
      promDuration(forMinutes),
    ]);
    const table = markdownTable(['alert', 'severity', 'condition', 'for'], rows);
    await expect(withTables('docs/alerts.md', [table])).toMatchFileSnapshot('../../docs/alerts.md');
  });
});
