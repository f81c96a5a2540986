import { KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { formatConfig } from '../../src/config/loader.js';
import { requestUrl } from '../../src/config/urls.js';
import { reveal } from '../../src/config/values.js';
import { configSettings } from '../../packaging/generate/settings.js';
import { parseConfig, parseValidConfig } from '../support/config.js';
import { readProjectFile } from '../support/project-files.js';
import { withBridge, withLabels, withUrl, withTopLevel } from './sample-files.js';

/** Every key, and values that are easily changed: long numbers, several spellings, repeated entries. */
const everyKey = readProjectFile('test/config/every-key.yml');

/** The paths of the values in a file, as in the reference. */
function pathsIn(value: unknown, path = ''): string[] {
  const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (Array.isArray(value) && typeof value[0] === 'object')
    return value.flatMap((entry) => pathsIn(entry, `${path}[]`));
  if (!isMapping || path.endsWith('.labels') || path.endsWith('.age_limits')) return [path];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const step = path === 'chains' || path === 'problems' ? '<name>' : key;
    return pathsIn(inner, path === '' ? key : `${path}.${step}`);
  });
}

test('the file with every key has every key of the schema, but for the HTTP client', () => {
  const isElsewhere = (path: string): boolean =>
    /\.(?:basic_auth|authorization|http_headers|tls_config|proxy_url|proxy_from_environment|no_proxy)\b/.test(path);
  const keys = configSettings.map(({ path }) => path).filter((path) => !isElsewhere(path));
  const leaves = keys.filter((path) => !keys.some((key) => key.startsWith(`${path}.`) || key.startsWith(`${path}[]`)));
  const found = new Set(pathsIn(parse(everyKey)));
  expect(leaves.length).toBeGreaterThan(40);
  expect(leaves.filter((path) => !found.has(path))).toEqual([]);
});

describe('parseConfig', () => {
  test('merges mappings, whose own keys win, at one level', () => {
    const { targets } = parseValidConfig(`targets:
  - name: a
    labels: &labels {team: bridge, network: mainnet}
    bridge: &base
      url: https://a.example
      watch_min_balance: 1000000000000000000001
      authorization: {credentials: hunter2}
      tls_config: {server_name: a, insecure_skip_verify: true}
  - name: b
    labels: {network: testnet, <<: *labels}
    bridge:
      <<: [*base, {dialect: peggy, url: https://c.example}]
      tls_config: {server_name: b}`);
    expect(targets[1]).toEqual({
      name: 'b',
      labels: { network: 'testnet', team: 'bridge' },
      bridge: {
        ...targets[0]?.bridge,
        dialect: 'peggy',
        tls_config: { server_name: 'b', insecure_skip_verify: false },
      },
    });
  });

  test('merges one mapping into 5,000 targets, and prints them without aliases', () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `t${index}`);
    const first = 'targets:\n  - &base {name: base, labels: {a: b}, bridge: &bridge {url: "https://a.example"}}\n';
    const config = parseValidConfig(first + names.map((name) => `  - {<<: *base, name: ${name}}`).join('\n'));
    expect(config.targets.map(({ name }) => name)).toEqual(['base', ...names]);
    expect(formatConfig(config)).not.toMatch(/[&*]|<</);
  });

  test('parses all keys with exact numbers', async () => {
    const result = parseConfig(everyKey, '/conf/b');
    if (!result.ok) throw new Error(result.problems.join());
    expect(result.warnings).toEqual([expect.stringContaining('node_queries')]);
    const withSecrets = (_key: string, value: unknown) => (value instanceof KeyObject ? reveal(value) : value);
    await expect(JSON.stringify(result.config, withSecrets, 2)).toMatchFileSnapshot('golden/every-key.json');
    expect(structuredClone(result.config)).toEqual(result.config);
  });

  test('sorts labels by name, and keeps numbers as they are written', () => {
    const { targets } = parseValidConfig(withLabels('{zone: 1.10, Network: 007, network: "a b", a: x}'));
    expect(Object.entries(targets[0]?.labels ?? {})).toEqual([
      ['Network', '007'],
      ['a', 'x'],
      ['network', 'a b'],
      ['zone', '1.10'],
    ]);
  });

  test('parses a printed configuration to the same configuration', () => {
    for (const text of [everyKey, withUrl('https://a.example'), withLabels('{network: mainnet}')]) {
      const config = parseValidConfig(text);
      expect(parseValidConfig(formatConfig(config))).toEqual(config);
    }
  });

  test.each([
    ['https://a.example/', 'https://a.example/'],
    ['HTTP://A.Example:80//', 'http://a.example/'],
    ['http://[::1]:1317/lcd/v1//', 'http://[::1]:1317/lcd/v1'],
    ['https://a.example:8443/a%20b', 'https://a.example:8443/a%20b'],
  ])('normalizes the URL %s', (url, normalized) => {
    const parsed = parseValidConfig(withUrl(`"${url}"`)).targets[0]?.bridge?.url;
    expect(parsed && requestUrl(parsed).href).toBe(normalized);
  });

  test.each([
    [
      'polls that are too far apart',
      withTopLevel('poll: {interval: 9m50s, stale_after: 20m}'),
      'b:4:8: poll.interval: interval and timeout together exceed 10m, so BridgeEndpointNotPolled fires between two polls',
    ],
    [
      'own validators about which the node is not asked',
      withBridge('watch: ["0x0000000000000000000000000000000000000001"]\n      node_queries: off'),
      'b:6:7: targets[0].bridge.node_queries: with off, no alert says that a validator of watch is jailed, signs no blocks or has no funds',
    ],
    [
      'the usual port of something else',
      withUrl('http://127.0.0.1:26657'),
      'b:3:14: targets[0].bridge.url: 26657 is usually the RPC port of a node; the REST API is usually on port 1317, of Injective on port 10337',
    ],
  ])('warns about %s', (_title, text, warning) => {
    expect(parseConfig(text, 'b')).toMatchObject({ ok: true, warnings: [warning] });
  });
});
