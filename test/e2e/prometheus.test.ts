import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get as httpGet, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { seriesOf, valueIn } from '../support/exposition-text.js';
import { start, type Running } from '../support/processes.js';
import { check, hasTool, OPENMETRICS_PARSER, PYTHON } from '../support/tools.js';

const hasPromtool = hasTool('promtool');
const hasPrometheus = hasTool('prometheus');
const hasParser = hasTool(PYTHON, ['-c', 'import prometheus_client.openmetrics.parser']);

let simulator: Simulator;
let daemon: Running;

beforeAll(async () => {
  const options = { host: '127.0.0.1', port: 0, seed: 3, scenario: 'backlog', blockTimeMs: 500 } as const;
  simulator = await startSimulator(options);
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-config-'));
  const file = join(folder, 'config.yml');
  writeFileSync(
    file,
    `poll: {interval: 500ms, timeout: 5s, stale_after: 30s}
targets:
  - {name: a, bridge: {url: "${simulator.url}"}, crosschain: {url: "${simulator.url}", window: 500, rate: 1000000}}
  - {name: 'b "\\😀', bridge: {url: "${simulator.url}"}, crosschain: {url: "${simulator.url}"}}
`,
  );
  daemon = await start([`--config.file=${file}`]);
  while (!(await isReady())) {
    await sleep(20);
  }
});

afterAll(async () => {
  await daemon.stop();
  await simulator.close();
});

async function isReady(): Promise<boolean> {
  const { statusCode, body } = await request(`${daemon.url}/-/ready`);
  await body.dump();
  return statusCode === 200;
}

async function metrics(accept?: string): Promise<string> {
  const { body } = await request(`${daemon.url}/metrics`, accept === undefined ? {} : { headers: { accept } });
  return body.text();
}

const OPENMETRICS = 'application/openmetrics-text; version=1.0.0';

describe('what checks an exposition', () => {
  it.skipIf(!hasPromtool)('promtool has nothing to say about either format', async () => {
    expect(check('promtool', ['check', 'metrics'], await metrics())).toEqual({ status: 0, output: '' });
    // promtool reads the older format, where the title of a counter has the name of its samples; it has no other remark.
    const { output } = check('promtool', ['check', 'metrics'], await metrics(OPENMETRICS));
    const remarks = output.split('\n').filter((line) => line !== '');
    expect(remarks.filter((line) => !/^\w+_total no help text$/.test(line))).toEqual([]);
  });

  it.skipIf(!hasParser)('a strict OpenMetrics parser reads every series', async () => {
    const text = await metrics(OPENMETRICS);
    const { status, output } = check(PYTHON, ['-c', OPENMETRICS_PARSER], text);
    expect({ status, samples: Number(output) }).toEqual({ status: 0, samples: seriesOf(text).length });
  });
});

/** Hands a scrape on without its `Accept`, as a scraper of the older format would send it. */
async function startPlainScraper(): Promise<Server> {
  const server = createServer((_request, response) => {
    httpGet(`${daemon.url}/metrics`, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describe.skipIf(!hasPrometheus)('a real Prometheus', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  let prometheus: ChildProcess;
  let plainScraper: Server;
  let url: string;

  beforeAll(async () => {
    plainScraper = await startPlainScraper();
    const { port: plainPort } = plainScraper.address() as AddressInfo;
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const config = join(folder, 'prometheus.yml');
    writeFileSync(
      config,
      `global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - {job_name: openmetrics, static_configs: [{targets: ["${new URL(daemon.url).host}"]}]}
  - {job_name: text, static_configs: [{targets: ["127.0.0.1:${plainPort}"]}]}
`,
    );
    const flags = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    prometheus = spawn('prometheus', [...flags, '--log.level=error'], { stdio: 'ignore' });
    await scraped();
  });

  afterAll(async () => {
    const ended = once(prometheus, 'exit');
    prometheus.kill('SIGKILL');
    await ended;
    plainScraper.close();
    rmSync(folder, { recursive: true });
  });

  async function query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
    const { body } = await request(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const answer = (await body.json()) as {
      data: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    return answer.data.result;
  }

  /** Both jobs have been scraped a few times. */
  async function scraped(): Promise<void> {
    for (;;) {
      const counts = await query('count_over_time(up[1m])').catch(() => []);
      if (counts.length === 2 && counts.every(({ value }) => Number(value[1]) >= 3)) return;
      await sleep(100);
    }
  }

  it('finds the target up in both formats, without a scrape error', async () => {
    const { body } = await request(`${url}/api/v1/targets`);
    const answer = (await body.json()) as { data: { activeTargets: { health: string; lastError: string }[] } };
    expect(answer.data.activeTargets.map(({ health, lastError }) => ({ health, lastError }))).toEqual([
      { health: 'up', lastError: '' },
      { health: 'up', lastError: '' },
    ]);
  });

  it('has every series of the exposition, and the same in both formats', async () => {
    const exposed = new Set(seriesOf(await metrics()).map(({ name }) => name));
    for (const job of ['openmetrics', 'text']) {
      const names = await query(`group by (__name__) ({job="${job}"})`);
      const stored = new Set(names.map(({ metric }) => metric['__name__'] ?? ''));
      expect(
        [...exposed].filter((name) => !stored.has(name)),
        job,
      ).toEqual([]);
    }
    const [dropped] = await query('sum(scrape_samples_scraped - scrape_samples_post_metric_relabeling)');
    expect(dropped?.value[1]).toBe('0');
    const targets = await query('group by (target) (bridge_batches{job="openmetrics"})');
    expect(targets.map(({ metric }) => metric['target'] ?? '').toSorted()).toEqual(['a', 'b "\\😀']);
  });

  it('stores the numbers that are exposed', async () => {
    const admins = valueIn(await metrics(), 'bridge_params_hash', 'target="a"');
    const stored = await query('bridge_params_hash{target="a"}');
    expect(stored.map(({ value }) => Number(value[1]))).toEqual([admins, admins]);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
