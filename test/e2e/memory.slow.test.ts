import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { valueIn } from '../support/exposition-text.js';
import { scrapeUntil } from '../support/http.js';
import { listenOnFreePort } from '../support/ports.js';
import { runExporter, startDaemon } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';

/** A small container: less memory than some of the bodies need. */
const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=96' };

/** Bodies for which JSON.parse would need gigabytes; the last one is larger than `poll.max_body_size`. */
const bodies: Readonly<Record<string, Buffer>> = {
  small: Buffer.from('{"state":{"last_observed_nonce":"7"}}'),
  rows: Buffer.from(`{"state":{"valsets":[${'{},'.repeat(10_000_000)}{}]}}`),
  lists: Buffer.from(`{"state":{"valsets":${'['.repeat(15_000_000)}${']'.repeat(15_000_000)}}}`),
  unknown: Buffer.from(`{"state":{"new_in_some_version":[${'{},'.repeat(10_000_000)}{}],"last_observed_nonce":"8"}}`),
  text: Buffer.from(`{"state":{"external_blacklist":["${'x'.repeat(60_000_000)}"]}}`),
};

const folder = createTempFolder();
const names = Object.keys(bodies);
const server = createServer((request, response) => {
  response.end(bodies[request.url?.split('/')[1] ?? '']);
});
const port = await listenOnFreePort(server);
const targets = names.map((name) => `  - {name: ${name}, bridge: {url: "http://127.0.0.1:${port}/${name}"}}`);
const config = `poll: {interval: 200ms, timeout: 20s, stale_after: 60s}\ntargets:\n${targets.join('\n')}\n`;
const daemon = await startDaemon([`--config.file=${folder.write('config.yml', config)}`], SMALL_HEAP);

const target = (name: string): string => `target="${name}"`;
const polls = (text: string, name: string): number => valueIn(text, 'bridge_exporter_polls_total', target(name)) ?? 0;

describe('the daemon with little memory', () => {
  it('fails polls of documents that need too much memory, and polls all other targets', async () => {
    const text = await scrapeUntil(daemon, (exposition) => names.every((name) => polls(exposition, name) >= 3));
    for (const name of ['rows', 'lists', 'unknown', 'text']) {
      const failures = valueIn(text, 'bridge_exporter_poll_failures_total', target(name), 'reason="too_large"');
      expect(failures, name).toBe(polls(text, name));
      expect(valueIn(text, 'bridge_exporter_up', target(name)), name).toBe(0);
    }
    expect(valueIn(text, 'bridge_exporter_up', target('small'))).toBe(1);
    expect(valueIn(text, 'bridge_last_observed_nonce', target('small'))).toBe(7);
    expect(valueIn(text, 'bridge_exporter_poll_failures_total', target('small'), 'reason="internal"')).toBe(0);
    expect(daemon.log.find((line) => line.includes('"rows"'))).toMatch(
      /…\/peggy\/v1\/module_state: more than \d+ JSON values in \d+ bytes/,
    );
  });
});

describe('replay with little memory', () => {
  it('reports a recorded body that needs too much memory', async () => {
    const file = folder.write('rows.json', bodies['rows'] ?? '');
    const { code, stderr } = await runExporter(['replay', '--bridge', file], SMALL_HEAP);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^default module_state: too_large: .*rows\.json: more than \d+ JSON values in \d+ bytes\n {2}Raise .*\nexit 1: 1 of 1 document failed\n$/,
    );
  });
});
