import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { groupBy } from '../../src/facts/grouping.js';
import { alertTexts } from '../../src/problems/alert-texts.js';
import { problems } from '../../src/problems/problems.js';
import { formatDuration, MINUTE_MS } from '../../src/units.js';
import { parse, stringify } from 'yaml';
import { atEnd } from '../support/at-end.js';
import { labelsOf, seriesOf } from '../support/exposition-text.js';
import { get } from '../support/http.js';
import { freePort, listenOnFreePort } from '../support/ports.js';
import { startDaemon, startProcess } from '../support/processes.js';
import { readProjectFile } from '../support/project-files.js';
import { startPrometheus } from '../support/prometheus.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { describeIf, hasTool } from '../support/tools.js';
import { waitFor } from '../support/wait-for.js';

/*
 * The whole path of an alert with the real programs: simulator, exporter, Prometheus, Alertmanager, webhook. Time runs 120 times faster:
 * the chain advances two minutes per second, and the limits of its problems and every duration in prometheus/alerts.yml are
 * divided by 120. The exporter polls in real time, so the limits of problems of polls stay.
 */
const SPEED = 120;
const BLOCK_MS = 2000;
const TICK_MS = 100;
/** A problem ends two minutes after it was there, in real time. */
const TEST_TIMEOUT_MS = 240_000;

const folder = createTempFolder();
const hasTools = [hasTool('prometheus'), hasTool('prometheus-alertmanager')].every(Boolean);

interface Alert {
  readonly status: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Notification {
  readonly receiver: string;
  readonly status: 'firing' | 'resolved';
  readonly alerts: readonly Alert[];
}

interface Rule {
  readonly expr: string | number;
  readonly for?: string;
  readonly keep_firing_for?: string;
}

const notifications: Notification[] = [];
const webhook = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    notifications.push(JSON.parse(Buffer.concat(chunks).toString()) as Notification);
    response.end();
  });
});

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Divides a PromQL duration by the speed. */
const scaled = (duration: string): string =>
  duration.replace(/^(\d+)([smhd])$/, (_match, count: string, unit: string) => {
    return `${Math.round((Number(count) * (SECONDS[unit] ?? NaN) * 1000) / SPEED)}ms`;
  });

/**
 * `problems` of the configuration: the limits divided by the speed. What the external contract has too is left out, because
 * its limits differ by document, and it is not polled here.
 */
function scaledLimits() {
  const byName = Array.from(groupBy(problems, ({ name }) => name));
  const polled = byName.filter(([, own]) => own.every(({ document }) => document !== 'external_contract'));
  const settings = polled.map(([name, own]) => {
    const limits = own.map(({ severity, afterMinutes }) => {
      return [severity, { after: formatDuration((afterMinutes * MINUTE_MS) / SPEED) }] as const;
    });
    return [name, Object.fromEntries(limits)] as const;
  });
  return Object.fromEntries(settings);
}

