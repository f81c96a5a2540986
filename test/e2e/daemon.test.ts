import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { seriesOf, valueIn } from '../support/exposition-text.js';
import { run, start, type Running } from '../support/processes.js';

/*
 * The built daemon against the simulator, over real sockets, with its collect thread.
 */
const folder = mkdtempSync(join(tmpdir(), 'daemon-'));
let simulator: Simulator;
let daemons: Running[] = [];

beforeEach(async () => {
  const options = { host: '127.0.0.1', port: 0, seed: 1, scenario: 'healthy', blockTimeMs: 2000, tick: false } as const;
  simulator = await startSimulator(options);
});

afterEach(async () => {
  await Promise.all(daemons.map(async (daemon) => daemon.stop('SIGKILL')));
  daemons = [];
  await simulator.close();
});

async function startDaemon(yaml: string, ...flags: string[]): Promise<Running> {
  const file = join(folder, `${daemons.length}-${Math.random()}.yml`);
  writeFileSync(file, yaml);
  const daemon = await start([`--config.file=${file}`, ...flags]);
  daemons.push(daemon);
  return daemon;
}

const FAST = 'poll: {interval: 100ms, timeout: 1s, stale_after: 1500ms}';

function target(name: string, url = simulator.url): string {
  return `{name: ${name}, bridge: {url: "${url}"}, crosschain: {url: "${url}", window: 500}}`;
}

async function get(url: string, headers: Record<string, string> = {}) {
  const { statusCode, headers: received, body } = await request(url, { headers });
  const bytes = Buffer.from(await body.arrayBuffer());
  const text = received['content-encoding'] === 'gzip' ? gunzipSync(bytes).toString() : bytes.toString();
  return { status: statusCode, headers: received, text };
}

async function metrics(daemon: Running): Promise<string> {
  return (await get(`${daemon.url}/metrics`)).text;
}

/** Scrapes until the exposition is as wanted; the test's own time limit ends it otherwise. */
async function until(daemon: Running, wanted: (exposition: string) => boolean): Promise<string> {
  for (;;) {
    const exposition = await metrics(daemon);
    if (wanted(exposition)) return exposition;
    await sleep(20);
  }
}

const up = (exposition: string, endpoint: string): number | undefined =>
  valueIn(exposition, 'bridge_exporter_up', `endpoint="${endpoint}"`);

