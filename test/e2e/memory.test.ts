import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { valueIn } from '../support/exposition-text.js';
import { run, start, type Running } from '../support/processes.js';

/** Documents that JSON.parse would need gigabytes for, though each is within the limit on bodies. */
const bodies: Readonly<Record<string, () => Buffer>> = {
  small: () => Buffer.from('{"state":{"last_observed_nonce":"7"}}'),
  rows: () => Buffer.from(`{"state":{"valsets":[${'{},'.repeat(10_000_000)}{}]}}`),
  lists: () => Buffer.from(`{"state":{"valsets":${'['.repeat(15_000_000)}${']'.repeat(15_000_000)}}}`),
  unknown: () =>
    Buffer.from(`{"state":{"new_in_some_version":[${'{},'.repeat(10_000_000)}{}],"last_observed_nonce":"8"}}`),
  text: () => Buffer.from(`{"state":{"external_blacklist":["${'x'.repeat(60_000_000)}"]}}`),
};

let server: Server;
let url: string;
let daemon: Running;
const folder = mkdtempSync(join(tmpdir(), 'memory-'));

beforeAll(async () => {
  const made = new Map(Object.entries(bodies).map(([name, make]) => [name, make()]));
  server = createServer((asked, response) => {
    response.end(made.get(asked.url?.split('/')[1] ?? ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const targets = Object.keys(bodies).map((name) => `  - {name: ${name}, bridge: {url: "${url}/${name}"}}`);
  const file = join(folder, 'config.yml');
  writeFileSync(file, `poll: {interval: 200ms, timeout: 20s, stale_after: 60s}\ntargets:\n${targets.join('\n')}\n`);
  // As in a small container: a heap that is far too small for what some of the nodes send.
  daemon = await start([`--config.file=${file}`], { NODE_OPTIONS: '--max-old-space-size=96' });
});

afterAll(async () => {
  await daemon.stop();
  server.close();
});

async function metrics(): Promise<string> {
  const { body } = await request(`${daemon.url}/metrics`);
  return body.text();
}

const of = (name: string): string => `target="${name}"`;
const polls = (text: string, name: string): number => valueIn(text, 'bridge_exporter_polls_total', of(name)) ?? 0;

describe('documents that break the memory allowed for them', () => {
  it('fail as too_large, again and again, and every other target goes on', async () => {
    let text = await metrics();
    while (Object.keys(bodies).some((name) => polls(text, name) < 3)) {
      await sleep(100);
      text = await metrics();
    }
    for (const name of ['rows', 'text']) {
      const failures = valueIn(text, 'bridge_exporter_poll_failures_total', of(name), 'reason="too_large"');
      expect(failures, name).toBe(polls(text, name));
      expect(valueIn(text, 'bridge_exporter_up', of(name)), name).toBe(0);
    }
    for (const name of ['small', 'unknown', 'lists'])
      expect(valueIn(text, 'bridge_exporter_up', of(name)), name).toBe(1);
    expect(valueIn(text, 'bridge_last_observed_nonce', of('small'))).toBe(7);
    expect(valueIn(text, 'bridge_last_observed_nonce', of('unknown')), 'what is not read costs no memory').toBe(8);
    expect(valueIn(text, 'bridge_exporter_poll_failures_total', of('small'), 'reason="internal"')).toBe(0);
    expect(daemon.log.find((line) => line.includes('"rows"'))).toMatch(
      /rows\/bridge\/v1\/module_state takes more than \d+MiB of memory to read/,
    );
  });

  it('replay says the same of a file', async () => {
    const file = join(folder, 'rows.json');
    writeFileSync(file, bodies['rows']?.() ?? '');
    const { code, stderr } = await run(['replay', '--bridge', file], { NODE_OPTIONS: '--max-old-space-size=96' });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^default module_state: too_large: .*rows\.json takes more than \d+(\.\d+)?MiB of memory to read\n {2}Raise .*\nexit 1: 1 of 1 recorded body failed\n$/,
    );
  });
});
