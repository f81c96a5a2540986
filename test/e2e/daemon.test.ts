import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator.js';
import { seriesOf, valueIn } from '../support/exposition-text.js';
import { get, scrape } from '../support/http.js';
import { listenOnFreePort } from '../support/ports.js';
import { runHere } from '../support/command-context.js';
import { runExporter, startDaemon } from '../support/processes.js';
import { builtRevision, packageJson } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestExporter, type TestExporter } from '../support/test-exporter.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitFor } from '../support/wait-for.js';

const folder = createTempFolder();
let simulator: Simulator;

beforeEach(async () => {
  simulator = await startTestSimulator();
});

afterEach(async () => simulator.close());

async function startWith(yaml: string, ...flags: string[]): Promise<TestExporter> {
  return startTestExporter([`--config.file=${folder.write('config.yml', yaml)}`, ...flags]);
}

const FAST = 'poll: {interval: 100ms, timeout: 1s, stale_after: 1500ms}';

function target(name: string, url = simulator.url): string {
  return `{name: ${name}, bridge: {url: "${url}"}, crosschain: {url: "${url}", window: 500}}`;
}

const scrapeUntil = async (daemon: TestExporter, isDone: (exposition: string) => boolean): Promise<string> =>
  waitFor(async () => scrape(daemon), isDone);

const up = (exposition: string, endpoint: string): number | undefined =>
  valueIn(exposition, 'bridge_exporter_up', `document="${endpoint}"`);

/** A busy machine polls for more than a second, which `once` then says. */
const withoutProgress = (stderr: string): string => stderr.replace(/^polling 2 endpoints .*\n/, '');

