import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashConfigFile, loadConfig } from '../../src/config/loader.js';
import type { Environment } from '../../src/config/http-client-config.js';
import { defaultConfig } from '../../src/config/config.js';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../src/config/endpoint-config.js';
import { endpointUrl } from '../support/config.js';
import { createTempFolder } from '../support/temp-folder.js';

const ADDRESS = 'expected an http or https URL without user, query and fragment, such as https://node.example.org';

const configFromEnvironment = async (env: Environment) => loadConfig({ env, fallback: defaultConfig });

describe('loadConfig without a file', () => {
  const isFallback = { ok: true, config: defaultConfig, warnings: [] };

  test('returns the fallback if no variable is set, or only empty ones', async () => {
    expect(await configFromEnvironment({ PATH: '/bin' })).toEqual(isFallback);
    expect(
      await configFromEnvironment({ BRIDGE_URL: '', CROSSCHAIN_URL: '', TARGET_NAME: '', POLL_INTERVAL: '' }),
    ).toEqual(isFallback);
  });

  test('uses the defaults of everything but the URL', async () => {
    const bridge = { ...defaultBridgeSettings, url: { origin: 'https://a.example' } };
    expect(await configFromEnvironment({ BRIDGE_URL: 'https://a.example/', CROSSCHAIN_URL: '' })).toEqual({
      ok: true,
      config: { ...defaultConfig, targets: [{ name: 'default', bridge }] },
      warnings: [],
    });
  });

  test('reads all variables', async () => {
    const env = {
      BRIDGE_URL: 'https://a.example',
      BRIDGE_DIALECT: 'peggy',
      BRIDGE_WATCH: 'inj1qqqqqckdmdm, 0x0000000000000000000000000000000000000001',
      CROSSCHAIN_URL: 'https://b.example',
      CROSSCHAIN_DIALECT: 'zeta',
      CROSSCHAIN_WINDOW: '501',
      CROSSCHAIN_LIMIT: '100',
      CROSSCHAIN_HUB_CHAIN_IDS: '7001, 101',
      TARGET_NAME: 'mainnet',
      POLL_INTERVAL: '1m',
    };
    const bridge = {
      ...defaultBridgeSettings,
      url: { origin: 'https://a.example' },
      dialect: 'peggy',
      watch: ['inj1qqqqqckdmdm', '0x0000000000000000000000000000000000000001'],
    };
    const crosschain = {
      ...defaultCrosschainSettings,
      url: { origin: 'https://b.example' },
      dialect: 'zeta',
      window: '501',
      limit: '100',
      hub_chain_ids: ['7001', '101'],
    };
    expect(await configFromEnvironment(env)).toEqual({
      ok: true,
      warnings: [],
      config: {
        ...defaultConfig,
        poll: { ...defaultConfig.poll, interval: 60_000 },
        targets: [{ name: 'mainnet', bridge, crosschain }],
      },
    });
  });

  test('reads a comma-separated list of URLs as nodes', async () => {
    const env = { BRIDGE_URL: 'https://a.example, https://b.example/key', CROSSCHAIN_URL: 'https://c.example' };
    expect(await configFromEnvironment(env)).toMatchObject({
      config: {
        targets: [
          {
            bridge: {
              nodes: [{ url: endpointUrl('https://a.example') }, { url: endpointUrl('https://b.example/key') }],
            },
            crosschain: { url: endpointUrl('https://c.example') },
          },
        ],
      },
    });
  });

  const invalidEnvironments: readonly (readonly [title: string, env: Environment, problems: readonly string[]])[] = [
    [
      'a URL with a password',
      { CROSSCHAIN_URL: 'https://u:p@b.example' },
      ['CROSSCHAIN_URL: user and password belong to basic_auth, in a configuration file'],
    ],
    [
      'invalid variables, with all problems at once',
      {
        BRIDGE_URL: 'ftp://a.example',
        CROSSCHAIN_URL: 'https://b.example',
        CROSSCHAIN_WINDOW: '-1',
        CROSSCHAIN_LIMIT: 'many',
        TARGET_NAME: 'a\nb',
        POLL_INTERVAL: 'often',
      },
      [
        'POLL_INTERVAL: expected a duration from 100ms to 1d, such as 30s, 1m30s or 500ms',
        'TARGET_NAME: expected a text of 1 to 128 characters, without control characters',
        `BRIDGE_URL: ${ADDRESS}`,
        'CROSSCHAIN_WINDOW: expected an integer in decimal digits from 1 to 9223372036854775807',
        'CROSSCHAIN_LIMIT: expected an integer in decimal digits from 1 to 4294967295',
      ],
    ],
    [
      'an interval too long for stale_after, which has no variable',
      { BRIDGE_URL: 'https://a.example', POLL_INTERVAL: '5m' },
      ['POLL_INTERVAL: stale_after is below interval + timeout'],
    ],
    [
      'an unknown dialect and an invalid address to watch',
      {
        BRIDGE_URL: 'https://a.example',
        BRIDGE_DIALECT: 'zeta',
        BRIDGE_WATCH: 'inj1qqqqqckdmdm,,mine',
        CROSSCHAIN_URL: 'https://b.example',
        CROSSCHAIN_DIALECT: 'peggy',
      },
      [
        'BRIDGE_DIALECT: Invalid option: expected one of "auto"|"neutral"|"peggy"',
        'BRIDGE_WATCH: is empty',
        'BRIDGE_WATCH: expected a bech32 address with a correct checksum, such as inj1…, or 0x followed by 40 hexadecimal digits',
        'CROSSCHAIN_DIALECT: Invalid option: expected one of "auto"|"neutral"|"zeta"',
      ],
    ],
    [
      'a list of URLs with an empty and a wrong entry',
      { BRIDGE_URL: 'https://a.example,,b.example' },
      ['BRIDGE_URL: is empty', `BRIDGE_URL: ${ADDRESS}`],
    ],
    [
      'variables of the bridge without its URL',
      { CROSSCHAIN_URL: 'https://b.example', BRIDGE_DIALECT: 'peggy', BRIDGE_WATCH: 'inj1qqqqqckdmdm' },
      ['BRIDGE_URL: is missing'],
    ],
    [
      'variables without any URL',
      { TARGET_NAME: 'a', POLL_INTERVAL: '1m' },
      ['BRIDGE_URL, CROSSCHAIN_URL: expected bridge, crosschain or both'],
    ],
  ];

  test('ignores blanks around values and the entries of a list', async () => {
    const env = { CROSSCHAIN_URL: 'https://b.example\r', CROSSCHAIN_HUB_CHAIN_IDS: ' 7000 ,\t101\n' };
    expect(await configFromEnvironment(env)).toMatchObject({
      config: { targets: [{ crosschain: { hub_chain_ids: ['7000', '101'] } }] },
    });
  });

  test.each(invalidEnvironments)('rejects %s', async (_title, env, problems) => {
    expect(await configFromEnvironment(env)).toEqual({ ok: false, problems });
  });

  test('names the variable in warnings', async () => {
    expect(await configFromEnvironment({ CROSSCHAIN_URL: 'http://b.example:26657' })).toMatchObject({
      ok: true,
      warnings: [expect.stringMatching(/^CROSSCHAIN_URL: 26657 is usually the RPC port/)],
    });
  });
});

