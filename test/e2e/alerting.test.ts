import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { start, type Running } from '../support/processes.js';
import { hasTool } from '../support/tools.js';

/*
 * From the node to the pager, with the programs people run. Time goes 120 times as fast: the simulated chain lives two
 * minutes a second, and the rules are those of prometheus/alerts.yml with every duration divided by it.
 */
const FASTER = 120;
const BLOCK_MS = 2000;
const TICK_MS = 100;

const folder = mkdtempSync(join(tmpdir(), 'alerting-'));
const examples = new URL('../../prometheus/', import.meta.url);
const hasTools = [hasTool('prometheus'), hasTool('prometheus-alertmanager')].every(Boolean);

interface Notification {
  readonly receiver: string;
  readonly status: 'firing' | 'resolved';
  readonly alerts: readonly {
    readonly status: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  }[];
}

interface Rule {
  readonly expr: string | number;
  readonly for?: string;
  readonly keep_firing_for?: string;
}

const notifications: Notification[] = [];
const children: ChildProcess[] = [];
let webhook: Server;
let simulator: Simulator;
let ticking: NodeJS.Timeout;
let daemon: Running | undefined;

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A duration of PromQL, divided. */
const shorter = (duration: string): string =>
  duration.replace(/^(\d+)([smhd])$/, (_all, count: string, unit: string) => {
    return `${Math.round((Number(count) * (SECONDS[unit] ?? NaN) * 1000) / FASTER)}ms`;
  });

/** Durations after `for`, `keep_firing_for` and `offset` and in brackets; thresholds are numbers and stay. */
function fasterRules(): string {
  const written = parse(readFileSync(new URL('alerts.yml', examples), 'utf8')) as {
    groups: { name: string; rules: Rule[] }[];
  };
  const groups = written.groups.map(({ name, rules }) => ({
    name,
    rules: rules.map((rule) => ({
      ...rule,
      ...(rule.for !== undefined && { for: shorter(rule.for) }),
      ...(rule.keep_firing_for !== undefined && { keep_firing_for: shorter(rule.keep_firing_for) }),
      expr: String(rule.expr).replaceAll(/(?<=\[|offset )\d+[smhd]/g, shorter),
    })),
  }));
  return stringify({ groups });
}

/** Routes and inhibitions of the example, without its patience, to the webhook of this test. */
function fasterAlertmanager(port: number): string {
  return readFileSync(new URL('alertmanager.yml', examples), 'utf8')
    .replaceAll('localhost:9095', `127.0.0.1:${port}`)
    .replaceAll(/(group_wait|group_interval): .*/g, '$1: 1s');
}

beforeAll(async () => {
  if (!hasTools) return;
  webhook = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      notifications.push(JSON.parse(Buffer.concat(chunks).toString()) as Notification);
      response.end();
    });
  });
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    seed: 7,
    scenario: 'stuck',
    blockTimeMs: BLOCK_MS,
    tick: false,
  });
  ticking = setInterval(() => simulator.advance((TICK_MS * FASTER) / BLOCK_MS), TICK_MS);
  const target = `{name: demo, bridge: {url: "${simulator.url}"}, crosschain: {url: "${simulator.url}", window: 500}}`;
  daemon = await start([
    `--config.file=${file('bridge.yml', `poll: {interval: 500ms, timeout: 5s, stale_after: 30s}\ntargets: [${target}]\n`)}`,
  ]);

  const [alertmanagerPort, prometheusPort] = [await freePort(), await freePort()];
  run('prometheus-alertmanager', [
    `--config.file=${file('alertmanager.yml', fasterAlertmanager((webhook.address() as AddressInfo).port))}`,
    `--storage.path=${folder}/alertmanager`,
    `--web.listen-address=127.0.0.1:${alertmanagerPort}`,
    // Alone.
    '--cluster.listen-address=',
  ]);
  const prometheus = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: [file('alerts.yml', fasterRules())],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanagerPort}`] }] }] },
    scrape_configs: [{ job_name: 'bridge', static_configs: [{ targets: [new URL(daemon.url).host] }] }],
  };
  run('prometheus', [
    `--config.file=${file('prometheus.yml', stringify(prometheus))}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${prometheusPort}`,
  ]);
});

afterAll(async () => {
  clearInterval(ticking);
  for (const child of children) {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  if (!hasTools) return;
  await daemon?.stop();
  await simulator.close();
  webhook.close();
  rmSync(folder, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function run(program: string, flags: readonly string[]): void {
  children.push(spawn(program, [...flags, '--log.level=error'], { stdio: 'ignore' }));
}

/** The first notification that tells this about the alert. */
async function notified(
  alertname: string,
  status: string,
): Promise<{ by: string; alert: Notification['alerts'][number] }> {
  for (;;) {
    for (const { receiver, alerts } of notifications) {
      const alert = alerts.find(({ labels, status: told }) => labels['alertname'] === alertname && told === status);
      if (alert) return { by: receiver, alert };
    }
    await sleep(100);
  }
}

describe.skipIf(!hasTools)('a bridge that is stuck', () => {
  it('wakes someone, with what to do, once, until it recovers', async () => {
    const { by, alert } = await notified('BridgeBacklogStuck', 'firing');
    expect(by).toBe('pager');
    expect(alert.labels).toMatchObject({ severity: 'critical', target: 'demo', endpoint: 'module_state' });
    expect(alert.annotations).toMatchObject({
      summary: 'demo: transfers wait and no batch is built.',
      description: expect.stringMatching(/^At least \d+ transfers of demo have waited/),
      runbook_url: expect.stringMatching(/\/docs\/runbook\.md#bridgebacklogstuck$/),
    });

    simulator.setScenario('healthy');
    expect((await notified('BridgeBacklogStuck', 'resolved')).by).toBe('pager');
    const told = notifications.filter(({ alerts }) =>
      alerts.some(({ labels }) => labels['alertname'] === 'BridgeBacklogStuck' && labels['severity'] === 'critical'),
    );
    expect(told.map(({ status }) => status)).toEqual(['firing', 'resolved']);
    expect((await notified('BridgeWatchdog', 'firing')).by).toBe('heartbeat');
  }, 85_000);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
