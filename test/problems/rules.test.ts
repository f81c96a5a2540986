import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findGaps, inhibitRules } from '../../packaging/generate/rules.js';
import { hides, type HidingAlert } from '../../src/problems/hiding.js';
import type { Problem, Severity } from '../../src/problems/problem.js';
import { metricLabels } from '../../src/exposition/metrics-page.js';
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

const severityOf = (rule: Rule): string => rule.labels?.['severity'] ?? '';
const keyOf = (rule: Rule): string => `${rule.alert}/${severityOf(rule)}`;
const declared = [...pollProblems, ...problems];
const problemNames = new Set(declared.map(({ name }) => name));
const isOfProblem = ({ alert = '' }: Rule): boolean => problemNames.has(alert);
const linesOf = ({ expr }: Rule): readonly string[] => String(expr).trimEnd().split('\n');

describe('prometheus/alerts.yml', () => {
  it('compares the age of every problem with a limit, in one line', () => {
    const expressions = rules
      .filter(isOfProblem)
      .map(({ alert, expr, labels, for: duration }) => ({ alert, labels, expr, duration }));
    expect(expressions.length).toBeGreaterThan(problemNames.size);
    for (const { alert, labels, expr, duration } of expressions) {
      const document = labels?.['document'] === undefined ? '' : `document="${labels['document']}",`;
      const matchers = `${document}problem="${alert}",severity="${labels?.['severity']}"`;
      // Another exporter of the target may have polled the document.
      const [comparison = ''] = String(expr).split('\nunless on (cluster, target, document)\n');
      const [before, limit, ...others] = comparison.split(' > ');
      expect(before).toBe(`time() - bridge_problem_start_timestamp_seconds{${matchers}}`);
      expect(limit).toMatch(/^\d+$/);
      expect([others, duration]).toEqual([[], undefined]);
    }
  });

  it('keeps every alert firing over a restart, but for those of the record and the sign of life', () => {
    const without = rules.filter(
      (rule) => rule.keep_firing_for === undefined || Number.parseInt(rule.keep_firing_for) < 5,
    );
    expect(new Set(without.map(severityOf))).toEqual(new Set(['info', 'none']));
  });

  it('has a rule for every severity of every problem', () => {
    const keys = new Set(rules.map(keyOf));
    expect(declared.map(({ name, severity }) => `${name}/${severity}`).filter((key) => !keys.has(key))).toEqual([]);
  });

  it('is below 900 lines and 64 kB, without recording rules, and without a rule of more than three lines of 120 characters', () => {
    const text = readProjectFile('prometheus/alerts.yml');
    expect(text.split('\n').length).toBeLessThan(900);
    expect(text.length).toBeLessThan(64_000);
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
    'has a severity, a summary, a description, an action, a runbook and a dashboard for %s',
    (_key, rule) => {
      const { alert } = rule;
      expect(['critical', 'warning', 'info', ...(alert === 'BridgeWatchdog' ? ['none'] : [])]).toContain(
        severityOf(rule),
      );
      const { summary, description, action, runbook_url, dashboard_url, pending_url, ...others } =
        rule.annotations ?? {};
      expect(others).toEqual({});
      const isQueried = problemNames.has(alert);
      expect(pending_url).toBe(
        isQueried ? '/pending?target={{ $labels.target | urlquery }}#{{ $labels.id }}' : undefined,
      );
      expect(action).toMatch(isQueried ? /\{\{ end \}\}$/ : /\.$/);
      expect(summary).toMatch(isQueried ? /humanizeDuration \}\}(?: ago)?$/ : /\.$/);
      expect(description).toMatch(/^[^{`]+\.$/);
      expect(runbook_url).toBe(`${RUNBOOK_URL}#${alert.toLowerCase()}`);
      const [, uid, variables] =
        /^\/d\/([\w-]+)(\?var-target=\{\{ \$labels\.target \| urlquery \}\})?$/.exec(dashboard_url ?? '') ?? [];
      expect(dashboardUids).toContain(uid);
      // All alerts but those on an exporter as a whole concern a target, which the summary names first.
      const isOfExporter = /^Bridge(?:Watchdog|Exporter(?!SeriesDropped))/.test(alert);
      expect(summary?.startsWith('{{ $labels.target }}: ')).toBe(!isOfExporter);
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
    expect(set).toContain('document');
    expect(set.filter((label) => reserved.test(label))).toEqual([]);
  });
});

interface InhibitRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

/** Whether an alert with this name and severity can match. It can be about a validator that is not watched. */
function canMatch(rule: Rule, matchers: readonly string[]): boolean {
  const labels: Readonly<Record<string, string | undefined>> = {
    alertname: rule.alert,
    severity: severityOf(rule),
    watched: 'false',
  };
  return matchers.every((matcher) => {
    const [, label = '', operator, value = ''] = /^(\w+) (=|!=|=~) "?([^"]+)"?$/.exec(matcher) ?? [];
    if (!Object.hasOwn(labels, label)) throw new Error(`${matcher} is about another label`);
    const isEqual = operator === '=~' ? value.split('|').includes(labels[label] ?? '') : labels[label] === value;
    return operator === '!=' ? !isEqual : isEqual;
  });
}

