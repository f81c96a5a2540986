import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { targetVariables } from '../../src/config/environment.js';
import { DEFAULT_TARGET_NAME } from '../../src/config/config.js';
import { commands } from '../support/command-context.js';
import { parseConfig } from '../support/config.js';
import { formatConfig } from '../../src/config/loader.js';
import { groupBy } from '../../src/facts/grouping.js';
import { createAuthority } from '../support/certificates.js';
import { markdownTable, withTables } from './generated-tables.js';
import { configJsonSchema, configSettings } from './settings.js';

const code = (text: string | undefined): string => (text === undefined ? '' : `\`${text}\``);

/** The keys that every endpoint has, without the path of the endpoint. */
function httpClientKeys(endpoint: string): string[] {
  const keys = configSettings.map(({ path }) => path.replace(`${endpoint}.`, ''));
  return keys.filter((key) => /^(?:basic_auth|authorization|http_headers|tls_config|proxy_url)\b/.test(key));
}

const endpoints = ['targets[].bridge', 'targets[].bridge.external', 'targets[].crosschain'];

const keyTable = (title: string, settings: typeof configSettings): string =>
  markdownTable(
    [title, 'type', 'default', 'description'],
    settings.map(({ path, type, required, default: preset, description = '' }) => [
      code(path),
      type,
      required ? 'required' : code(preset),
      description,
    ]),
  );

const clientKeys = new Set(httpClientKeys('targets[].bridge'));
const isClientKey = ({ path }: Pick<(typeof configSettings)[number], 'path'>): boolean =>
  endpoints.some((endpoint) => clientKeys.has(path.replace(`${endpoint}.`, '')));

const clientSettings = configSettings
  .filter(({ path }) => clientKeys.has(path.replace('targets[].bridge.', '')))
  .map((setting) => ({ ...setting, path: setting.path.replace('targets[].bridge.', '') }));

const variableRows = Object.entries(targetVariables).map(([name, variable]) => {
  const path = variable.path.replace('[0]', '[]');
  const inFile = configSettings.find((setting) => setting.path === path)?.default;
  return [code(name), code(path), code(name === 'TARGET_NAME' ? DEFAULT_TARGET_NAME : inFile)];
});

/** Flags of several commands, once each unless the commands differ in it. */
function flagTable(): string {
  const rows = commands.flatMap((command) =>
    command.options.map(({ long, flags, envVar, argChoices, defaultValueDescription, description }) => {
      const type = argChoices?.join(' | ') ?? /[<[](.*)[>\]]$/.exec(flags)?.[1] ?? '';
      const flag = [code(long), code(envVar), type, code(defaultValueDescription), description];
      return { command: command.name(), flag };
    }),
  );
  const byFlag = Array.from(groupBy(rows, ({ flag }) => JSON.stringify(flag)).values());
  return markdownTable(
    ['flag', 'variable', 'type', 'default', 'description', 'commands'],
    byFlag.map((same) => [...(same[0]?.flag ?? []), same.map(({ command }) => command).join(', ')]),
  );
}

