import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { documentNames } from '../../src/document-types.js';
import { hides, type HidingAlert } from '../../src/problems/due.js';
import { pollProblems } from '../../src/problems/polls.js';
import { problems } from '../../src/problems/problems.js';
import { rules } from '../../src/problems/rules.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';
import { blocksOf } from './pages.js';

/* The routes of docs/notifications.md: which alerts wake a validator, an operator of the bridge and an observer. */

const folder = createTempFolder();
const [validator, operator, observer] = blocksOf('yaml')
  .filter(({ file }) => file === 'docs/notifications.md')
  .map(({ code }, index) => folder.write(`${index}.yml`, code));

/** The receivers of an alert. */
function receiversOf(config: string | undefined, ...labels: readonly string[]): string {
  const { status, output } = runTool('amtool', ['config', 'routes', 'test', `--config.file=${config}`, ...labels]);
  expect(status, output).toBe(0);
  return output.replaceAll(/^Warning.*$/gm, '').trim();
}

type Labels = Readonly<Record<string, string>>;

/** Whether labels have all of these matchers: `name = value`, `name != value` or `name =~ "a|b.*"`. */
function matches(labels: Labels, matchers: readonly string[]): boolean {
  return matchers.every((matcher) => {
    const [, name = '', sign, value = ''] = /^(\w+) ?(=~|!=|=) ?"?([^"]*)"?$/.exec(matcher) ?? [];
    const found = labels[name] ?? '';
    if (sign === '=~') return new RegExp(`^(?:${value})$`).test(found);
    return sign === '=' ? found === value : found !== value;
  });
}

/** The alerts on problems, those about a validator also as one about an own validator. */
const alerts: readonly HidingAlert[] = [
  ...pollProblems.flatMap((problem) => documentNames.map((document) => ({ ...problem, document }))),
  ...problems,
].flatMap(({ name, severity, document }) => {
  const alert = { alert: name, severity, document, subject: {} };
  return /^Bridge(?:Orchestrator|Watched)/.test(name) ? [alert, { ...alert, subject: { watched: 'true' } }] : [alert];
});

interface Alertmanager {
  readonly route: {
    readonly receiver: string;
    readonly routes: readonly { readonly receiver: string; readonly matchers: readonly string[] }[];
  };
}

it.each([
  ['validator', validator],
  ['operator', operator],
  ['observer', observer],
])('no alert that waits or gets lost hides one that wakes the %s', (_role, file = '') => {
  const { route } = parse(readFileSync(file, 'utf8')) as Alertmanager;
  const receiverOf = ({ alert, severity, subject }: HidingAlert): string =>
    route.routes.find(({ matchers }) => matches({ ...subject, alertname: alert, severity }, matchers))?.receiver ??
    route.receiver;
  const wakes = (alert: HidingAlert): boolean => /^(?:phone|pager)$/.test(receiverOf(alert));
  const awake = alerts.filter(wakes);
  expect(awake.length).toBeGreaterThan(9);
  const hidden = alerts
    .filter((cause) => !wakes(cause))
    .flatMap((cause) => awake.filter((effect) => hides(cause, effect)).map((effect) => [cause, effect] as const))
    // A warning may be hidden by one in the chat.
    .filter(([cause, effect]) => effect.severity === 'critical' || receiverOf(cause) === 'nobody')
    .map(([cause, effect]) => `${cause.alert} (${receiverOf(cause)}) hides ${effect.alert}`);
  expect(hidden).toEqual([]);
});

