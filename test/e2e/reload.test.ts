import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { valueIn } from '../support/exposition-text.js';
import { start, type Running } from '../support/processes.js';

const file = join(mkdtempSync(join(tmpdir(), 'reload-')), 'config.yml');
let simulator: Simulator;
let daemon: Running | undefined;

beforeEach(async () => {
  const options = { host: '127.0.0.1', port: 0, seed: 1, scenario: 'healthy', blockTimeMs: 2000, tick: false } as const;
  simulator = await startSimulator(options);
});

afterEach(async () => {
  await daemon?.stop('SIGKILL');
  await simulator.close();
});

function write(targets: readonly string[], poll = '{interval: 100ms, timeout: 1s, stale_after: 60s}', more = ''): void {
  writeFileSync(file, `poll: ${poll}\ntargets:\n${targets.map((name) => `  - ${target(name)}`).join('\n')}\n${more}`);
}

function target(name: string): string {
  return `{name: ${name}, bridge: {url: "${simulator.url}"}}`;
}

async function metrics({ url }: Running): Promise<string> {
  const { body } = await request(`${url}/metrics`);
  return body.text();
}

async function until(running: Running, wanted: (text: string) => boolean): Promise<string> {
  for (;;) {
    const text = await metrics(running);
    if (wanted(text)) return text;
    await sleep(20);
  }
}

const polls = (text: string, name: string): number =>
  valueIn(text, 'bridge_exporter_polls_total', `target="${name}"`) ?? -1;
const shown = (text: string, name: string): boolean =>
  valueIn(text, 'bridge_batches', `target="${name}"`) !== undefined;

async function reload(
  { url }: Running,
  method: 'POST' | 'PUT' | 'GET' = 'POST',
): Promise<{ status: number; text: string }> {
  const { statusCode, body } = await request(`${url}/-/reload`, { method });
  return { status: statusCode, text: await body.text() };
}

describe('reloading the configuration', () => {
  it('by SIGHUP adds and removes targets, and what is known of the others survives', async () => {
    write(['stays', 'goes']);
    daemon = await start([`--config.file=${file}`]);
    const before = await until(daemon, (text) => polls(text, 'stays') >= 3 && shown(text, 'goes'));
    // From here on nothing of it could be learnt anew.
    simulator.fault('module_state', { kind: 'hang' });
    write(['stays', 'comes']);
    daemon.child.kill('SIGHUP');
    await daemon.logged(/configuration reloaded/);
    const after = await metrics(daemon);
    expect(polls(after, 'stays')).toBeGreaterThanOrEqual(polls(before, 'stays'));
    expect(shown(after, 'stays')).toBe(true);
    expect(after).not.toContain('"goes"');
    expect(polls(after, 'comes')).toBe(0);
    expect(valueIn(after, 'bridge_exporter_config_last_reload_successful')).toBe(1);
    expect(valueIn(after, 'bridge_exporter_config_hash')).not.toBe(valueIn(before, 'bridge_exporter_config_hash'));
  });

  it('keeps the old configuration when the new one is bad, and shows that', async () => {
    write(['a']);
    daemon = await start([`--config.file=${file}`, '--web.enable-lifecycle']);
    const before = await until(daemon, (text) => shown(text, 'a'));
    writeFileSync(file, 'targets: [{name: b}, {nam: c}]');
    const refused = await reload(daemon);
    expect(refused.status).toBe(500);
    expect(refused.text).toContain('targets[0]');
    expect(refused.text).toContain('targets[1]');
    const during = await until(daemon, (text) => polls(text, 'a') > polls(before, 'a'));
    expect(valueIn(during, 'bridge_exporter_config_last_reload_successful')).toBe(0);
    for (const name of [
      'bridge_exporter_config_hash',
      'bridge_exporter_config_last_reload_success_timestamp_seconds',
    ]) {
      expect(valueIn(during, name)).toBe(valueIn(before, name));
    }
    write(['a']);
    expect(await reload(daemon, 'PUT')).toEqual({ status: 200, text: 'reloaded\n' });
    expect(valueIn(await metrics(daemon), 'bridge_exporter_config_last_reload_successful')).toBe(1);
  });

  it('forgets what a target said when it is asked elsewhere', async () => {
    write(['a']);
    daemon = await start([`--config.file=${file}`, '--web.enable-lifecycle']);
    await until(daemon, (text) => shown(text, 'a'));
    writeFileSync(file, 'targets: [{name: a, bridge: {url: "http://127.0.0.1:1"}}]');
    expect((await reload(daemon)).status).toBe(200);
    const after = await until(daemon, (text) => polls(text, 'a') === 1);
    expect(shown(after, 'a')).toBe(false);
    expect(valueIn(after, 'bridge_exporter_poll_failures_total', 'reason="connect"')).toBe(1);
  });

  it('takes over other limits and labels at once', async () => {
    write(['a'], '{interval: 1h, timeout: 1s, stale_after: 2h}');
    daemon = await start([`--config.file=${file}`, '--web.enable-lifecycle']);
    await until(daemon, (text) => shown(text, 'a'));
    const token = 'tokens: [{contract: "0xdac17f958d2ee523a2206206994597c13d831ec7", decimals: 6}]';
    write(['a'], '{interval: 1h, timeout: 1s, stale_after: 2h, max_body_size: 32MiB}', token);
    expect((await reload(daemon)).status).toBe(200);
    const after = await until(daemon, (text) => valueIn(text, 'bridge_token_decimals') === 6);
    expect(valueIn(after, 'bridge_exporter_response_size_limit_bytes')).toBe(32 * 1024 * 1024);
    expect(polls(after, 'a')).toBe(2);
  });

  it('over HTTP only when that is enabled, and only by POST and PUT', async () => {
    write(['a']);
    daemon = await start([`--config.file=${file}`]);
    expect(await reload(daemon)).toEqual({ status: 403, text: 'needs --web.enable-lifecycle\n' });
    expect((await reload(daemon, 'GET')).status).toBe(405);
  });
});
