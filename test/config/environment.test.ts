import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultConfig, parseConfig } from '../../src/config/config.js';
import { type Environment, configFromEnvironment } from '../../src/config/environment.js';
import { EXAMPLE_CONFIG } from '../../src/cli/help.js';
import { loadConfig } from '../../src/config/load.js';

const ADDRESS = 'expected an http or https address without user, query and fragment, such as https://node.example.org';

const ONE_TARGET = '[{name: mainnet, bridge: {url: https://node.example.org}}]';

const read = (path: string) => readFile(path, 'utf8');

describe('one target without a file', () => {
  test('nothing set is no configuration', () => {
    expect(configFromEnvironment({ PATH: '/bin' })).toBeUndefined();
  });

  test('an empty variable is not set', () => {
    expect(
      configFromEnvironment({ BRIDGE_URL: '', CROSSCHAIN_URL: '', TARGET_NAME: '', POLL_INTERVAL: '' }),
    ).toBeUndefined();
  });

  test('a bridge alone has all defaults', () => {
    const result = configFromEnvironment({ BRIDGE_URL: 'https://a.example/', CROSSCHAIN_URL: '' });
    expect(result).toMatchObject({
      ok: true,
      config: {
        ...defaultConfig,
        targets: [
          {
            name: 'default',
            bridge: { url: 'https://a.example', dialect: 'neutral', powerThreshold: '0.6667', watch: [] },
          },
        ],
      },
    });
    expect(result?.ok && Object.keys(result.config.targets[0] ?? {})).toEqual(['name', 'bridge']);
  });

  test('every variable is read', () => {
    const env = {
      BRIDGE_URL: 'https://a.example',
      CROSSCHAIN_URL: 'https://b.example',
      CROSSCHAIN_WINDOW: '500',
      CROSSCHAIN_LIMIT: '100',
      TARGET_NAME: 'mainnet',
      POLL_INTERVAL: '1m',
    };
    const bridge = { url: 'https://a.example', dialect: 'neutral', powerThreshold: '0.6667', watch: [] };
    const crosschain = { url: 'https://b.example', dialect: 'neutral', window: '500', limit: '100' };
    expect(configFromEnvironment(env)).toEqual({
      ok: true,
      warnings: [],
      config: {
        ...defaultConfig,
        poll: { ...defaultConfig.poll, intervalMs: 60_000 },
        targets: [{ name: 'mainnet', bridge, crosschain }],
      },
    });
  });

  const bad: readonly (readonly [title: string, env: Environment, problems: readonly string[]])[] = [
    ['a bad address', { BRIDGE_URL: 'a.example' }, [`BRIDGE_URL: is not an http or https address — ${ADDRESS}`]],
    [
      'a password in the address',
      { CROSSCHAIN_URL: 'https://u:p@b.example' },
      [`CROSSCHAIN_URL: https://b.example is given with a user name or password — ${ADDRESS}`],
    ],
    [
      'everything wrong at once',
      {
        BRIDGE_URL: 'ftp://a.example',
        CROSSCHAIN_URL: 'https://b.example',
        CROSSCHAIN_WINDOW: '-1',
        CROSSCHAIN_LIMIT: 'many',
        TARGET_NAME: 'a\nb',
        POLL_INTERVAL: 'often',
      },
      [
        'POLL_INTERVAL: "often" — expected a duration from 100ms to 1d, such as 30s, 1m30s or 500ms',
        'TARGET_NAME: "a\\nb" — expected text of 1 to 128 characters, none of them a control character or half a surrogate pair',
        `BRIDGE_URL: is not an http or https address — ${ADDRESS}`,
        'CROSSCHAIN_WINDOW: "-1" — expected a positive integer in decimal digits, at most 9223372036854775807',
        'CROSSCHAIN_LIMIT: "many" — expected a positive integer in decimal digits, at most 4294967295',
      ],
    ],
    [
      'an interval too long for stale_after, which has no variable',
      { BRIDGE_URL: 'https://a.example', POLL_INTERVAL: '5m' },
      ['POLL_INTERVAL: stale_after (5m) is below interval (5m) + timeout (20s) — expected at least 5m20s'],
    ],
    [
      'a window without its address',
      { BRIDGE_URL: 'https://a.example', CROSSCHAIN_WINDOW: '500', CROSSCHAIN_LIMIT: '1' },
      [
        'CROSSCHAIN_WINDOW: has no effect alone — expected CROSSCHAIN_URL beside it',
        'CROSSCHAIN_LIMIT: has no effect alone — expected CROSSCHAIN_URL beside it',
      ],
    ],
    [
      'no address at all',
      { CROSSCHAIN_WINDOW: '500', TARGET_NAME: 'a', POLL_INTERVAL: '1m' },
      [
        'CROSSCHAIN_WINDOW: has no effect alone — expected CROSSCHAIN_URL beside it',
        'TARGET_NAME: has no effect alone — expected BRIDGE_URL or CROSSCHAIN_URL beside it',
        'POLL_INTERVAL: has no effect alone — expected BRIDGE_URL or CROSSCHAIN_URL beside it',
      ],
    ],
  ];

  test.each(bad)('is refused for %s', (_title, env, problems) => {
    expect(configFromEnvironment(env)).toEqual({ ok: false, problems });
  });

  test('a doubt names the variable too', () => {
    const result = configFromEnvironment({
      CROSSCHAIN_URL: 'https://b.example',
      CROSSCHAIN_WINDOW: '200000',
      POLL_INTERVAL: '5s',
    });
    expect(result).toMatchObject({
      ok: true,
      warnings: [
        'POLL_INTERVAL: timeout (20s) is longer than interval (5s)',
        'CROSSCHAIN_WINDOW: 200000 blocks is far above 100000: the query is heavy for the node',
      ],
    });
  });
});