describe.skipIf(!hasTool('amtool'))('the routes', () => {
  it.each([
    ['validator', validator, 'Crosschain'],
    ['observer', observer, 'BridgeStateRolledBack'],
  ])('have every alert about the exporter and its nodes: %s', (_role, config, ofOthers) => {
    const own = rules.filter(({ name, dashboard }) => dashboard === 'bridge-exporter' && !name.startsWith(ofOthers));
    for (const {
      name,
      severity,
      group,
      problems: each = [{ severity: typeof severity === 'string' ? severity : 'critical' }],
    } of own) {
      for (const problem of each) {
        if (problem.severity === 'none') continue;
        // Without data, nothing is judged.
        const isWithoutData =
          group === 'bridge-exporter' || ('inhibitsDocument' in problem && problem.inhibitsDocument);
        const wakes = problem.severity === 'critical' && isWithoutData;
        const labels = [`alertname=${name}`, `severity=${problem.severity}`];
        expect(receiversOf(config, ...labels), name).toMatch(wakes ? /^(phone|pager)$/ : /^chat$/);
      }
    }
  });

  it('of a validator wake for its own validator and for what endangers everybody', () => {
    const own = ['alertname=BridgeOrchestratorMissingVotes', 'severity=warning'];
    expect(receiversOf(validator, ...own, 'watched=true')).toBe('chat');
    expect(
      receiversOf(validator, 'alertname=BridgeOrchestratorDeadlineNear', 'severity=critical', 'watched=true'),
    ).toBe('phone');
    expect(receiversOf(validator, ...own, 'watched=false')).toBe('nobody');
    expect(receiversOf(validator, 'alertname=BridgeWatchedValidatorInactive', 'severity=critical')).toBe('phone');
    expect(receiversOf(validator, 'alertname=BridgeClaimWithoutBatch', 'severity=critical')).toBe('phone');
    expect(receiversOf(validator, 'alertname=BridgeOracleStalled', 'severity=critical')).toBe('chat');
    expect(receiversOf(validator, 'alertname=CrosschainBacklogStuck', 'severity=critical')).toBe('nobody');
    expect(receiversOf(validator, 'alertname=BridgeWatchedOrchestratorFundsLow', 'severity=warning')).toBe('chat');
    expect(receiversOf(validator, 'alertname=BridgeHeightStalled', 'severity=critical')).toBe('phone');
  });

  it('of an operator wake for every critical alert', () => {
    for (const [severity, receiver] of Object.entries({ critical: 'pager', warning: 'chat', info: 'record' })) {
      expect(receiversOf(operator, 'alertname=BridgeParamsChanged', `severity=${severity}`)).toBe(receiver);
    }
  });

  it('of an observer wake for chains, and not for the bridge', () => {
    expect(receiversOf(observer, 'alertname=CrosschainBacklogStuck', 'severity=critical')).toBe('pager');
    expect(receiversOf(observer, 'alertname=CrosschainOldestPendingTooOld', 'severity=warning')).toBe('chat');
    expect(receiversOf(observer, 'alertname=BridgeBatchUnsigned', 'severity=critical')).toBe('nobody');
  });

  it('send the heartbeat, and wake when the exporter is gone, in every role', () => {
    for (const config of [validator, operator, observer]) {
      expect(receiversOf(config, 'alertname=BridgeWatchdog', 'severity=none')).toBe('heartbeat');
      expect(receiversOf(config, 'alertname=BridgeExporterAbsent', 'severity=critical')).toMatch(/^(phone|pager)$/);
    }
  });

  it('send the summary of each alert of a group, whose summaries differ', () => {
    const alert = (summary: string) => ({ status: 'firing', labels: {}, annotations: { summary } });
    const data = folder.write(
      'data.json',
      JSON.stringify({ alerts: [alert('chain 1 is frozen'), alert('chain 56 is frozen')], commonAnnotations: {} }),
    );
    const texts = blocksOf('yaml')
      .filter(({ file }) => file === 'docs/notifications.md')
      .flatMap(({ code }) => code.match(/(?<=(?:description|message|text): ')\{\{ range[^']*/g) ?? []);
    expect(texts).toHaveLength(6);
    for (const text of texts) {
      const flags = ['template', 'render', `--template.data=${data}`, `--template.text=${text}`];
      const { output } = runTool('amtool', [...flags, `--template.glob=${folder.write('empty.tmpl', '')}`]);
      expect(output).toMatch(/chain 1 is frozen[^]*chain 56 is frozen/);
    }
  });

  it('name alerts that exist', () => {
    const names = new Set(rules.map(({ name }) => name));
    const text = blocksOf('yaml').flatMap(({ file, code }) => (file === 'docs/notifications.md' ? code : []));
    const named = text.join('\n').match(/\b(?:Bridge|Crosschain)[A-Z]\w+\b(?!\.\*)/g) ?? [];
    expect(named.filter((name) => !names.has(name))).toEqual([]);
  });
});
