import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  dashboardFiles as files,
  queriesOf,
  substituteVariables as withVariables,
} from '../dashboards/dashboard-files.js';
import { hasTool } from '../support/tools.js';

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;

/*
 * Every query of every dashboard, asked of a Prometheus that scrapes the demo in several scenarios. What a panel says of when it
 * is empty is held against it: without the words `empty when` it has data in the healthy demo; with it, in some scenario; with
 * `as in the demo`, in none.
 */

const hasPrometheus = hasTool('prometheus');

const HEALTHY = 'healthy';
const SCENARIOS = [HEALTHY, 'silent-signer', 'valset-drift', 'missed-cctxs', 'backlog'] as const;

/** Data that take a while: a batch, an event, a mark of the fifteen seconds at which the past is looked at. */
const PATIENCE_MS = 45_000;

const RULES = new URL('../../prometheus/alerts.yml', import.meta.url).pathname;

interface Asked {
  readonly where: string;
  readonly expr: string;
  readonly description: string;
  /** Targets it should have data of: one of them is enough. */
  readonly among: readonly string[];
}

const asked: readonly Asked[] = files.flatMap((file) => {
  const { panels } = file;
  const ofPanels = panels.flatMap(({ title, description = '', targets = [] }) =>
    targets.map(({ refId, expr }) => ({ where: `${file.name}: ${title} ${refId}`, expr, description })),
  );
  const others = queriesOf(file).filter(({ where }) => !ofPanels.some((panel) => panel.where === where));
  return [...ofPanels, ...others.map(({ where, expr }) => ({ where, expr, description: whenEmpty(where) }))].map(
    (query) => ({ ...query, among: /empty when/i.test(query.description) ? SCENARIOS : [HEALTHY] }),
  );
});

function whenEmpty(where: string): string {
  return where.includes('annotation') ? 'Empty when no alert fires, as in the demo.' : '';
}

const neverInDemo = asked.filter(({ description }) => description.includes('as in the demo'));
const expected = asked.filter((query) => !neverInDemo.includes(query));

describe.skipIf(!hasPrometheus)('the queries of the dashboards', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dashboards-'));
  const processes: ChildProcess[] = [];
  let url: string;

  function run(program: string, args: readonly string[]): ChildProcess {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    processes.push(child);
    return child;
  }

  /** Starts the built program and tells where it serves. */
  async function startDemo(scenario: string): Promise<string> {
    const where = ['--listen=127.0.0.1:0', '--web.listen-address=127.0.0.1:0', '--log.level=error'];
    const { stdout } = run(process.execPath, [MAIN, 'demo', ...where, `--scenario=${scenario}`, '--block-time=500ms']);
    for await (const line of createInterface({ input: stdout! })) {
      const [, host] = /http:\/\/(\S+)\/metrics\b/.exec(line) ?? [];
      if (host !== undefined) return host;
    }
    throw new Error(`the demo of ${scenario} did not start`);
  }

  beforeAll(async () => {
    const jobs = await Promise.all(
      SCENARIOS.map(async (scenario) => {
        const host = await startDemo(scenario);
        // The demos all call their target demo.
        return `  - job_name: ${scenario}
    static_configs: [{targets: ["${host}"]}]
    metric_relabel_configs: [{source_labels: [target], regex: .+, target_label: target, replacement: ${scenario}}]
`;
      }),
    );
    const config = join(folder, 'prometheus.yml');
    writeFileSync(
      config,
      `global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [${JSON.stringify(RULES)}]
scrape_configs:
${jobs.join('')}`,
    );
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const flags = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    run('prometheus', [...flags, '--log.level=error']);
  });

  afterAll(async () => {
    const ended = processes.map(async (child) => {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    });
    await Promise.all(ended);
    rmSync(folder, { recursive: true });
  });

  /** How many series answer. */
  async function ask(expr: string, target: string): Promise<number> {
    const query = encodeURIComponent(withVariables(expr, { target }));
    const { body } = await request(`${url}/api/v1/query?query=${query}`);
    const answer = (await body.json()) as { status: string; error?: string; data?: { result: unknown[] } };
    if (answer.data === undefined) throw new Error(`${answer.error}: ${expr}`);
    return answer.data.result.length;
  }

  async function hasData({ expr, among }: Asked): Promise<boolean> {
    for (const target of among) {
      if ((await ask(expr, target)) > 0) return true;
    }
    return false;
  }

  it('have data, sooner or later, unless the panel says when not', async () => {
    const end = performance.now() + PATIENCE_MS;
    while (!(await isReady())) {
      await sleep(100);
    }
    let missing = expected;
    while (missing.length > 0 && performance.now() < end) {
      await sleep(1000);
      const answers = await Promise.all(missing.map(hasData));
      missing = missing.filter((_, index) => answers[index] === false);
    }
    expect(missing.map(({ where }) => where)).toEqual([]);
  });

  it('have none where the panel says that the demo has none', async () => {
    expect(neverInDemo.length).toBeGreaterThan(0);
    const answers = await Promise.all(neverInDemo.map(async ({ expr }) => ask(expr, HEALTHY)));
    expect(neverInDemo.filter((_, index) => answers[index] !== 0).map(({ where }) => where)).toEqual([]);
  });

  it('of panels over time can be asked over time', async () => {
    const end = Math.floor(Date.now() / 1000);
    const drawn = files.flatMap(({ panels }) =>
      panels.flatMap(({ targets = [] }) => targets.filter(({ instant }) => !instant)),
    );
    for (const { expr } of drawn) {
      const query = encodeURIComponent(withVariables(expr));
      const { statusCode, body } = await request(
        `${url}/api/v1/query_range?start=${end - 30}&end=${end}&step=5&query=${query}`,
      );
      expect(statusCode, expr).toBe(200);
      await body.dump();
    }
  });

  async function isReady(): Promise<boolean> {
    const answer = await request(`${url}/-/ready`).catch(() => undefined);
    await answer?.body.dump();
    return answer?.statusCode === 200;
  }
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
