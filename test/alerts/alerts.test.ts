import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { families } from '../../src/exposition/exposition.js';
import { createProcessMetrics } from '../../src/exposition/process-metrics.js';
import { ENDPOINT_LABELS, endpointFamilies } from '../../src/exposition/endpoint-metrics.js';
import { check, hasTool } from '../support/tools.js';
import { incidents, type Page } from './incidents.js';
import { alerts, namesIn, ruleFile, RULES, rules, type Rule } from './promtool.js';

const hasPromtool = hasTool('promtool');
const hasAmtool = hasTool('amtool');

const prometheusFolder = new URL('../../prometheus/', import.meta.url).pathname;
const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
const RUNBOOK = 'https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md';

/** The alerts people rely on; adding is fine, renaming is not. */
const CONTRACT = `BridgeExporterAbsent BridgeEndpointDown BridgeSnapshotStale BridgeEndpointMisconfigured
BridgeResponseNearLimit BridgeHeightStalled CrosschainHeightStalled BridgeBacklogHigh BridgeBacklogStuck
BridgeBatchTimeoutNear BridgeBatchOverdue BridgeBatchUnsigned BridgeValsetUnsigned BridgeValsetDrift BridgeOracleStalled
BridgeConflictingClaims BridgeOrchestratorMissingConfirms BridgeOrchestratorDeadlineNear BridgeOrchestratorMissingVotes
BridgeParamsChanged BridgeBlacklistChanged CrosschainBacklogHigh CrosschainBacklogStuck CrosschainCctxsMissed
CrosschainOldestPendingTooOld CrosschainPendingListTruncated CrosschainRateLimitNear CrosschainRateLimitExceeded
BridgeExporterInvalidValues BridgeExporterSeriesDropped BridgeWatchdog`.split(/\s+/);

const severityOf = (rule: Rule): string => rule.labels?.['severity'] ?? '';

describe('the alerts', () => {
  it('are those of the contract', () => {
    expect(Array.from(new Set(alerts.map(({ alert }) => alert))).toSorted()).toEqual(CONTRACT.toSorted());
  });

  it.each(alerts.map((rule) => [rule.alert, severityOf(rule), rule] as const))(
    '%s (%s) is complete',
    (alert, severity, rule) => {
      expect(['critical', 'warning', 'info']).toContain(severity);
      const { summary, description, runbook_url: url, ...others } = rule.annotations ?? {};
      expect(others).toEqual({});
      expect(summary).toMatch(/\.$/);
      expect(description).toMatch(/\.(?:\{\{ end \}\})?$/);
      expect(url).toBe(`${RUNBOOK}#${alert.toLowerCase()}`);
      // Who reads it has to know which target it is about; two alerts are about none.
      const names = ['BridgeWatchdog', 'BridgeExporterAbsent'].includes(alert) ? '' : '{{ $labels.target }}';
      expect(summary).toContain(names);
      expect(description).toContain(names);
    },
  );

  it('have one threshold for one thing, each with its reason', () => {
    const [thresholds] = ruleFile.groups;
    const text = readFileSync(RULES, 'utf8');
    for (const { record = '' } of thresholds?.rules ?? []) {
      expect(record).toMatch(/^default:\w+:threshold$/);
      expect(text).toMatch(new RegExp(`\\n {6}# [^\\n]+\\n {6}- record: ${record}\\n`));
      expect(
        rules.some(({ expr }) => String(expr).includes(`scalar(${record})`)),
        record,
      ).toBe(true);
    }
    // Of numbers, only the small ones that say none, some, or few samples.
    for (const { alert, expr } of alerts) {
      const numbers = String(expr).match(/(?<=[<>]=? (?:bool )?)[\d.]+/g) ?? [];
      expect(
        numbers.every((number) => Number(number) <= 3),
        alert,
      ).toBe(true);
    }
  });

  it('read the recording rules, all of them', () => {
    const read = new Set(rules.flatMap(({ expr }) => namesIn(String(expr))));
    const recorded = rules.flatMap(({ record }) => record ?? []);
    expect(recorded.filter((name) => !read.has(name))).toEqual([]);
    expect([...read].filter((name) => name.includes(':') && !recorded.includes(name))).toEqual([]);
  });
});