/** The alert rules with scaled durations: `for`, `keep_firing_for`, and in expressions ranges and offsets. */
function scaledRules(): string {
  const { groups } = parse(readProjectFile('prometheus/alerts.yml')) as { groups: { name: string; rules: Rule[] }[] };
  const scaledGroups = groups.map(({ name, rules }) => ({
    name,
    rules: rules.map((rule) => ({
      ...rule,
      ...(rule.for !== undefined && { for: scaled(rule.for) }),
      ...(rule.keep_firing_for !== undefined && { keep_firing_for: scaled(rule.keep_firing_for) }),
      expr: String(rule.expr).replaceAll(/(?<=\[|offset )\d+[smhd]/g, scaled),
    })),
  }));
  return stringify({ groups: scaledGroups });
}

/** The example with its routes and inhibitions, short intervals, and the webhook of this test as its receiver. */
function alertmanagerConfig(webhookPort: number): string {
  return readProjectFile('prometheus/alertmanager.yml')
    .replaceAll('localhost:9095', `127.0.0.1:${webhookPort}`)
    .replaceAll(/(group_wait|group_interval): .*/g, '$1: 1s');
}

/** Waits for the first notification with this status of an alert. */
async function waitForNotification(alertname: string, status: string): Promise<{ receiver: string; alert: Alert }> {
  const [found] = await waitFor(
    () =>
      notifications.flatMap(({ receiver, alerts }) => {
        const alert = alerts.find(
          ({ labels, status: current }) => labels['alertname'] === alertname && current === status,
        );
        return alert ? [{ receiver, alert }] : [];
      }),
    ({ length }) => length > 0,
    { timeoutMs: TEST_TIMEOUT_MS - 5_000 },
  );
  if (found === undefined) throw new Error('there is one');
  return found;
}

/** The changes of the status of the critical BridgeOracleStalled. */
function statusChanges(): string[] {
  const statuses = notifications
    .flatMap(({ alerts }) => alerts)
    .filter(({ labels }) => labels['alertname'] === 'BridgeOracleStalled' && labels['severity'] === 'critical')
    .map(({ status }) => status);
  return statuses.filter((status, index) => status !== statuses[index - 1]);
}

describeIf(hasTools, 'an alert', async () => {
  const webhookPort = await listenOnFreePort(webhook);
  const simulator = await startTestSimulator({ seed: 7, scenario: 'stuck', blockTimeMs: BLOCK_MS });
  const blockTimer = setInterval(() => simulator.model.advance((TICK_MS * SPEED) / BLOCK_MS), TICK_MS);
  atEnd(() => clearInterval(blockTimer));
  const config = {
    poll: { interval: '500ms', timeout: '5s', stale_after: '30s' },
    targets: [{ name: 'demo', bridge: { url: simulator.url }, crosschain: { url: simulator.url, window: 500 } }],
    // The minimum fee of one token, so that BridgeBacklogStuck is there and is hidden.
    tokens: [{ contract: simulator.model.bridge.tokens[0].contract, decimals: 6, min_batch_fee: '1' }],
    problems: scaledLimits(),
  };
  const daemon = await startDaemon([`--config.file=${folder.write('bridge.yaml', stringify(config))}`]);

  const alertmanagerAddress = `127.0.0.1:${await freePort()}`;
  startProcess('prometheus-alertmanager', [
    `--config.file=${folder.write('alertmanager.yml', alertmanagerConfig(webhookPort))}`,
    `--storage.path=${folder.path}/alertmanager`,
    `--web.listen-address=${alertmanagerAddress}`,
    // Disables the cluster mode.
    '--cluster.listen-address=',
    '--log.level=error',
  ]);
  const prometheusConfig = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [folder.write('alerts.yml', scaledRules())],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanagerAddress] }] }] },
    scrape_configs: [{ job_name: 'bridge', static_configs: [{ targets: [new URL(daemon.url).host] }] }],
  };
  await startPrometheus(folder, stringify(prometheusConfig));

  it(
    'of a stuck bridge reaches the receiver once with its annotations, and resolves when the bridge recovers',
    async () => {
      const { receiver, alert } = await waitForNotification('BridgeOracleStalled', 'firing');
      expect(receiver).toBe('pager');
      expect(alert.labels).toMatchObject({ severity: 'critical', target: 'demo', document: 'module_state' });
      expect(alert.annotations).toMatchObject({
        summary: alertTexts.BridgeOracleStalled[0],
        description: expect.stringMatching(/^demo, for \d+.*: event \d+ .* is not observed/),
        runbook_url: expect.stringMatching(/\/docs\/runbook\.md#bridgeoraclestalled$/),
      });

      // The notification has the words of the exporter, and opens its page at the problem.
      const { text } = await get(`${daemon.url}/metrics`);
      const infos = seriesOf(text).filter(({ name }) => name === 'bridge_problem_info');
      const labelsOfProblems = infos.map(labelsOf);
      const info = labelsOfProblems.find(({ problem }) => problem === 'BridgeOracleStalled');
      expect(alert.annotations['action']).toBe(info?.['action']);
      expect(alert.annotations['description']).toContain(
        `: ${info?.['summary']}. ${alertTexts.BridgeOracleStalled[1]}`,
      );

      const hidden = labelsOfProblems.find(({ problem }) => problem === 'BridgeBacklogStuck');
      expect(hidden?.['hidden_by']).toBe('BridgeOracleStalled');

      simulator.model.setScenario('healthy');
      expect((await waitForNotification('BridgeOracleStalled', 'resolved')).receiver).toBe('pager');
      expect(statusChanges()).toEqual(['firing', 'resolved']);
      expect((await waitForNotification('BridgeWatchdog', 'firing')).receiver).toBe('heartbeat');
      const alertnames = notifications.flatMap(({ alerts }) => alerts.map(({ labels }) => labels['alertname']));
      expect(alertnames, 'the exporter hides it').not.toContain('BridgeBacklogStuck');
    },
    TEST_TIMEOUT_MS,
  );
});
