import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Config } from '../../src/config/config.js';
import { formatConfig } from '../../src/config/loader.js';
import { requestUrl, rpcUrl } from '../../src/config/urls.js';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../src/config/endpoint-config.js';
import { configSettings } from '../../packaging/generate/settings.js';
import { endpointUrl, parseConfig, parseValidConfig } from '../support/config.js';
import { withBridge, withCrosschain, withLabels, withUrl, withTopLevel } from './sample-files.js';

const TOKEN = '0x0000000000000000000000000000000000000001';

const everyKey = `
poll:
  interval: 1m30s
  timeout: 45s
  stale_after: 1h
  max_body_size: 10MB
limits:
  max_series_per_family: 50
targets:
  - name: mainnet
    labels: {network: mainnet}
    bridge:
      url: https://node.example.org/lcd/
      dialect: peggy
      validator_names: off
      power_threshold: 0.66670000000000000000001
      block_time: 630ms
      external_block_time: 12s
      backlog_limit: 50
      external: {url: "https://rpc.example.org", interval: 2m}
      watch: [INJ1QQQQQCKDMDM, inj1qqqqqckdmdm, inj1pppppaj0lvm]
      watch_min_balance: 250000000000000000000
      node_queries: "off"
    crosschain:
      url: http://127.0.0.1:1317
      dialect: zeta
      window: 500
      limit: 4294967295
      rate: 115792089237316195423570985008687907853269984665640564039457584007913129639935
      hub_chain_ids: [7000, "7001", 7000]
      ignore: {indexes: [0x1f, "0xAB", 0x1f], older_than: 7d}
      backlog_limit: 300
      age_limits: {default: 45m, 1: 20m, "8332": 1h30m}
      node_queries: "off"
      cctx_queries: off
  - name: nodes
    bridge:
      nodes: [{url: "https://a.example/key", authorization: {credentials_file: token}}, {url: "https://b.example"}]
      external: {nodes: [{url: "https://rpc.example.org/?key"}]}
    crosschain: {nodes: [{url: "http://127.0.0.1:1317", no_proxy: "*", proxy_url: "http://proxy.example"}]}
tokens:
  - {contract: "0xDAC17F958D2ee523a2206206994597C13D831ec7", symbol: USDT, decimals: 6}
  - {contract: "${TOKEN}", decimals: 0, min_batch_fee: 8, backing: true}
  - {contract: "0x0000000000000000000000000000000000000002", explorer: "https://explorer.example/token/{address}"}
chains: {1: ethereum, "8332": {name: bitcoin, explorer: "https://explorer.example/tx/{hash}?a#{hash}"}}
problems:
  BridgeBatchUnsigned: {after: 45m}
  CrosschainBacklogHigh: {enabled: false}
  BridgeParamsChanged: {critical: {after: 1m, enabled: true}, warning: {after: 1m, enabled: true}, info: {after: 1m, enabled: true}}
  BridgeSnapshotStale: {module_state: {after: 1m, enabled: true}, rate_limiter_input: {after: 1m, enabled: true}, external_contract: {after: 1m, enabled: true}}
links: {runbook: "https://wiki.example/runbook/", dashboards: "https://grafana.example/base/"}
recorder: {directory: /var/lib/bridge-exporter, interval: 0s, max_size: 200MB}
validators:
  - {address: INJ1QQQQQCKDMDM, name: "Alpha & Co"}
  - {address: "0xDAC17F958D2ee523a2206206994597C13D831ec7", name: Beta}
`;

const EVERY_PART = { after: 60_000, enabled: true };

