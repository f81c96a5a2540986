import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { seriesOf, valueIn } from '../support/exposition-text.js';
import { get, scrapeUntil } from '../support/http.js';
import { listenOnFreePort } from '../support/ports.js';
import { runHere } from '../support/command-context.js';
import { runExporter, startDaemon } from '../support/processes.js';
import { builtRevision, packageJson } from '../support/project-files.js';
import { startNode } from '../http/nodes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestExporter, type TestExporter } from '../support/test-exporter.js';
import { errorPage, hang, reset } from '../support/faults.js';
import { startTestSimulator } from '../support/test-simulator.js';

const folder = createTempFolder();
const simulator = await startTestSimulator();

async function startWith(yaml: string, ...flags: string[]): Promise<TestExporter> {
  return startTestExporter([`--config.file=${folder.write('config.yml', yaml)}`, ...flags]);
}

const FAST = 'poll: {interval: 100ms, timeout: 1s, stale_after: 1500ms}';

function target(name: string, url = simulator.url): string {
  return `{name: ${name}, bridge: {url: "${url}"}, crosschain: {url: "${url}", window: 500}}`;
}

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

    simulator.model.advance(60);
    const next = await scrapeUntil(daemon, (text) =>
      ['bridge_height', 'crosschain_height'].every((name) => valueIn(text, name) === simulator.model.height),
    );
    const moved = ['bridge_last_observed_nonce', 'bridge_last_outgoing_pool_id', 'crosschain_height'];
    for (const name of moved) expect(valueIn(next, name), name).toBeGreaterThan(valueIn(first, name) ?? Infinity);
  });

  it('reports a failing node, withdraws its chain series after stale_after, and exports them again after recovery', async () => {
    const daemon = await startWith(`${FAST}\ntargets: [${target('a')}]`);
    await scrapeUntil(daemon, (text) => up(text, 'module_state') === 1);
    simulator.fault('module_state', reset);

    // A poll of a busy machine can also time out.
    const aborted = ['reason="aborted"', 'module_state'];
    const failing = await scrapeUntil(
      daemon,
      (text) => (valueIn(text, 'bridge_exporter_poll_failures_total', ...aborted) ?? 0) > 0,
    );
    expect(up(failing, 'module_state')).toBe(0);
    expect(valueIn(failing, 'bridge_batches'), 'exported until stale_after').toBeDefined();

    const stale = await scrapeUntil(daemon, (text) => valueIn(text, 'bridge_batches') === undefined);
    // The problems of the other endpoint have names with the same beginning.
    const gauges = (text: string) =>
      seriesOf(text).filter(
        ({ name, labels }) =>
          /^bridge_(?!exporter_|problem_)(?!.*_total$)/.test(name) && !labels.includes('document="rate_limiter_input"'),
      );
    expect(gauges(failing).length).toBeGreaterThan(100);
    expect(gauges(stale)).toEqual([]);
    expect(stale, 'counters stay').toContain('bridge_transfers_executed_total{');
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

  it('polls other targets while an endpoint hangs', async () => {
    simulator.fault('module_state', hang);
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
    simulator.fault('module_state', hang);
    const daemon = await startDaemon([], { BRIDGE_URL: simulator.url, CROSSCHAIN_URL: simulator.url });
    await scrapeUntil(daemon, (text) => up(text, 'rate_limiter_input') === 1);
    const { code, ms } = await daemon.stop();
    expect(code).toBe(0);
    // Far below poll.timeout, 20 s.
    expect(ms).toBeLessThan(10_000);
    expect(daemon.log.at(-1)).toContain('stopped by SIGTERM');
  });
});

describe('the start of the daemon', () => {
  it('fails with exit code 1 when the port is in use', async () => {
    const taken = createServer();
    const port = await listenOnFreePort(taken);
    const env = { BRIDGE_URL: simulator.url };
    const { code, stderr } = await runExporter([`--web.listen-address=127.0.0.1:${port}`], env);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `^bridge-exporter: cannot listen on 127\\.0\\.0\\.1:${port} \\(--web\\.listen-address\\): address already in use$`,
        'm',
      ),
    );
    expect(stderr).not.toContain('    at ');
  });

  it('prints its version with --version', async () => {
    expect(await runExporter(['--version'])).toMatchObject({
      code: 0,
      stdout: `bridge-exporter ${packageJson.version} (revision ${builtRevision()}, node ${process.versions.node})\n`,
    });
  });
});

describe('once', () => {
  it('requests a node through the proxy of the environment', async () => {
    const yaml = `targets: [{name: a, bridge: {url: "http://node.invalid", proxy_from_environment: true}}]`;
    const flags = ['once', `--config.file=${folder.write('proxied.yml', yaml)}`];
    const body = JSON.stringify(simulator.model.moduleState());
    const proxy = await startNode({ respond: (_request, response) => response.end(body) });
    const { code } = await runHere(flags, { HTTP_PROXY: proxy.url });
    expect([code, proxy.requests[0]?.url]).toEqual([0, 'http://node.invalid/peggy/v1/module_state']);
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
    simulator.fault('rate_limiter_input', errorPage);
    const env = { BRIDGE_URL: simulator.url, CROSSCHAIN_URL: simulator.url, TARGET_NAME: 'mine' };
    const { code, stdout, stderr } = await runHere(['once'], env);
    expect(code).toBe(1);
    expect(withoutProgress(stderr)).toMatch(
      /^mine rate_limiter_input: not_json: 127\.0\.0\.1:\d+\/chain\/crosschain\/rateLimiterInput: not valid JSON\n {2}Check .*\nexit 1: 1 of 2 documents failed\n$/,
    );
    expect(valueIn(stdout, 'bridge_batches')).toBeDefined();
    expect(stdout).not.toMatch(/^crosschain_/m);
    expect(valueIn(stdout, 'bridge_exporter_poll_failures_total', 'not_json', 'rate_limiter_input')).toBe(1);
  });
});