describe('the daemon', () => {
  it('shows both documents, and moves with them', async () => {
    const daemon = await startDaemon(`${FAST}\ntargets: [${target('a')}]`);
    const first = await until(daemon, (text) => up(text, 'module_state') === 1 && up(text, 'rate_limiter_input') === 1);
    const { state } = simulator.model.moduleState();
    expect(valueIn(first, 'bridge_last_observed_nonce')).toBe(Number(state.last_observed_nonce));
    expect(valueIn(first, 'bridge_unbatched_transfers')).toBe(state.unbatched_transfers.length);
    const input = simulator.model.rateLimiterInput({ window: 500n });
    expect(valueIn(first, 'crosschain_total_pending')).toBe(Number(input.total_pending));
    expect(valueIn(first, 'crosschain_pending_cctxs_value')).toBe(Number(input.pending_cctxs_value));
    expect(valueIn(first, 'bridge_height')).toBe(simulator.model.height);

    simulator.advance(60);
    const next = await until(daemon, (text) =>
      ['bridge_height', 'crosschain_height'].every((name) => valueIn(text, name) === simulator.model.height),
    );
    const moved = ['bridge_last_observed_nonce', 'bridge_last_outgoing_pool_id', 'crosschain_height'];
    for (const name of moved) expect(valueIn(next, name), name).toBeGreaterThan(valueIn(first, name) ?? Infinity);
  });

  it('tells that the node is gone, withdraws the chain series in time, and shows them again when it is back', async () => {
    const daemon = await startDaemon(`${FAST}\ntargets: [${target('a')}]`);
    await until(daemon, (text) => up(text, 'module_state') === 1);
    simulator.fault('module_state', { kind: 'reset' });

    const failing = await until(daemon, (text) => up(text, 'module_state') === 0);
    expect(valueIn(failing, 'bridge_exporter_poll_failures_total', 'reason="aborted"', 'module_state')).toBeGreaterThan(
      0,
    );
    expect(valueIn(failing, 'bridge_batches'), 'shown until stale_after').toBeDefined();

    const stale = await until(daemon, (text) => valueIn(text, 'bridge_batches') === undefined);
    expect(seriesOf(stale).filter(({ name }) => /^bridge_(?!exporter_)/.test(name))).toEqual([]);
    const success = valueIn(stale, 'bridge_exporter_last_success_timestamp_seconds', 'module_state') ?? 0;
    const attempt = valueIn(stale, 'bridge_exporter_last_attempt_timestamp_seconds', 'module_state') ?? 0;
    expect(attempt - success).toBeGreaterThan(1);
    expect(up(stale, 'rate_limiter_input'), 'the other endpoint goes on').toBe(1);
    expect(valueIn(stale, 'crosschain_height')).toBeDefined();

    simulator.fault('module_state', undefined);
    const back = await until(daemon, (text) => up(text, 'module_state') === 1);
    expect(valueIn(back, 'bridge_batches')).toBeDefined();
    expect(daemon.log.filter((line) => line.includes('poll failed')).length, 'logged once, not each time').toBe(1);
  });

  it('is not held up by an endpoint that hangs', async () => {
    simulator.fault('module_state', { kind: 'hang' });
    const daemon = await startDaemon(
      `poll: {interval: 100ms, timeout: 30s, stale_after: 60s}\ntargets: [${target('a')}, ${target('b')}]`,
    );
    await until(daemon, (text) => (valueIn(text, 'bridge_exporter_polls_total', '"b"', 'rate_limiter_input') ?? 0) > 5);
    const ready = await get(`${daemon.url}/-/ready`);
    expect(ready).toMatchObject({ status: 503, text: 'not polled yet: a module_state, b module_state\n' });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends on %s within a second and with 0, with a poll hanging',
    async (signal) => {
      simulator.fault('module_state', { kind: 'hang' });
      const daemon = await startDaemon(`targets: [${target('a')}]`);
      await until(daemon, (text) => up(text, 'rate_limiter_input') === 1);
      const { code, ms } = await daemon.stop(signal);
      expect(code).toBe(0);
      expect(ms).toBeLessThan(1000);
      expect(daemon.log.at(-1)).toContain(`stopped by ${signal}`);
    },
  );

  it('gives two targets one HELP and TYPE a family, and no series twice', async () => {
    const daemon = await startDaemon(`${FAST}\ntargets: [${target('a')}, ${target('b')}]`);
    const text = await until(
      daemon,
      (exposition) => (exposition.match(/^bridge_exporter_up.* 1$/gm) ?? []).length === 4,
    );
    for (const kind of ['HELP', 'TYPE']) {
      const names = [...text.matchAll(new RegExp(`^# ${kind} (\\S+)`, 'gm'))].map(([, name]) => name);
      expect(new Set(names).size).toBe(names.length);
    }
    const keys = seriesOf(text).map(({ name, labels }) => `${name}{${labels}}`);
    expect(new Set(keys).size).toBe(keys.length);
    for (const name of ['bridge_batches', 'crosschain_total_pending']) {
      expect(keys).toEqual(expect.arrayContaining([`${name}{target="a"}`, `${name}{target="b"}`]));
    }
  });

  it('negotiates the format and gzip', async () => {
    const daemon = await startDaemon(`${FAST}\ntargets: [${target('a')}]`);
    await until(daemon, (text) => up(text, 'module_state') === 1);
    const text = await get(`${daemon.url}/metrics`, { 'accept-encoding': 'gzip' });
    expect(text.headers).toMatchObject({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'content-encoding': 'gzip',
    });
    expect(text.text).toMatch(/^# TYPE bridge_exporter_polls_total counter$/m);
    const open = await get(`${daemon.url}/metrics`, { accept: 'application/openmetrics-text;version=1.0.0' });
    expect(open.headers).toMatchObject({
      'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8',
    });
    expect(open.headers['content-encoding']).toBeUndefined();
    expect(open.text).toMatch(/^# TYPE bridge_exporter_polls counter$/m);
    expect(open.text).toMatch(/^bridge_exporter_polls_total\{/m);
    expect(open.text.endsWith('\n# EOF\n')).toBe(true);
    expect((await metrics(daemon)).includes('bridge_exporter_polls_total{')).toBe(true);
  });

  it('answers its other paths, and refuses what there is not', async () => {
    const daemon = await startDaemon(`${FAST}\ntargets: [${target('<a&b>')}]`, '--web.telemetry-path=/own/path');
    expect(await get(`${daemon.url}/-/healthy`)).toMatchObject({ status: 200, text: 'healthy\n' });
    expect((await get(`${daemon.url}/own/path`)).status).toBe(200);
    expect((await get(`${daemon.url}/metrics`)).status).toBe(404);
    const page = await get(`${daemon.url}/`);
    expect(page.text).toContain('&lt;a&amp;b&gt;');
    expect(page.text).toContain('href="/own/path"');
    const post = await request(`${daemon.url}/own/path`, { method: 'POST' });
    expect(post.statusCode).toBe(405);
    expect(post.headers['allow']).toBe('GET, HEAD');
    await post.body.dump();
    const head = await request(`${daemon.url}/own/path`, { method: 'HEAD' });
    expect(head.statusCode).toBe(200);
    expect(await head.body.text()).toBe('');
    expect((await get(`${daemon.url}/%`)).status).toBe(404);
  });

  it('polls only the targets of its shard', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const yaml = `${FAST}\ntargets: [${names.map((name) => target(name)).join(', ')}]`;
    const shards = await Promise.all(
      ['1/2', '2/2'].map(async (shard) => startDaemon(yaml, `--targets.shard=${shard}`)),
    );
    const polled = await Promise.all(
      shards.map(async (daemon) => {
        const text = await metrics(daemon);
        return seriesOf(text)
          .filter(({ name, labels }) => name === 'bridge_exporter_polls_total' && labels.includes('module_state'))
          .map(({ labels }) => /target="(\w+)"/.exec(labels)?.[1]);
      }),
    );
    expect(new Set(polled.flat())).toEqual(new Set(names));
    expect(polled.flat()).toHaveLength(names.length);
    expect(polled.every((mine) => mine.length === 2)).toBe(true);
  });
});

describe('what goes wrong at the start', () => {
  it('a port in use ends it with 1 and says which', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const env = { BRIDGE_URL: simulator.url };
    const { code, stderr } = await run([`--web.listen-address=127.0.0.1:${port}`], env);
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^bridge-exporter: cannot listen on 127\\.0\\.0\\.1:${port}: EADDRINUSE: it is in use — expected a free one; port 0 takes any$`,
        'm',
      ),
    );
    expect(stderr).not.toContain('    at ');
  });

  it('a bad configuration ends it with 2, all problems said and no stack', async () => {
    const file = join(folder, 'bad.yml');
    writeFileSync(file, 'targets: [{name: a, brigde: {}}, {name: a, bridge: {url: "ftp://u:secret@h"}}]');
    const { code, stdout, stderr } = await run(['--config.file', file, '--config.check']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.split('\n').filter((line) => line !== '').length).toBeGreaterThanOrEqual(4);
    expect(stderr).toContain('did you mean bridge?');
    expect(stderr).not.toContain('secret');
    expect(stderr).not.toContain('    at ');
  });

  it('bad usage ends it with 2 and nothing to poll as well', async () => {
    expect(await run(['--web.listen-adress=:1'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean --web.listen-address?') as string,
    });
    expect(await run([])).toMatchObject({ code: 2, stderr: expect.stringContaining('BRIDGE_URL') as string });
    expect(await run(['simulate', '--scenario=nope'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected one of healthy') as string,
    });
  });

  it('--config.check prints what is in effect', async () => {
    const { code, stdout } = await run(['--config.check'], { BRIDGE_URL: simulator.url });
    expect(code).toBe(0);
    expect(stdout).toContain('interval: 30s');
    expect(stdout).toContain(`url: ${simulator.url}`);
  });

  it('--version and --help print and end', async () => {
    expect(await run(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^bridge-exporter \d/) as string,
    });
    expect(await run(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage:') as string });
  });
});

describe('once', () => {
  it('prints the exposition and ends with 0', async () => {
    const env = { BRIDGE_URL: simulator.url, CROSSCHAIN_URL: simulator.url, CROSSCHAIN_WINDOW: '500' };
    const { code, stdout, stderr } = await run(['once'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(valueIn(stdout, 'bridge_height')).toBe(simulator.model.height);
    expect(valueIn(stdout, 'crosschain_height')).toBe(simulator.model.height);
    expect(up(stdout, 'module_state')).toBe(1);
  });

  it('prints what succeeded, says what failed and ends with 1', async () => {
    simulator.fault('rate_limiter_input', { kind: 'not-json' });
    const env = { BRIDGE_URL: simulator.url, CROSSCHAIN_URL: simulator.url, TARGET_NAME: 'mine' };
    const { code, stdout, stderr } = await run(['once'], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^mine rate_limiter_input: not_json: \/chain\/crosschain\/rateLimiterInput is not JSON: /);
    expect(valueIn(stdout, 'bridge_batches')).toBeDefined();
    expect(stdout).not.toMatch(/^crosschain_/m);
    expect(valueIn(stdout, 'bridge_exporter_poll_failures_total', 'not_json', 'rate_limiter_input')).toBe(1);
  });
});
