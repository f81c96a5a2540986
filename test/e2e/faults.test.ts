import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { valueIn } from '../support/exposition-text.js';
import { start, type Running } from '../support/processes.js';
import { faultCases, faultReference } from './faults.js';

/** Much longer than a scrape usually takes, and well below the poll timeout. */
const MAX_SCRAPE_MS = 250;

let healthy: Simulator;
let faulty: Simulator;
let daemon: Running;
let notTls: Server;
let longestScrapeMs = 0;

beforeAll(async () => {
  const options = { host: '127.0.0.1', port: 0, seed: 1, scenario: 'healthy', blockTimeMs: 2000, tick: false } as const;
  [healthy, faulty] = await Promise.all([startSimulator(options), startSimulator({ ...options, seed: 2 })]);
  notTls = createServer((socket) =>
    socket.on('error', () => undefined).once('data', () => socket.end('plain\r\n\r\n')),
  );
  await new Promise<void>((resolve) => notTls.listen(0, '127.0.0.1', resolve));
  const { port } = notTls.address() as AddressInfo;
  const file = join(mkdtempSync(join(tmpdir(), 'faults-')), 'config.yml');
  const endpoints = (url: string): string => `bridge: {url: "${url}"}, crosschain: {url: "${url}", window: 500}`;
  writeFileSync(
    file,
    `poll: {interval: 100ms, timeout: 400ms, stale_after: 60s, max_body_size: 2MiB}
targets:
  - {name: healthy, ${endpoints(healthy.url)}}
  - {name: faulty, ${endpoints(faulty.url)}}
  - {name: dns, bridge: {url: "http://node.invalid"}}
  - {name: connect, bridge: {url: "http://127.0.0.1:1"}}
  - {name: tls, bridge: {url: "https://127.0.0.1:${port}"}}
`,
  );
  daemon = await start([`--config.file=${file}`]);
});

afterEach(() => {
  faulty.fault('module_state', undefined);
});

afterAll(async () => {
  await daemon.stop();
  await Promise.all([healthy.close(), faulty.close()]);
  notTls.close();
});

async function scrape(): Promise<string> {
  const started = performance.now();
  const { body } = await request(`${daemon.url}/metrics`);
  const text = await body.text();
  longestScrapeMs = Math.max(longestScrapeMs, performance.now() - started);
  return text;
}

async function scrapeUntil(condition: (text: string) => boolean): Promise<string> {
  for (;;) {
    const text = await scrape();
    if (condition(text)) return text;
    await sleep(20);
  }
}

const FAULTY = ['target="faulty"', 'endpoint="module_state"'] as const;
const up = (text: string): number | undefined => valueIn(text, 'bridge_exporter_up', ...FAULTY);
const polls = (text: string): number => valueIn(text, 'bridge_exporter_polls_total', ...FAULTY) ?? 0;
const failures = (text: string, reason: string): number =>
  valueIn(text, 'bridge_exporter_poll_failures_total', ...FAULTY, `reason="${reason}"`) ?? 0;

async function recovered(): Promise<string> {
  return scrapeUntil(
    (text) => up(text) === 1 && valueIn(text, 'bridge_height', 'target="faulty"') === faulty.model.height,
  );
}

/** Expects that every other endpoint was polled successfully within the last three seconds. */
function expectOthersFresh(text: string): void {
  const others = [
    ['healthy', 'module_state'],
    ['healthy', 'rate_limiter_input'],
    ['faulty', 'rate_limiter_input'],
  ] as const;
  for (const [target, endpoint] of others) {
    const labels = [`target="${target}"`, `endpoint="${endpoint}"`];
    expect(valueIn(text, 'bridge_exporter_up', ...labels)).toBe(1);
    const success = valueIn(text, 'bridge_exporter_last_success_timestamp_seconds', ...labels) ?? 0;
    expect(Date.now() / 1000 - success).toBeLessThan(3);
  }
  expect(valueIn(text, 'bridge_last_observed_nonce', 'target="healthy"')).toBeDefined();
  expect(valueIn(text, 'crosschain_total_pending', 'target="faulty"')).toBeDefined();
}

describe('a node that', () => {
  it.each(faultCases)('$title', async ({ fault, reason, log, absent, counted }) => {
    const before = await recovered();
    const linesBefore = daemon.log.length;
    const countedBefore = counted && (valueIn(before, counted.name, counted.field) ?? 0);
    faulty.fault('module_state', fault);

    const during = await scrapeUntil((text) =>
      reason === undefined
        ? valueIn(text, absent ?? '', 'target="faulty"') === undefined
        : failures(text, reason) > failures(before, reason),
    );
    expectOthersFresh(during);
    expect(up(during)).toBe(reason === undefined ? 1 : 0);
    expect(
      valueIn(during, 'bridge_batches', 'target="faulty"'),
      'from the last valid document, or from the valid fields of this one',
    ).toBeDefined();
    if (counted) expect(valueIn(during, counted.name, counted.field)).toBeGreaterThan(countedBefore ?? 0);

    const lines = daemon.log.slice(linesBefore).map((line) => JSON.parse(line) as Record<string, string>);
    const warnings = lines.filter(({ level, target }) => level === 'warn' && target === 'faulty');
    if (log.source === '^$') expect(warnings).toEqual([]);
    else {
      expect(warnings.map(({ msg }) => msg)).toEqual([expect.stringMatching(log)]);
      expect(warnings[0]).toMatchObject({ endpoint: 'module_state', ...(reason && { reason }) });
      expect(JSON.stringify(warnings).length, 'the message is bounded').toBeLessThan(700);
    }

    faulty.fault('module_state', undefined);
    await scrapeUntil(
      (text) => up(text) === 1 && (absent === undefined || valueIn(text, absent, 'target="faulty"') !== undefined),
    );
  });

  it('cannot be connected to has its own failure reason', async () => {
    const text = await scrapeUntil((exposition) => polls(exposition) > 0);
    for (const reason of ['dns', 'connect', 'tls']) {
      const labels = [`target="${reason}"`, `reason="${reason}"`];
      expect(valueIn(text, 'bridge_exporter_poll_failures_total', ...labels), reason).toBeGreaterThan(0);
      expect(valueIn(text, 'bridge_exporter_up', `target="${reason}"`)).toBe(0);
    }
  });

  it('sends a lower hub height three times is accepted the third time', async () => {
    await recovered();
    faulty.fault('module_state', { kind: 'height', value: '7' });
    const text = await scrapeUntil((exposition) => valueIn(exposition, 'bridge_height', 'target="faulty"') === 7);
    expect(up(text)).toBe(1);
    faulty.fault('module_state', undefined);
    await recovered();
  });

  it('is failing is shown on the status page with its last failure', async () => {
    faulty.fault('module_state', { kind: 'status', code: 503, body: '{"code":14,"message":"<b>gone</b>"}' });
    await scrapeUntil((text) => up(text) === 0);
    const { body } = await request(`${daemon.url}/`);
    const page = await body.text();
    expect(page).toMatch(/status 503: &lt;b&gt;gone&lt;\/b&gt;/);
    faulty.fault('module_state', undefined);
    await recovered();
  });

  it('has any of these faults never delays a scrape', () => {
    expect(longestScrapeMs).toBeGreaterThan(0);
    expect(longestScrapeMs).toBeLessThan(MAX_SCRAPE_MS);
  });
});

describe('the list of faults', () => {
  it('matches docs/faults.md', async () => {
    expect(faultCases.length).toBeGreaterThanOrEqual(30);
    await expect(faultReference()).toMatchFileSnapshot('../../docs/faults.md');
  });
});