describe('the inhibitions of prometheus/alertmanager.yml', () => {
  // Generated, not read: a run that updates the file checks the new ones.
  const inhibitions = parse(inhibitRules()) as readonly InhibitRule[];
  /** The pairs of alerts of which one can inhibit the other. What matches both sides of a rule is not inhibited by it. */
  const pairs = inhibitions.flatMap(({ source_matchers, target_matchers, equal }) => {
    const isBoth = (rule: Rule): boolean => canMatch(rule, source_matchers) && canMatch(rule, target_matchers);
    const sources = alertRules.filter((rule) => canMatch(rule, source_matchers));
    const targets = alertRules.filter((rule) => canMatch(rule, target_matchers));
    return sources.flatMap((source) =>
      targets
        .filter((target) => keyOf(source) !== keyOf(target) && !(isBoth(source) && isBoth(target)))
        .filter((target) => source.alert === target.alert || !equal.includes('alertname'))
        .map((target) => ({ source, target })),
    );
  });

  it('name only alerts that exist', () => {
    const names = new Set(alertRules.map(({ alert }) => alert));
    const named = inhibitions.flatMap(({ source_matchers, target_matchers }) =>
      [...source_matchers, ...target_matchers].flatMap((matcher) => matcher.match(/\b(?:Bridge|Crosschain)\w+/g) ?? []),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((name) => !names.has(name))).toEqual([]);
  });

  it('leave nobody asleep: a warning that hides critical alerts goes to whoever is paged for these', () => {
    const { route } = parse(readProjectFile('prometheus/alertmanager.yml')) as {
      readonly route: {
        readonly routes: readonly { readonly receiver: string; readonly matchers: readonly string[] }[];
      };
    };
    const receiverOf = (rule: Rule) => route.routes.find(({ matchers }) => canMatch(rule, matchers))?.receiver;
    const hiding = pairs.filter(
      ({ source, target }) => severityOf(source) === 'warning' && severityOf(target) === 'critical',
    );
    expect(new Set(hiding.map(({ source }) => source.alert))).toEqual(new Set(['CrosschainOutboundDisabled']));
    for (const { source, target } of hiding) expect(receiverOf(source), source.alert).toBe(receiverOf(target));
  });

  it('each apply to some alert', () => {
    for (const { source_matchers, target_matchers } of inhibitions) {
      for (const matchers of [source_matchers, target_matchers]) {
        expect(
          alertRules.some((rule) => canMatch(rule, matchers)),
          matchers.join(),
        ).toBe(true);
      }
    }
  });

  it('are of one target, or of a whole cluster', () => {
    for (const { equal, source_matchers } of inhibitions) {
      const isOfCluster = source_matchers.includes('alertname = BridgeExporterAbsent');
      expect(equal).toEqual(expect.arrayContaining(isOfCluster ? ['cluster'] : [...SCRAPE_LABELS, 'target']));
    }
  });

  it('let no warning hide a critical alert, except CrosschainOutboundDisabled, and no info alert hide anything', () => {
    const wrong = pairs.filter(
      ({ source, target }) =>
        !/^(?:critical|warning)$/.test(severityOf(source)) ||
        (severityOf(source) === 'warning' &&
          severityOf(target) === 'critical' &&
          source.alert !== 'CrosschainOutboundDisabled'),
    );
    expect(wrong.map(({ source, target }) => `${keyOf(source)} > ${keyOf(target)}`)).toEqual([]);
  });

  it('hide no alert that hides them, also through others', () => {
    // Removes what no other alert hides, until only cycles are left.
    let left = new Set(alertRules.map(keyOf));
    for (let before = Infinity; left.size < before;) {
      before = left.size;
      const hidden = new Set(pairs.flatMap(({ source, target }) => (left.has(keyOf(source)) ? keyOf(target) : [])));
      left = new Set(Array.from(left).filter((key) => hidden.has(key)));
    }
    expect(Array.from(left)).toEqual([]);
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
  const began = (id: string, exporter: string): string =>
    `bridge_problem_start_timestamp_seconds{${labels(id, exporter)}}`;
  const info = (id: string, exporter: string, text: string): string =>
    `bridge_problem_info{${labels(id, exporter)},summary="${text} lacks signatures",action="Restart ${text}.",hidden_by=""}`;

  /** Summary and action of BridgeBatchUnsigned with these series, an hour after the problems have begun. */
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
    const found = output.matchAll(/Annotations:\{action="([^"]*)".*?summary="([^"]*)"\}/g);
    return Array.from(found, ([, action = '', summary = '']) => [summary, action]).toSorted(([a = ''], [b = '']) =>
      a < b ? -1 : 1,
    );
  }

  it('are those of the problem at the same exporter and cluster, with the age', () => {
    const [one, other] = ['instance="a:1",cluster="x"', 'instance="a:1",cluster="y"'];
    expect(
      textsOf(
        began('aa', one),
        info('aa', one, 'batch 8'),
        info('bb', one, 'batch 9'),
        began('aa', other),
        info('aa', other, 'batch 10'),
      ),
    ).toEqual([
      ['t: batch 10 lacks signatures, for 1h 0m 0s', 'Restart batch 10.'],
      ['t: batch 8 lacks signatures, for 1h 0m 0s', 'Restart batch 8.'],
    ]);
  });

  it('are fixed without bridge_problem_info', () => {
    expect(textsOf(began('aa', 'instance="a:1"'))).toEqual([
      ['t: BridgeBatchUnsigned, for 1h 0m 0s', 'See the runbook.'],
    ]);
  });
});

describe('what hides what', () => {
  it('is transitively closed and has no cycle, so that nobody has to follow a chain of causes', () => {
    expect(findGaps()).toEqual([]);
  });

  it('is a critical alert behind a warning only if that one wakes somebody itself', () => {
    const alertOf = ({ name, severity }: Problem): HidingAlert => ({
      alert: name,
      severity,
      document: '',
      subject: {},
    });
    const critical = problems.filter(({ severity }) => severity === 'critical');
    const warnings = problems.filter(({ severity }) => severity === 'warning');
    const hiding = warnings.filter((cause) => critical.some((effect) => hides(alertOf(cause), alertOf(effect))));
    expect(hiding.map(({ name }) => name)).toEqual(['CrosschainOutboundDisabled']);
    expect(hiding.every(({ isUrgent }) => isUrgent)).toBe(true);
  });

  it('is for the exporter what it is for Alertmanager', () => {
    const inhibitions = parse(inhibitRules()) as readonly InhibitRule[];
    const own = alertRules.filter(({ alert }) => alert !== 'BridgeWatchdog');
    const alertOf = (rule: Rule): HidingAlert => ({
      alert: rule.alert ?? '',
      severity: severityOf(rule) as Severity,
      document: 'module_state',
      subject: { watched: 'false' },
    });
    const differing = own.flatMap((source) =>
      own
        .filter((target) => keyOf(target) !== keyOf(source))
        .filter((target) => {
          const isInhibited = inhibitions.some(
            ({ source_matchers, target_matchers, equal }) =>
              canMatch(source, source_matchers) &&
              canMatch(target, target_matchers) &&
              (source.alert === target.alert || !equal.includes('alertname')),
          );
          return isInhibited !== hides(alertOf(source), alertOf(target));
        })
        .map((target) => `${keyOf(source)} and ${keyOf(target)}`),
    );
    expect(differing).toEqual([]);
  });
});
