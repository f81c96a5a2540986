import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { inhibitRules } from '../../packaging/generate/rules.js';
import { metricLabels } from '../../src/exposition/metrics-page.js';
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
const problemNames = new Set(problems.map(({ name }) => name));
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
      const [before, limit, ...others] = String(expr).split(' > ');
      expect(before).toBe(`time() - bridge_problem_start_timestamp_seconds{${matchers}}`);
      expect(limit).toMatch(/^\d+$/);
      expect([others, duration]).toEqual([[], undefined]);
    }
  });

  it('has a rule for every severity of every problem', () => {
    const keys = new Set(rules.map(keyOf));
    expect(problems.map(({ name, severity }) => `${name}/${severity}`).filter((key) => !keys.has(key))).toEqual([]);
  });

  it('is below 900 lines, without recording rules and without a rule of more than five lines', () => {
    expect(readProjectFile('prometheus/alerts.yml').split('\n').length).toBeLessThan(900);
    expect(rules.filter(({ record }) => record !== undefined)).toEqual([]);
    expect(rules.filter((rule) => linesOf(rule).length > 5).map(keyOf)).toEqual([]);
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
      expect([undefined, '/pending?target={{ $labels.target | urlquery }}']).toContain(pending_url);
      expect(action).toMatch(/\.$/);
      expect(summary).toMatch(/\.$/);
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

describe.skipIf(!hasPromtool)('the summary of an alert', () => {
  const began = (problem: string, severity: string, labels = ''): string =>
    `bridge_problem_start_timestamp_seconds{target="t",problem="${problem}",severity="${severity}"${labels}} 0`;

  /** The summaries of these alerts with these series, five hours after all problems have begun. */
  function summaries(names: readonly string[], lines: readonly string[]): readonly (string | undefined)[] {
    const series = lines.map((line) => ({
      series: line.slice(0, line.lastIndexOf(' ')),
      values: `${line.slice(line.lastIndexOf(' '))}x5`,
    }));
    const alerts = names.map((alertname) => ({ eval_time: '5h', alertname, exp_alerts: [] }));
    const tests = [{ interval: '1h', input_series: series, alert_rule_test: alerts }];
    const content = { rule_files: [RULES], evaluation_interval: '1h', tests };
    const file = createTempFolder().write('test.yml', JSON.stringify(content));
    const { output } = runTool('promtool', ['test', 'rules', file]);
    return Array.from(output.matchAll(/summary="t: ([^"]*)"/g), ([, summary]) => summary);
  }

  it('says which number, validator, deadline or chain matters, and nothing of it without the series', () => {
    const chain = (id: string): string => `{target="t",chain_id="${id}",chain="bsc"}`;
    const member = '{target="t",orchestrator="inj1a",name="Alpha",confirms="batch"}';
    const series = [
      began('CrosschainFreezeNear', 'critical', ',chain_id="56"'),
      began('CrosschainFreezeNear', 'critical', ',chain_id="57"'),
      began('CrosschainFreezeNear', 'critical', ',chain_id="58"'),
      ...['56', '57'].flatMap((id) => [
        `crosschain_age_limit_seconds${chain(id)} 60`,
        `crosschain_schedule_lookahead_nonces${chain(id)} 60`,
        `crosschain_lowest_missed_nonce${chain(id)} 1000000`,
        `crosschain_highest_pending_nonce${chain(id)} ${id === '56' ? 1000055 : 1000060}`,
      ]),
      began('BridgeOrchestratorDeadlineNear', 'critical', ',orchestrator="inj1a",watched="true"'),
      began('BridgeOrchestratorDeadlineNear', 'critical', ',orchestrator="inj1b",watched="true"'),
      began('BridgeOrchestratorDeadlineNear', 'critical'),
      `bridge_orchestrator_info${member} 1`,
      `bridge_orchestrator_confirm_deadline_height${member} 5000`,
      'bridge_height{target="t"} 1000',
      'bridge_block_time_seconds{target="t"} 2',
    ];
    expect(summaries(['CrosschainFreezeNear', 'BridgeOrchestratorDeadlineNear'], series)).toEqual([
      'chain 56 (bsc) freezes after 5 more nonces, because nonce 1000000 is missed (past the limit for 5h 0m 0s).',
      'chain 57 (bsc) is frozen, because nonce 1000000 is missed (past the limit for 5h 0m 0s).',
      'chain 58 freezes, because a nonce is missed (past the limit for 5h 0m 0s).',
      'your validator Alpha inj1a has 2h 13m 20s left to sign, or it is jailed (began 5h 0m 0s ago).',
      'your validator inj1b must sign soon, or it is jailed (began 5h 0m 0s ago).',
      'validators with a third of the power have not signed and are jailed within 12 hours (began 5h 0m 0s ago).',
    ]);
  });

  it.each<readonly [alert: string, severity: string, labels: string, size: string, ...series: string[]]>([
    ['BridgeBatchUnsigned', 'critical', '', '2 batches at present', 'bridge_batches_below_threshold{target="t"} 2'],
    ['BridgeBatchNotRelayed', 'critical', '', '3 batches at present', 'bridge_relayable_batches{target="t"} 3'],
    ['BridgeBatchOverdue', 'critical', '', '4 batches at present', 'bridge_batches_overdue{target="t"} 4'],
    ['BridgeValsetDrift', 'warning', '', '12% at present', 'bridge_valset_power_drift_ratio{target="t"} 0.12'],
    [
      'BridgeOracleSilent',
      'critical',
      ',document="external_contract"',
      '5 events at present',
      'bridge_contract_unobserved_events{target="t"} 5',
    ],
    ['BridgePowerThresholdTooLow', 'warning', '', '67%', 'bridge_contract_power_threshold_ratio{target="t"} 0.67'],
    [
      'BridgeOracleStalled',
      'critical',
      '',
      '6 events at present, 41% of the power have claimed the next one',
      'bridge_pending_events{target="t"} 6',
      'bridge_next_event_voted_power_ratio{target="t"} 0.41',
    ],
    [
      'BridgeBacklogStuck',
      'critical',
      ',token_contract="0xt"',
      '7 transfers at present',
      'bridge_token_unbatched_transfers{target="t",token_contract="0xt",denom="d"} 7',
      'bridge_token_unbatched_transfers{target="t",token_contract="0xu",denom="d"} 9',
      'bridge_token_unbatched_transfers{target="t",token_contract="0xt",denom="d",cluster="other"} 11',
    ],
    [
      'BridgeBacklogHigh',
      'warning',
      '',
      '1500005 transfers at present',
      'bridge_unbatched_transfers{target="t"} 1500000',
      'bridge_batch_transactions{target="t"} 5',
    ],
    [
      'BridgeNodeBehind',
      'warning',
      ',document="module_state"',
      'newest block 50m 0s old',
      'bridge_exporter_node_block_timestamp_seconds{target="t",document="module_state"} 15000',
    ],
    [
      'BridgeTokenUnbacked',
      'critical',
      ',token_contract="0xt"',
      '2.5 missing',
      'bridge_token_backing_surplus_amount{target="t",token_contract="0xt",denom="d"} -2500000',
      'bridge_token_decimals{target="t",token_contract="0xt"} 6',
    ],
    [
      'CrosschainBacklogStuck',
      'critical',
      ',chain_id="56"',
      '8 transactions at present',
      'crosschain_cctxs{target="t",list="pending",chain_id="56",status="a"} 8',
    ],
    [
      'CrosschainCctxsMissed',
      'warning',
      ',chain_id="56"',
      '9 transactions at present',
      'crosschain_cctxs{target="t",list="missed",chain_id="56",status="a"} 5',
      'crosschain_cctxs{target="t",list="missed",chain_id="56",status="b"} 4',
    ],
    [
      'CrosschainCctxsUnlisted',
      'warning',
      ',chain_id="56"',
      '2 transactions at present',
      'crosschain_cctxs_unlisted{target="t",chain_id="56"} 2',
    ],
    [
      'CrosschainOldestPendingTooOld',
      'critical',
      ',chain_id="56"',
      '4h 0m 0s old',
      'crosschain_oldest_cctx_created_timestamp_seconds{target="t",list="pending",chain_id="56"} 3600',
    ],
    [
      'CrosschainPendingListTruncated',
      'warning',
      '',
      '7 transactions at present',
      'crosschain_cctxs_hidden{target="t"} 7',
    ],
    [
      'CrosschainBacklogHigh',
      'warning',
      '',
      '1200 transactions at present',
      'crosschain_total_pending{target="t"} 1200',
    ],
  ])('of %s (%s) says how large it is at present', (alert, severity, labels, size, ...series) => {
    expect(summaries([alert], [began(alert, severity, labels), ...series])).toEqual([
      expect.stringContaining(` (${size}, `) as string,
    ]);
  });
});