describe('docs/configuration.md', () => {
  test('has the keys of the schema and the flags', async () => {
    const tables = [
      keyTable(
        'key',
        configSettings.filter((setting) => !isClientKey(setting)),
      ),
      keyTable('key of an endpoint', clientSettings),
      markdownTable(['variable', 'key', 'default'], variableRows),
      flagTable(),
    ];
    await expect(withTables('docs/configuration.md', tables)).toMatchFileSnapshot('../../docs/configuration.md');
  });

  test('has a JSON schema beside it, for editors', async () => {
    const text = `${JSON.stringify(configJsonSchema, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../docs/configuration.schema.json');
  });

  test('lists the keys of the HTTP client once, because all endpoints have the same', () => {
    for (const endpoint of endpoints) expect(httpClientKeys(endpoint), endpoint).toEqual([...clientKeys]);
  });

  test('describes every key and every flag', () => {
    const described = [...configSettings, ...commands.flatMap(({ options }) => options)];
    expect(described.filter(({ description }) => description === undefined || description === '')).toEqual([]);
  });
});

const certified = createAuthority().issue('exporter');

/** For each key of the HTTP client configuration, a valid mapping that contains it. */
const httpClientValues: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'basic_auth.username': { username: 'u' },
  'basic_auth.username_file': { username_file: 'u' },
  'basic_auth.password': { username: 'u', password: 'p' },
  'basic_auth.password_file': { username: 'u', password_file: 'p' },
  'authorization.type': { type: 'ApiKey', credentials: 'c' },
  'authorization.credentials': { credentials: 'c' },
  'authorization.credentials_file': { credentials_file: 'c' },
  'http_headers.<name>.values': { 'X-Key': { values: ['v'] } },
  'http_headers.<name>.secrets': { 'X-Key': { secrets: ['v'] } },
  'http_headers.<name>.files': { 'X-Key': { files: ['v'] } },
  'tls_config.ca': { ca: certified.cert },
  'tls_config.ca_file': { ca_file: 'ca' },
  'tls_config.cert': { cert: certified.cert, key_file: 'key' },
  'tls_config.cert_file': { cert_file: 'cert', key_file: 'key' },
  'tls_config.key': { cert_file: 'cert', key: certified.key },
  'tls_config.key_file': { cert_file: 'cert', key_file: 'key' },
  'tls_config.server_name': { server_name: 'other.example' },
  'tls_config.insecure_skip_verify': { insecure_skip_verify: true },
  'tls_config.min_version': { min_version: 'TLS13' },
  'tls_config.max_version': { max_version: 'TLS12' },
};

const httpClientValuesOf = (endpoint: string) => ({
  ...Object.fromEntries(Object.entries(httpClientValues).map(([path, section]) => [`${endpoint}.${path}`, section])),
  [`${endpoint}.proxy_url`]: 'http://proxy.example',
});

/** For each key with a value, another value than in `baseFile`. */
const otherValues: Readonly<Record<string, unknown>> = {
  'poll.interval': '31s',
  'poll.timeout': '21s',
  'poll.stale_after': '6m',
  'poll.max_body_size': '65MiB',
  'limits.max_series_per_family': 201,
  'targets[].name': 'other',
  'targets[].labels': { network: 'other' },
  'targets[].bridge.url': 'https://other.example',
  'targets[].bridge.dialect': 'peggy',
  'targets[].bridge.power_threshold': 0.67,
  'targets[].bridge.block_time': '630ms',
  'targets[].bridge.external_block_time': '12s',
  'targets[].bridge.backlog_limit': 501,
  'targets[].bridge.objective.withdrawal': '2h',
  'targets[].bridge.objective.ratio': 0.95,
  'targets[].bridge.validator_names': 'off',
  'targets[].bridge.watch': ['inj1qqqqqckdmdm'],
  'targets[].bridge.watch_min_balance': '5',
  'targets[].bridge.node_queries': 'off',
  'targets[].bridge.external.url': 'https://other.example',
  'targets[].bridge.external.interval': '2m',
  ...httpClientValuesOf('targets[].bridge.external'),
  ...httpClientValuesOf('targets[].bridge'),
  'targets[].crosschain.url': 'https://other.example',
  'targets[].crosschain.dialect': 'zeta',
  'targets[].crosschain.window': 501,
  'targets[].crosschain.limit': 7,
  'targets[].crosschain.rate': '8',
  'targets[].crosschain.hub_chain_ids': ['7001'],
  'targets[].crosschain.ignore.indexes': ['0xother'],
  'targets[].crosschain.ignore.older_than': '7d',
  'targets[].crosschain.backlog_limit': 999,
  'targets[].crosschain.age_limits': { '8332': '3h' },
  'targets[].crosschain.node_queries': 'off',
  'targets[].crosschain.cctx_queries': 'off',
  ...httpClientValuesOf('targets[].crosschain'),
  'tokens[].contract': `0x${'1'.repeat(40)}`,
  'tokens[].symbol': 'OTHER',
  'tokens[].decimals': 7,
  'tokens[].min_batch_fee': '8',
  'tokens[].backing': true,
  'tokens[].explorer': 'https://other.example/{address}',
  'chains.<name>.name': 'other',
  'chains.<name>.explorer': 'https://other.example/{hash}',
  'validators[].address': 'inj1pppppaj0lvm',
  'validators[].name': 'Other',
  'problems.<name>.after': '45m',
  'problems.<name>.enabled': false,
  'links.runbook': 'https://other.example',
  'links.dashboards': 'https://other.example',
  'recorder.directory': '/var/lib/other',
  'recorder.interval': '10m',
  'recorder.max_size': '2GiB',
};

const baseFile = `
targets:
  - name: a
    bridge: {url: "https://a.example", objective: {withdrawal: 1h}, external: {url: "https://rpc.example"}}
    crosschain: {url: "https://a.example", window: 500}
tokens: [{contract: "0x${'0'.repeat(40)}", symbol: A}]
chains: {"1": {name: a, explorer: "https://a.example/{hash}"}}
validators: [{address: inj1qqqqqckdmdm, name: A}]
problems: {BridgeBatchUnsigned: {after: 1h, enabled: true}}
recorder: {directory: /var/lib/recordings}
`;

function printed(file: unknown): string {
  const result = parseConfig(stringify(file), 'b');
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return formatConfig(result.config);
}

describe('every key of the schema has an effect', () => {
  test('covers every key with a value', () => {
    const leaves = configSettings.filter(
      ({ path }) =>
        !configSettings.some((other) => other.path.startsWith(`${path}.`) || other.path.startsWith(`${path}[]`)),
    );
    // Its effect depends on other files: test/config/target-files.test.ts.
    const withoutFiles = leaves.filter(({ path }) => path !== 'target_files');
    expect(Object.keys(otherValues)).toEqual(withoutFiles.map(({ path }) => path));
  });

  test.each(Object.entries(otherValues))('%s changes the configuration', (path, otherValue) => {
    const before = printed(parse(baseFile));
    const mappingPath = /^.*?\.(?:basic_auth|authorization|http_headers|tls_config)(?=\.)/.exec(path)?.[0] ?? path;
    const after = printed(
      withValue(
        parse(baseFile),
        mappingPath
          .replace('chains.<name>', 'chains.1')
          .replace('problems.<name>', 'problems.BridgeBatchUnsigned')
          .split('.'),
        otherValue,
      ),
    );
    expect(after).not.toBe(before);
    expect(after).toContain(path.split('.').at(-1));
  });
});

/** A copy with a value at a path; `targets[]` is the first target. */
function withValue(file: unknown, [key = '', ...rest]: readonly string[], value: unknown): unknown {
  const record = typeof file === 'object' && file !== null ? { ...file } : {};
  const [name = '', list] = key.split('[]');
  const inner: unknown = Object.entries(record).find(([candidate]) => candidate === name)?.[1];
  if (rest.length === 0) return { ...record, [name]: value };
  return { ...record, [name]: list === undefined ? withValue(inner, rest, value) : withFirst(inner, rest, value) };
}

function withFirst(entries: unknown, rest: readonly string[], value: unknown): unknown[] {
  return Array.isArray(entries) ? entries.with(0, withValue(entries[0], rest, value)) : [];
}
