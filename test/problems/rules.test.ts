import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { alertTexts } from '../../src/problems/alert-texts.js';
import { hides, type HidingAlert } from '../../src/problems/due.js';
import type { DocumentName } from '../../src/document-types.js';
import type { Problem } from '../../src/problems/problem.js';
import { metricLabels } from '../../src/exposition/metrics-page.js';
import { documentNames } from '../../src/document-types.js';
import { pollProblems } from '../../src/problems/polls.js';
import { problems } from '../../src/problems/problems.js';
import { alertRules, ruleGroups, rules, type Rule } from '../support/alert-rules.js';
import { exportedMetrics } from '../support/exported-metrics.js';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { metricNamesIn, NEWEST_PROMTOOL, RULES } from './promtool.js';

const hasPromtool = hasTool('promtool');
const hasNewestPromtool = hasTool(NEWEST_PROMTOOL);
const hasAmtool = hasTool('amtool');
const hasPint = hasTool('pint', ['version']);

const ALERTMANAGER_CONFIG = projectPath('prometheus/alertmanager.yml');
const RUNBOOK_URL = 'https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md';
const runbook = readProjectFile('docs/runbook.md');

const dashboardUids = readdirSync(projectPath('grafana/dashboards'))
  .filter((file) => file.endsWith('.json'))
  .map((file) => (JSON.parse(readProjectFile(`grafana/dashboards/${file}`)) as { readonly uid: string }).uid);

const judgeRow = (rule: Rule): string => rule.labels?.['severity'] ?? '';
const keyOf = (rule: Rule): string => `${rule.alert}/${judgeRow(rule)}`;
const declared = [...pollProblems, ...problems];
const problemNames = new Set(declared.map(({ name }) => name));
const isOfProblem = ({ alert = '' }: Rule): boolean => problemNames.has(alert);
const linesOf = ({ expr }: Rule): readonly string[] => String(expr).trimEnd().split('\n');