describe('the runbook', () => {
  it('has a section for each alert and no other, with all that is asked for', () => {
    const sections = runbook.split(/^## /m).slice(1);
    expect(sections.map((section) => section.slice(0, section.indexOf('\n'))).toSorted()).toEqual(CONTRACT.toSorted());
    for (const section of sections) {
      for (const part of ['Means', 'Urgency', 'Look', 'Do', 'Else']) expect(section).toContain(`**${part}`);
    }
  });

  it('has links that resolve', () => {
    const links = Array.from(runbook.matchAll(/\]\(([^)#]+)\)/g), ([, link]) => link ?? '');
    expect(links).not.toHaveLength(0);
    for (const link of links) expect(readFileSync(new URL(`../../docs/${link}`, import.meta.url), 'utf8')).not.toBe('');
  });
});

describe('what is read exists', async () => {
  const process = await createProcessMetrics({ version: '0.0.0', nodeVersion: '20' }).render('text');
  const labelsOf = new Map<string, readonly string[]>(
    families.map(({ name, labels }) => [name, ['target', ...labels]]),
  );
  for (const { name, labels } of endpointFamilies) labelsOf.set(name, [...ENDPOINT_LABELS, ...labels]);
  for (const [, name] of process.matchAll(/^# TYPE (\S+)/gm)) labelsOf.set(name ?? '', []);
  const recorded = new Set(rules.map(({ record }) => record));
  const queries = Array.from(
    runbook.matchAll(/```promql\n([^`]+)```|`([^`\n]+)`/g),
    ([, block, inline]) => block ?? inline ?? '',
  );

  it.each([
    ['the rules', rules.map(({ expr }) => String(expr))],
    ['the runbook', queries],
  ])('of %s, every metric', (_where, expressions) => {
    const names = expressions.flatMap(namesIn);
    expect(names.length).toBeGreaterThan(20);
    // Labels, and prefixes of families in prose.
    const others = new Set(['bridge_params_', ...Array.from(labelsOf.values()).flat()]);
    expect(names.filter((name) => !labelsOf.has(name) && !recorded.has(name) && !others.has(name))).toEqual([]);
  });

  it('and every label', () => {
    const known = new Set([
      'job',
      'instance',
      'confirms',
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
      // A matcher is of the metric in front of it.
      for (const [, name = '', matchers = ''] of expression.matchAll(/\b(\w+)\{([^}]+)\}/g)) {
        const labels = Array.from(matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g), ([, label]) => label ?? '');
        const own = labelsOf.get(name) ?? ['endpoint', 'target', 'family'];
        expect(
          labels.filter((label) => !own.includes(label)),
          expression,
        ).toEqual([]);
      }
    }
    const texts = alerts.flatMap(({ annotations }) => Object.values(annotations ?? {})).join('\n');
    const shown = Array.from(texts.matchAll(/\$labels\.(\w+)/g), ([, label]) => label ?? '');
    expect(shown.filter((label) => !known.has(label))).toEqual([]);
  });
});

describe('the examples', () => {
  it.skipIf(!hasPromtool)('are rules and a configuration to Prometheus', () => {
    expect(check('promtool', ['check', 'rules', RULES], '')).toMatchObject({ status: 0 });
    expect(check('promtool', ['check', 'config', `${prometheusFolder}prometheus.yml`], '')).toMatchObject({
      status: 0,
    });
  });

  it.skipIf(!hasAmtool)('are a configuration to Alertmanager', () => {
    expect(check('amtool', ['check-config', `${prometheusFolder}alertmanager.yml`], '')).toMatchObject({ status: 0 });
  });

  it.skipIf(!hasAmtool).each(alerts.map((rule) => [rule.alert, severityOf(rule)]))(
    'routes %s (%s)',
    (alert, severity) => {
      const receivers: Record<string, string> = { critical: 'pager', warning: 'chat', info: 'record' };
      const receiver = alert === 'BridgeWatchdog' ? 'heartbeat' : receivers[severity];
      const labels = [`alertname=${alert}`, `severity=${severity}`, 'target=mainnet'];
      const file = `--config.file=${prometheusFolder}alertmanager.yml`;
      const { status, output } = check(
        'amtool',
        ['config', 'routes', 'test', file, `--verify.receivers=${receiver}`, ...labels],
        '',
      );
      expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining(`${receiver}\n`) });
    },
  );
});

describe('every alert', () => {
  const proofs = (page: Page): string[] =>
    incidents.filter(({ pages }) => page in pages).map(({ title, pages }) => `${title}: within ${pages[page]} min`);

  it('is proven by an incident, and there is no page of an alert that is not', () => {
    const ours = alerts
      .map((rule) => `${rule.alert}/${severityOf(rule)}` as Page)
      .filter((page) => page !== 'BridgeWatchdog/info');
    expect(ours.filter((page) => proofs(page).length === 0)).toEqual([]);
    expect(incidents.flatMap(({ pages }) => Object.keys(pages)).filter((page) => !ours.includes(page as Page))).toEqual(
      [],
    );
  });

  it('is in docs/alerts.md', async () => {
    await expect(reference()).toMatchFileSnapshot('../../docs/alerts.md');
  });

  function reference(): string {
    const rows = alerts.map((rule) => {
      const severity = severityOf(rule);
      const by =
        rule.alert === 'BridgeWatchdog' ? ['every test: it always fires'] : proofs(`${rule.alert}/${severity}` as Page);
      const condition = `\`${String(rule.expr).trim().replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')}\``;
      const cells = [
        `[${rule.alert}](runbook.md#${rule.alert.toLowerCase()})`,
        condition,
        rule.for ?? '0',
        severity,
        by.join('; '),
      ];
      return `| ${cells.join(' | ')} |`;
    });
    const thresholds = ruleFile.groups[0]?.rules.map(({ record, expr }) => `| \`${record}\` | ${expr} |`) ?? [];
    const silent = incidents
      .filter(({ pages }) => Object.keys(pages).length === 0)
      .map(({ title }) => title.replace('no page: ', ''));
    return `# Alerts

Written from [\`prometheus/alerts.yml\`](../prometheus/alerts.yml) and its tests by \`npm test -- -u\`. [Runbook](runbook.md) says what to do.

Each alert is proven from the body of a node to the page: a simulated chain goes through the incident, the exporter reads it, and
promtool runs the alerts over what it exposes. The test asserts that the alert fires within the minutes shown (from the beginning
of the incident; where several orchestrators, chains or families fire, the first), that each fires once, that nothing unrelated fires, and
that all resolves where the incident ends before the test does. None fires in a week of a busy bridge (\`healthy\`) and one of a quiet one (\`quiet\`), nor when:

${silent.map((title) => `- ${title}`).join('\n')}

| alert | condition | for | severity | proven by |
|---|---|---|---|---|
${rows.join('\n')}

## Thresholds

| rule | value |
|---|---|
${thresholds.join('\n')}
`;
  }
});