describe('the configuration is loaded', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bridge-exporter-'));
    await writeFile(join(folder, 'good.yaml'), 'targets: [{name: a, bridge: {url: "https://a.example"}}]');
    await writeFile(join(folder, 'bad.yaml'), 'targets: []');
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('from a file', async () => {
    const result = await loadConfig({ configFile: join(folder, 'good.yaml'), env: {}, readFile: read });
    expect(result).toMatchObject({ ok: true, config: { targets: [{ name: 'a' }] } });
  });

  test('from a file with problems, which name it', async () => {
    const configFile = join(folder, 'bad.yaml');
    const problems = [
      `${configFile}:1: targets: is empty — expected a list of at least one target, such as ${ONE_TARGET}`,
    ];
    expect(await loadConfig({ configFile, env: {}, readFile: read })).toEqual({ ok: false, problems });
  });

  test('from variables', async () => {
    const result = await loadConfig({ env: { BRIDGE_URL: 'https://a.example' }, readFile: read });
    expect(result).toMatchObject({ ok: true, config: { targets: [{ name: 'default' }] } });
  });

  test('not from a file that cannot be read', async () => {
    const configFile = join(folder, 'none.yaml');
    const problems = [`${configFile}: cannot be read: ENOENT: no such file or directory`];
    expect(await loadConfig({ configFile, env: {}, readFile: read })).toEqual({ ok: false, problems });
    const directory = [`${folder}: cannot be read: EISDIR: illegal operation on a directory`];
    expect(await loadConfig({ configFile: folder, env: {}, readFile: read })).toEqual({
      ok: false,
      problems: directory,
    });
  });

  test('nor from one whose name leads elsewhere, which is said', async () => {
    const problems = [`no.yaml: cannot be read: ENOENT: no such file or directory — looked for ${resolve('no.yaml')}`];
    expect(await loadConfig({ configFile: 'no.yaml', env: {}, readFile: read })).toEqual({ ok: false, problems });
  });

  test('but from the files its messages and the help propose', async () => {
    expect(parseConfig(`targets: ${ONE_TARGET}`, 'a.yaml')).toMatchObject({ ok: true, warnings: [] });
    expect(parseConfig(EXAMPLE_CONFIG, 'a.yaml')).toMatchObject({ ok: true, warnings: [] });
  });

  test('not from a file and variables at once', async () => {
    const env = { BRIDGE_URL: 'https://a.example', TARGET_NAME: 'a' };
    expect(await loadConfig({ configFile: 'bridge.yaml', env, readFile: read })).toEqual({
      ok: false,
      problems: ['BRIDGE_URL, TARGET_NAME: set beside the configuration file bridge.yaml — expected one or the other'],
    });
  });

  test('not from nothing', async () => {
    expect(await loadConfig({ env: {}, readFile: read })).toEqual({
      ok: false,
      problems: [
        `nothing to poll is configured — expected a file of targets (CONFIG_FILE is the same):
  bridge-exporter --config.file=bridge.yaml
or one node by its address, BRIDGE_URL, CROSSCHAIN_URL or both:
  BRIDGE_URL=https://node.example.org bridge-exporter
Without a node, bridge-exporter demo shows a simulated one.`,
      ],
    });
  });

  test('from nothing where there is something to take otherwise', async () => {
    const result = await loadConfig({ env: {}, readFile: read, fallback: defaultConfig });
    expect(result).toEqual({ ok: true, config: defaultConfig, warnings: [] });
  });
});