describe('prometheus/alerts.yml', () => {
  it('has one rule for each problem, which compares with now when its alert is due, in one line', () => {
    const own = rules.filter(isOfProblem);
    expect(own.map(({ alert = '' }) => alert).toSorted()).toEqual(Array.from(problemNames).toSorted());
    for (const { alert, expr, labels, for: duration } of own) {
      // Another exporter of the target may have polled the document.
      const [comparison = ''] = String(expr).split('\nunless on (cluster, target, document) (');
      expect(comparison).toBe(`time() - bridge_problem_due_timestamp_seconds{problem="${alert}"} >= 0`);
      expect([labels, duration]).toEqual([undefined, undefined]);
    }
  });

  it('keeps every alert firing over a restart, but for those of the record and the sign of life', () => {
    const without = rules.filter(
      (rule) => rule.keep_firing_for === undefined || Number.parseInt(rule.keep_firing_for) < 5,
    );
    expect(new Set(without.map(judgeRow))).toEqual(new Set(['none']));
  });

  it('keeps what an exporter has judged firing until the alert on an exporter that is gone fires', () => {
    const gone = rules.filter(({ alert = '' }) => ['BridgeExporterAbsent', 'BridgeExporterDown'].includes(alert));
    const firesAfter = Math.max(...gone.map(({ for: duration = '' }) => Number.parseInt(duration)));
    const judged = rules.filter((rule) => isOfProblem(rule) || rule.alert === 'BridgeEndpointNotPolled');
    const early = judged.filter(({ keep_firing_for: kept = '0' }) => !(Number.parseInt(kept) > firesAfter + 1));
    expect(early.map(keyOf)).toEqual([]);
  });

  it('has at most 600 lines and 60 kB, without recording rules, and without a rule of more than three lines of 120 characters', () => {
    const text = readProjectFile('prometheus/alerts.yml');
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(600);
    expect(text.length).toBeLessThanOrEqual(60 * 1024);
    expect(text).not.toMatch(/: [&*]\w/);
    expect(rules.filter(({ record }) => record !== undefined)).toEqual([]);
    const isLong = (rule: Rule): boolean => linesOf(rule).length > 3 || String(rule.expr).length > 3 * 120;
    expect(rules.filter(isLong).map(keyOf)).toEqual([]);
  });

  it('looks at the present, but for the two alerts on an exporter that is gone', () => {
    const looking = rules.filter(({ expr }) => /\[\w+\]|offset|@/.test(String(expr))).map(({ alert }) => alert);
    expect(new Set(looking)).toEqual(new Set(['BridgeExporterAbsent', 'BridgeExporterDown']));
  });

  it('has no group with more than the 20 rules that Mimir accepts', () => {
    for (const group of ruleGroups) expect(group.rules.length, group.name).toBeLessThanOrEqual(20);
  });

  it.each(alertRules.map((rule) => [keyOf(rule), rule] as const))(
    'has a title, a description, an action, a runbook and a dashboard for %s',
    (_key, rule) => {
      const { alert } = rule;
      const severities = problemNames.has(alert)
        ? ['']
        : ['critical', 'warning', ...(alert === 'BridgeWatchdog' ? ['none'] : [])];
      // Depends on other exporters.
      if (alert !== 'BridgeExporterDown') expect(severities).toContain(judgeRow(rule));
      const { summary, description, action, runbook_url, dashboard_url, ...others } = rule.annotations ?? {};
      expect(others).toEqual({});
      const isQueried = problemNames.has(alert);
      expect(action).toMatch(isQueried ? /\{\{ end \}\}$/ : /\.$/);
      expect(summary).toMatch(/^[^{`]+\.$/);
      expect(description).toMatch(/[^{}`]{10,}\.$/);
      expect(runbook_url).toBe(`${RUNBOOK_URL}#${alert.toLowerCase()}`);
      const [, uid, variables] =
        /^\/d\/([\w-]+)(\?var-target=\{\{ \$labels\.target \| urlquery \}\})?$/.exec(dashboard_url ?? '') ?? [];
      expect(dashboardUids).toContain(uid);
      // All alerts but those on an exporter as a whole concern a target, which the summary names first.
      const isOfExporter = /^Bridge(?:Watchdog|Exporter(?!SeriesDropped|TargetAmbiguous))/.test(alert);
      expect(description?.startsWith('{{ $labels.target }}')).toBe(!isOfExporter);
      expect(variables === undefined).toBe(isOfExporter);
    },
  );
});

const metrics = await exportedMetrics();
/** Those that Prometheus assigns. */
const SCRAPE_LABELS = ['cluster', 'namespace', 'job', 'instance'];

describe('the texts of a rule', () => {
  it.each(alertRules.map((rule) => [keyOf(rule), rule] as const))(
    'of %s read only labels of its series',
    (_key, rule) => {
      const { annotations = {}, expr } = rule;
      const read = metricNamesIn(String(expr)).flatMap((name) => Array.from(metrics.get(name)?.labels ?? []));
      const known = new Set([...SCRAPE_LABELS, ...read]);
      const texts = Object.values(annotations).join('\n');
      const shown = Array.from(texts.matchAll(/\$labels\.(\w+)/g), ([, label]) => label ?? '');
      expect(shown.filter((label) => !known.has(label))).toEqual([]);
      for (const [, name = '', matchers = ''] of texts.matchAll(/\b(\w+)\{((?:\w+=%q(?:, )?)+)\}/g)) {
        const names = Array.from(matchers.matchAll(/(\w+)=/g), ([, label]) => label ?? '');
        expect(
          names.filter((label) => !metrics.get(name)?.labels.has(label)),
          name,
        ).toEqual([]);
      }
    },
  );
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

it('docs/runbook.md has a section for each alert, and no other', () => {
  const titles = Array.from(runbook.matchAll(/^## (.*)$/gm), ([, title = '']) => title);
  const names = Array.from(new Set(alertRules.map(({ alert }) => alert)));
  expect(titles.filter((title) => !RUNBOOK_CHAPTERS.has(title)).toSorted()).toEqual(names.toSorted());
});

describe('labels that Prometheus or prometheus-operator assigns to targets', () => {
  const reserved =
    /^(?:job|instance|endpoint|namespace|service|pod|container|node|cluster|replica|prometheus|prometheus_replica)$/;

  it('are not used by any metric', () => {
    expect(metricLabels.size).toBeGreaterThan(20);
    expect(Array.from(metricLabels).filter((label) => reserved.test(label))).toEqual([]);
  });

  it('are not set by any rule', () => {
    const set = rules.flatMap(({ labels = {} }) => Object.keys(labels));
    expect(new Set(set)).toEqual(new Set(['severity']));
    expect(set.filter((label) => reserved.test(label))).toEqual([]);
  });
});

describe('prometheus/alertmanager.yml', () => {
  const config = readProjectFile('prometheus/alertmanager.yml');
  const { route, inhibit_rules: inhibitions } = parse(config) as {
    readonly route: { readonly routes: readonly { readonly receiver: string; readonly matchers: readonly string[] }[] };
    readonly inhibit_rules: readonly {
      readonly source_matchers: readonly string[];
      readonly equal: readonly string[];
    }[];
  };

  it('has at most 120 lines, and inhibits only what Prometheus judges, in at most three rules', () => {
    expect(config.split('\n').length).toBeLessThanOrEqual(120);
    expect(inhibitions.length).toBeLessThanOrEqual(3);
    const judgedByPrometheus = rules.filter((rule) => !isOfProblem(rule)).map(({ alert }) => `alertname = ${alert}`);
    for (const { source_matchers, equal } of inhibitions) {
      expect(judgedByPrometheus).toEqual(expect.arrayContaining([...source_matchers]));
      expect(equal).toContain('cluster');
    }
  });

  it('wakes somebody for the warnings that hide critical problems', () => {
    const urgent = problems.filter(({ isUrgent }) => isUrgent === true).map(({ name }) => name);
    const matchers = [`alertname =~ "${urgent.join('|')}"`, 'severity = warning'];
    expect(route.routes).toContainEqual({ receiver: 'pager', matchers });
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
    expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining(`entries=${rules.length} `) });
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
});

/* The texts of an alert on a problem are those of `bridge_problem_info`, by its id and exporter. */
describe.skipIf(!hasPromtool)('the texts of an alert', () => {
  const labels = (id: string, exporter: string): string =>
    `target="t",document="module_state",problem="BridgeBatchUnsigned",severity="critical",id="${id}",${exporter}`;
  const due = (id: string, exporter: string): string => `bridge_problem_due_timestamp_seconds{${labels(id, exporter)}}`;
  const start = (id: string, exporter: string): string =>
    `bridge_problem_start_timestamp_seconds{${labels(id, exporter)}}`;
  const info = (id: string, exporter: string, text: string): string =>
    `bridge_problem_info{${labels(id, exporter)},summary="${text} lacks signatures",action="Restart ${text}.",hidden_by=""}`;

  /** Description and action of BridgeBatchUnsigned with these series, an hour after the problems have begun. */
  function textsOf(...series: readonly string[]): readonly (readonly string[])[] {
    const tests = [
      {
        interval: '1h',
        input_series: series.map((name) => ({ series: name, values: name.includes('_info') ? '1x5' : '0x5' })),
        alert_rule_test: [{ eval_time: '1h', alertname: 'BridgeBatchUnsigned', exp_alerts: [] }],
      },
    ];
    const content = { rule_files: [RULES], evaluation_interval: '1h', tests };
    const { output } = runTool('promtool', [
      'test',
      'rules',
      createTempFolder().write('test.yml', JSON.stringify(content)),
    ]);
    const found = output.matchAll(/Annotations:\{action="([^"]*)".*?description="([^"]*)"/g);
    return Array.from(found, ([, action = '', description = '']) => [description, action]).toSorted(
      ([a = ''], [b = '']) => (a < b ? -1 : 1),
    );
  }

  it('are those of the problem at the same exporter and cluster, with the age', () => {
    const [one, other] = ['instance="a:1",cluster="x"', 'instance="a:1",cluster="y"'];
    const meaning = alertTexts.BridgeBatchUnsigned[1];
    expect(
      textsOf(
        due('aa', one),
        start('aa', one),
        info('aa', one, 'batch 8'),
        info('bb', one, 'batch 9'),
        due('aa', other),
        start('aa', other),
        info('aa', other, 'batch 10'),
      ),
    ).toEqual([
      [`t, for 1h 0m 0s: batch 10 lacks signatures. ${meaning}`, 'Restart batch 10.'],
      [`t, for 1h 0m 0s: batch 8 lacks signatures. ${meaning}`, 'Restart batch 8.'],
    ]);
  });
});

/** The alerts of each document. */
const declaredAlerts = [
  ...pollProblems.flatMap((problem) => documentNames.map((document) => ({ ...problem, document }))),
  ...problems,
].map(({ name, severity, document }) => ({ alert: name, severity, document }));

/** What hides the problems of its document, because they are not current, says nothing of other documents. */
const ofDocument = new Set(declared.filter(({ inhibitsDocument }) => inhibitsDocument).map(({ name }) => name));
const isApart = (cause: HidingAlert, effect: HidingAlert): boolean =>
  ofDocument.has(cause.alert) && cause.document !== effect.document;

/**
 * Pairs of which one hides the other over a third, but not itself, and pairs that hide each other: of alerts with equal
 * subjects.
 */
function findGaps(): readonly string[] {
  return [{}, { watched: 'true' }].flatMap((subject) => {
    const alerts = declaredAlerts.map((alert): HidingAlert => ({ ...alert, subject }));
    const findEffects = (cause: HidingAlert): readonly HidingAlert[] =>
      alerts.filter((other) => other !== cause && hides(cause, other));
    const textOf = ({ alert, severity, document }: HidingAlert): string => `${alert} ${severity} of ${document}`;
    return alerts.flatMap((cause) =>
      findEffects(cause).flatMap((between) =>
        findEffects(between)
          .filter((effect) => effect === cause || !(hides(cause, effect) || isApart(cause, effect)))
          .map((effect) => `${textOf(cause)} hides ${textOf(between)}, which hides ${textOf(effect)}`),
      ),
    );
  });
}

describe('what hides what', () => {
  it('is transitively closed and has no cycle, so that nobody has to follow a chain of causes', () => {
    expect(findGaps()).toEqual([]);
  });

  it('depends on the document whose polls judge the cause', () => {
    const hidesIn = (document: DocumentName, alert: string): boolean => {
      const effect = { alert, severity: 'warning', document, subject: {} } as const;
      return hides({ ...effect, alert: 'BridgeNodeBehind' }, effect);
    };
    for (const document of ['module_state', 'rate_limiter_input'] as const) {
      for (const alert of ['BridgeNodeDown', 'CrosschainCctxsUnlisted']) expect(hidesIn(document, alert)).toBe(true);
    }
    expect(hidesIn('external_contract', 'BridgePowerThresholdTooLow')).toBe(false);
  });

  it('is a critical alert behind a warning only if that one wakes somebody itself', () => {
    const alertOf = ({ name: alert, ...others }: Problem): HidingAlert => ({ ...others, alert, subject: {} });
    const [critical, warnings] = (['critical', 'warning'] as const).map((severity) =>
      problems
        .filter((problem) => problem.severity === severity)
        .map((problem) => ({ problem, alert: alertOf(problem) })),
    );
    const hiding = (warnings ?? [])
      .filter((cause) => critical?.some((effect) => hides(cause.alert, effect.alert)))
      .map(({ problem }) => problem);
    expect(hiding.map(({ name }) => name)).toEqual(['CrosschainOutboundDisabled']);
    expect(hiding.every(({ isUrgent }) => isUrgent)).toBe(true);
  });
});