describe('loadConfig', () => {
  test('rejects a file together with variables of one target', async () => {
    const env = { BRIDGE_URL: 'https://a.example', TARGET_NAME: 'a' };
    expect(await loadConfig({ configFile: 'bridge.yaml', env })).toEqual({
      ok: false,
      problems: [
        'BRIDGE_URL, TARGET_NAME: cannot be combined with the configuration file bridge.yaml — expected only one of them',
      ],
    });
  });

  test('explains how to configure a target if nothing is configured', async () => {
    expect(await loadConfig({ env: {} })).toEqual({
      ok: false,
      problems: [
        `no targets are configured — expected a configuration file (or CONFIG_FILE):
  bridge-exporter --config.file=bridge.yaml
or the URL of one node in BRIDGE_URL, CROSSCHAIN_URL or both:
  BRIDGE_URL=https://node.example.org bridge-exporter
To try it without a node, run bridge-exporter demo.`,
      ],
    });
  });
});

describe('the hash of a configuration file', () => {
  test('changes with its content, and returns with it', async () => {
    const folder = createTempFolder();
    const path = join(folder.path, 'bridge.yaml');
    const steps: readonly (() => void)[] = [
      () => folder.write('bridge.yaml', 'targets: []\n'),
      () => folder.write('other.yaml', 'targets: [a]\n'),
      () => folder.write('bridge.yaml', 'targets: []\n# comment\n'),
      () => folder.write('bridge.yaml', 'targets: ['),
      () => folder.write('bridge.yaml', ''),
      () => rmSync(path),
      // As in a mounted ConfigMap.
      () => symlinkSync('other.yaml', path),
      () => renameSync(folder.write('new.yaml', 'targets: []\n'), path),
    ];
    const hashes: string[] = [];
    for (const step of steps) {
      step();
      hashes.push(await hashConfigFile(path));
    }
    expect(hashes.map((value) => hashes.indexOf(value))).toEqual([0, 0, 2, 3, 4, 5, 6, 0]);
  });
});