describe('the daemon', () => {
  it('exports both documents and follows their changes', async () => {
    const daemon = await startWith(`${FAST}\ntargets: [${target('a')}]`);
    const first = await scrapeUntil(
      daemon,
      (text) => up(text, 'module_state') === 1 && up(text, 'rate_limiter_input') === 1,
    );
    const { state } = simulator.model.moduleState();
    expect(valueIn(first, 'bridge_last_observed_nonce')).toBe(Number(state.last_observed_nonce));
    expect(valueIn(first, 'bridge_unbatched_transfers')).toBe(state.unbatched_transfers.length);
    const input = simulator.model.rateLimiterInput({ window: 500n });
    expect(valueIn(first, 'crosschain_total_pending')).toBe(Number(input.total_pending));
    expect(valueIn(first, 'crosschain_pending_cctxs_value')).toBe(Number(input.pending_cctxs_value));
    expect(valueIn(first, 'bridge_height')).toBe(simulator.model.height);

    simulator.advance(60);
    const next = await scrapeUntil(daemon, (text) =>
      ['bridge_height', 'crosschain_height'].every((name) => valueIn(text, name) === simulator.model.height),
    );
    const moved = ['bridge_last_observed_nonce', 'bridge_last_outgoing_pool_id', 'crosschain_height'];
    for (const name of moved) expect(valueIn(next, name), name).toBeGreaterThan(valueIn(first, name) ?? Infinity);
  });

  it('exports the names of validators, and reports once that they cannot be read', async () => {
    const nameless = await startTestSimulator();
    nameless.fault('validators', { kind: 'status', code: 501 });
    const daemon = await startWith(`${FAST}\ntargets: [${target('named')}, ${target('nameless', nameless.url)}]`);
    const text = await scrapeUntil(
      daemon,
      (exposition) =>
        valueIn(exposition, 'bridge_orchestrator_info', 'target="named"', 'name="Northwind Staking"') === 1 &&
        (valueIn(exposition, 'bridge_exporter_polls_total', 'target="nameless"', 'document="module_state"') ?? 0) > 3,
    );
    expect(text).toMatch(/^bridge_orchestrator_info\{target="nameless",.*,name="",/m);
    expect(text).not.toMatch(/^bridge_orchestrator_info\{target="nameless",.*,name="\w/m);
    expect(valueIn(text, 'bridge_exporter_up', 'target="nameless"', 'document="module_state"')).toBe(1);
    const lines = daemon.log.filter((line) => line.includes('validator names'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'warn',
      target: 'nameless',
      reason: 'status',
      msg: expect.stringMatching(
        /^validator names cannot be read, the last ones stay: .*validators.* responded with status 501/,
      ),
    });
    const page = (await get(`${daemon.url}/`)).text;
    expect(page).toMatch(/<dt>nameless<dd>none read yet.*responded with status 501/);
    expect(page).toMatch(/<dt>named<dd>20 names, read /);
    expect(nameless.requests.validators).toBe(1);
    await nameless.close();
  });

  it('reports a failing node, withdraws its chain series after stale_after, and exports them again after recovery', async () => {
    const daemon = await startWith(`${FAST}\ntargets: [${target('a')}]`);
    await scrapeUntil(daemon, (text) => up(text, 'module_state') === 1);
    simulator.fault('module_state', { kind: 'reset' });

    const failing = await scrapeUntil(daemon, (text) => up(text, 'module_state') === 0);
    expect(valueIn(failing, 'bridge_exporter_poll_failures_total', 'reason="aborted"', 'module_state')).toBeGreaterThan(
      0,
    );
    expect(valueIn(failing, 'bridge_batches'), 'exported until stale_after').toBeDefined();

    const stale = await scrapeUntil(daemon, (text) => valueIn(text, 'bridge_batches') === undefined);
    const gauges = (text: string) =>
      seriesOf(text).filter(({ name }) => /^bridge_(?!exporter_)(?!.*_(?:total|bucket|sum|count)$)/.test(name));
    expect(gauges(failing).length).toBeGreaterThan(100);
    expect(gauges(stale)).toEqual([]);
    expect(valueIn(stale, 'bridge_transfer_duration_seconds_count'), 'counters stay').toBeDefined();
    const success = valueIn(stale, 'bridge_exporter_last_success_timestamp_seconds', 'module_state') ?? 0;
    const attempt = valueIn(stale, 'bridge_exporter_last_attempt_timestamp_seconds', 'module_state') ?? 0;
    expect(attempt - success).toBeGreaterThan(0);
    expect(up(stale, 'rate_limiter_input'), 'the other endpoint is not affected').toBe(1);
    expect(valueIn(stale, 'crosschain_height')).toBeDefined();

    simulator.fault('module_state', undefined);
    const back = await scrapeUntil(daemon, (text) => up(text, 'module_state') === 1);
    expect(valueIn(back, 'bridge_batches')).toBeDefined();
    // A busy machine can fail to poll in time before or after the fault.
    const failures = daemon.log.filter((line) => line.includes('poll failed') && line.includes('"aborted"'));
    expect(failures.length, 'the failure is logged once').toBe(1);
  });

  it('finds a document that moves to another path without a restart, and exports, shows and logs where', async () => {
    let path = '/peggy/v1/module_state';
    const server = createHttpServer((incoming, response) => {
      if (incoming.url === path) response.end(JSON.stringify(simulator.model.moduleState()));
      else response.writeHead(501).end('{"code":12,"message":"Not Implemented","details":[]}');
    });
    const port = await listenOnFreePort(server);
    const daemon = await startWith(
      `${FAST}\ntargets: [{name: a, bridge: {url: "http://127.0.0.1:${port}", validator_names: off, node_queries: off}}]`,
    );
    const infoOf = (text: string) => seriesOf(text).filter(({ name }) => name === 'bridge_exporter_endpoint_info');
    const infoWith = (dialect: string, found: string) => [
      {
        name: 'bridge_exporter_endpoint_info',
        labels: `target="a",document="module_state",dialect="${dialect}",path="${found}"`,
        value: 1,
      },
    ];
    const first = await scrapeUntil(daemon, (text) => up(text, 'module_state') === 1);
    expect(infoOf(first)).toEqual(infoWith('peggy', '/peggy/v1/module_state'));

    path = '/bridge/v1/module_state';
    const moved = await scrapeUntil(daemon, (text) => infoOf(text)[0]?.labels.includes('neutral') === true);
    expect(infoOf(moved)).toEqual(infoWith('neutral', '/bridge/v1/module_state'));
    expect(valueIn(moved, 'bridge_exporter_poll_failures_total', 'reason="status"')).toBe(0);
    expect((await get(daemon.url)).text).toContain('<small>neutral <code>/bridge/v1/module_state</code></small>');

    path = '/elsewhere';
    const lost = await scrapeUntil(daemon, (text) => up(text, 'module_state') === 0);
    expect(infoOf(lost), 'is kept during failures').toEqual(infoWith('neutral', '/bridge/v1/module_state'));
    path = '/peggy/v1/module_state';
    await scrapeUntil(daemon, (text) => infoOf(text)[0]?.labels.includes('peggy') === true);
    server.close();

    const logged = daemon.log
      .filter((line) => line.includes('module_state'))
      .map((line) => {
        const { msg, dialect, path: at } = JSON.parse(line) as Readonly<Record<string, string>>;
        return [msg, dialect, at];
      });
    const status = 'responded with status 501: Not Implemented';
    const host = `127.0.0.1:${port}`;
    expect(logged.slice(0, 4)).toEqual([
      ['poll succeeded', 'peggy', '/peggy/v1/module_state'],
      ['the document has moved to another path', 'neutral', '/bridge/v1/module_state'],
      [
        `poll failed: ${host}/bridge/v1/module_state: ${status}; ${host}/peggy/v1/module_state: ${status}`,
        undefined,
        undefined,
      ],
      ['poll succeeded', 'peggy', '/peggy/v1/module_state'],
    ]);
  });

  it('polls other targets while an endpoint hangs', async () => {
    simulator.fault('module_state', { kind: 'hang' });
    const daemon = await startWith(
      `poll: {interval: 100ms, timeout: 30s, stale_after: 60s}\ntargets: [${target('a')}, ${target('b')}]`,
    );
    await scrapeUntil(
      daemon,
      (text) => (valueIn(text, 'bridge_exporter_polls_total', '"b"', 'rate_limiter_input') ?? 0) > 5,
    );
    const ready = await get(`${daemon.url}/-/ready`);
    expect(ready).toMatchObject({ status: 503, text: 'not polled yet: a module_state, b module_state\n' });
  });

  it('exits with 0 after SIGTERM without waiting for a hanging poll', async () => {
    simulator.fault('module_state', { kind: 'hang' });
    const daemon = await startDaemon([], { BRIDGE_URL: simulator.url, CROSSCHAIN_URL: simulator.url });
    await waitFor(
      async () => scrape(daemon),
      (text) => up(text, 'rate_limiter_input') === 1,
    );
    const { code, ms } = await daemon.stop();
    expect(code).toBe(0);
    // Far below poll.timeout, 20 s.
    expect(ms).toBeLessThan(10_000);
    expect(daemon.log.at(-1)).toContain('stopped by SIGTERM');
  });

  it('exports one HELP and TYPE line per family and no duplicate series for two targets', async () => {
    const daemon = await startWith(`${FAST}\ntargets: [${target('a')}, ${target('b')}]`);
    const text = await scrapeUntil(
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

  it('negotiates the format and compression', async () => {
    const daemon = await startWith(`${FAST}\ntargets: [${target('a')}]`);
    await scrapeUntil(daemon, (text) => up(text, 'module_state') === 1);
    const text = await get(`${daemon.url}/metrics`, { headers: { 'accept-encoding': 'gzip' } });
    expect(text.headers).toMatchObject({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'content-encoding': 'gzip',
    });
    expect(text.text).toMatch(/^# TYPE bridge_exporter_polls_total counter$/m);
    const open = await get(`${daemon.url}/metrics`, {
      headers: { accept: 'application/openmetrics-text;version=1.0.0' },
    });
    expect(open.headers).toMatchObject({
      'content-type': 'application/openmetrics-text; version=1.0.0; charset=utf-8',
    });
    expect(open.headers['content-encoding']).toBeUndefined();
    expect(open.text).toMatch(/^# TYPE bridge_exporter_polls counter$/m);
    expect(open.text).toMatch(/^bridge_exporter_polls_total\{/m);
    expect(open.text.endsWith('\n# EOF\n')).toBe(true);
    expect((await scrape(daemon)).includes('bridge_exporter_polls_total{')).toBe(true);
  });

  it('serves its other paths, and rejects unknown paths and methods', async () => {
    const daemon = await startWith(`${FAST}\ntargets: [${target('<a&b>')}]`, '--web.telemetry-path=/own/path');
    expect(await get(`${daemon.url}/-/healthy`)).toMatchObject({ status: 200, text: 'healthy\n' });
    expect((await get(`${daemon.url}/own/path`)).status).toBe(200);
    expect((await get(`${daemon.url}/metrics`)).status).toBe(404);
    const page = await get(`${daemon.url}/`);
    expect(page.text).toContain('&lt;a&amp;b&gt;');
    expect(page.text).toContain('href="./own/path"');
    const config = await get(`${daemon.url}/config`);
    expect(config.text).toContain('name: &lt;a&amp;b&gt;');
    const pending = await get(`${daemon.url}/pending?target=${encodeURIComponent('<a&b>')}`);
    expect(pending.text).toContain('id="module_state"');
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
    const shards = await Promise.all(['1/2', '2/2'].map(async (shard) => startWith(yaml, `--targets.shard=${shard}`)));
    const polled = await Promise.all(
      shards.map(async (daemon) => {
        const text = await scrape(daemon);
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

describe('the start of the daemon', () => {
  it('fails with exit code 1 when the port is in use', async () => {
    const taken = createServer();
    const port = await listenOnFreePort(taken);
    const env = { BRIDGE_URL: simulator.url };
    const { code, stderr } = await runExporter([`--web.listen-address=127.0.0.1:${port}`], env);
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^bridge-exporter: cannot listen on 127\\.0\\.0\\.1:${port}: EADDRINUSE: the address is in use; port 0 selects a free port$`,
        'm',
      ),
    );
    expect(stderr).not.toContain('    at ');
  });

  it('fails with exit code 2 for an invalid configuration, and reports all problems without a stack trace', async () => {
    const yaml = 'targets: [{name: a, brigde: {}}, {name: a, bridge: {url: "ftp://u:secret@h"}}]';
    const file = folder.write('bad.yml', yaml);
    const { code, stdout, stderr } = await runHere(['--config.file', file, '--config.check']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.split('\n').filter((line) => line !== '').length).toBeGreaterThanOrEqual(4);
    expect(stderr).toContain('brigde: unknown key — expected one of name, labels, bridge, crosschain');
    expect(stderr).not.toContain('secret');
    expect(stderr).not.toContain('    at ');
  });

  it('fails with exit code 2 for invalid flags and without a target', async () => {
    expect(await runHere(['--web.listen-adress=:1'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('unknown flag — expected one of --config.file, ') as string,
    });
    expect(await runHere([])).toMatchObject({ code: 2, stderr: expect.stringContaining('BRIDGE_URL') as string });
    expect(await runHere(['simulate', '--scenario=nope'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected one of healthy') as string,
    });
  });

  it('prints the configuration in effect with --config.check', async () => {
    const { code, stdout } = await runHere(['--config.check'], { BRIDGE_URL: simulator.url });
    expect(code).toBe(0);
    expect(stdout).toContain('interval: 30s');
    expect(stdout).toContain(`url: ${simulator.url}`);
  });

  it('prints and exits with --version and --help', async () => {
    expect(await runExporter(['--version'])).toMatchObject({
      code: 0,
      stdout: `bridge-exporter ${packageJson.version} (revision ${builtRevision()}, node ${process.versions.node})\n`,
    });
    expect(await runHere(['--help'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Usage:') as string,
    });
  });
});

describe('once', () => {
  it('prints the labels of the target in every series', async () => {
    const endpoints = `bridge: {url: "${simulator.url}"}, crosschain: {url: "${simulator.url}", window: 500}`;
    const file = folder.write('labels.yml', `targets: [{name: a, labels: {zone: b, network: c}, ${endpoints}}]`);
    const { code, stdout } = await runHere(['once', `--config.file=${file}`]);
    expect(code).toBe(0);
    expect(seriesOf(stdout).filter(({ labels }) => !labels.startsWith('target="a",network="c",zone="b"'))).toEqual([]);
    expect(valueIn(stdout, 'crosschain_height')).toBeDefined();
  });

  it('prints the metrics and exits with 0', async () => {
    const env = { BRIDGE_URL: simulator.url, CROSSCHAIN_URL: simulator.url };
    const { code, stdout, stderr } = await runExporter(['once'], env);
    expect({ code, stderr: withoutProgress(stderr) }).toEqual({ code: 0, stderr: '' });
    const found = ['path="/bridge/v1/module_state"', 'path="/chain/crosschain/rateLimiterInput"'];
    for (const path of found) expect(valueIn(stdout, 'bridge_exporter_endpoint_info', path)).toBe(1);
    expect(valueIn(stdout, 'crosschain_rate_limit_configured_window_blocks')).toBe(500);
    expect(valueIn(stdout, 'bridge_height')).toBe(simulator.model.height);
    expect(valueIn(stdout, 'crosschain_height')).toBe(simulator.model.height);
    expect(up(stdout, 'module_state')).toBe(1);
  });

  it('prints the metrics of successful polls, reports failed ones and exits with 1', async () => {
    simulator.fault('rate_limiter_input', { kind: 'not-json' });
    const env = { BRIDGE_URL: simulator.url, CROSSCHAIN_URL: simulator.url, TARGET_NAME: 'mine' };
    const { code, stdout, stderr } = await runHere(['once'], env);
    expect(code).toBe(1);
    expect(withoutProgress(stderr)).toMatch(
      /^mine rate_limiter_input: not_json: 127\.0\.0\.1:\d+\/chain\/crosschain\/rateLimiterInput: not JSON: /,
    );
    expect(valueIn(stdout, 'bridge_batches')).toBeDefined();
    expect(stdout).not.toMatch(/^crosschain_/m);
    expect(valueIn(stdout, 'bridge_exporter_poll_failures_total', 'not_json', 'rate_limiter_input')).toBe(1);
  });
});