const everyKeyConfig: Config = {
  poll: { interval: 90_000, timeout: 45_000, stale_after: 3_600_000, max_body_size: 10_000_000 },
  limits: { max_series_per_family: 50 },
  targets: [
    {
      name: 'mainnet',
      labels: { network: 'mainnet' },
      bridge: {
        url: endpointUrl('https://node.example.org/lcd'),
        dialect: 'peggy',
        power_threshold: '0.66670000000000000000001',
        block_time: 630,
        external_block_time: 12_000,
        backlog_limit: 50,
        external: { url: endpointUrl('https://rpc.example.org'), interval: 120_000 },
        validator_names: 'off',
        watch: ['inj1qqqqqckdmdm', 'inj1pppppaj0lvm'],
        watch_min_balance: '250000000000000000000',
        node_queries: 'off',
      },
      crosschain: {
        url: { origin: 'http://127.0.0.1:1317' },
        dialect: 'zeta',
        window: '500',
        limit: '4294967295',
        rate: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
        hub_chain_ids: ['7000', '7001'],
        ignore: { indexes: ['0x1f', '0xAB'], older_than: 604_800_000 },
        backlog_limit: 300,
        age_limits: { default: 2_700_000, '1': 1_200_000, '8332': 5_400_000 },
        node_queries: 'off',
        cctx_queries: 'off',
      },
    },
    {
      name: 'nodes',
      bridge: {
        ...defaultBridgeSettings,
        nodes: [
          {
            url: endpointUrl('https://a.example/key'),
            authorization: { type: 'Bearer', credentials_file: resolve('token') },
          },
          { url: endpointUrl('https://b.example') },
        ],
        external: { nodes: [{ url: rpcUrl.parse('https://rpc.example.org/?key') }], interval: 60_000 },
      },
      crosschain: {
        ...defaultCrosschainSettings,
        nodes: [
          { url: endpointUrl('http://127.0.0.1:1317'), no_proxy: '*', proxy_url: { url: 'http://proxy.example' } },
        ],
      },
    },
  ],
  tokens: [
    { contract: '0xdac17f958d2ee523a2206206994597c13d831ec7', symbol: 'USDT', decimals: 6 },
    { contract: TOKEN, decimals: 0, min_batch_fee: '8', backing: true },
    { contract: '0x0000000000000000000000000000000000000002', explorer: 'https://explorer.example/token/{address}' },
  ],
  chains: {
    '1': { name: 'ethereum' },
    '8332': { name: 'bitcoin', explorer: 'https://explorer.example/tx/{hash}?a#{hash}' },
  },
  validators: [
    { address: 'inj1qqqqqckdmdm', name: 'Alpha & Co' },
    { address: '0xdac17f958d2ee523a2206206994597c13d831ec7', name: 'Beta' },
  ],
  problems: {
    BridgeBatchUnsigned: { after: 2_700_000 },
    CrosschainBacklogHigh: { enabled: false },
    BridgeParamsChanged: { critical: EVERY_PART, warning: EVERY_PART, info: EVERY_PART },
    BridgeSnapshotStale: { module_state: EVERY_PART, rate_limiter_input: EVERY_PART, external_contract: EVERY_PART },
  },
  links: { runbook: 'https://wiki.example/runbook', dashboards: 'https://grafana.example/base' },
  recorder: { directory: '/var/lib/bridge-exporter', interval: 0, max_size: 200_000_000 },
};

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

  test('parses all keys with exact numbers', () => {
    const result = parseConfig(everyKey, 'b');
    expect(result).toEqual({ ok: true, warnings: [expect.stringContaining('node_queries')], config: everyKeyConfig });
    expect(result.ok && structuredClone(result.config)).toEqual(everyKeyConfig);
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
      'b:4:8: poll.interval: interval and timeout together are longer than 10m: BridgeEndpointNotPolled fires between polls',
    ],
    [
      'own validators about which the node is not asked',
      withBridge('watch: ["0x0000000000000000000000000000000000000001"]\n      node_queries: off'),
      'b:6:7: targets[0].bridge.node_queries: nobody judges whether a validator of watch is jailed, signs blocks and has funds',
    ],
    [
      'a very long window',
      withCrosschain('window: 100001'),
      'b:5:7: targets[0].crosschain.window: 100001 blocks is above 100000: the query is expensive for the node',
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
