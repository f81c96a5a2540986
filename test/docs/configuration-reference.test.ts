import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type CommandName, commandNames, environmentName, flagsOf } from '../../src/cli/flags.js';
import { targetVariables } from '../../src/config/environment.js';
import { configSettings, DEFAULT_TARGET_NAME } from '../../src/config/config.js';
import { parseConfig } from '../support/config.js';
import { formatConfig } from '../../src/config/loader.js';
import { createAuthority } from '../support/certificates.js';

const example = `poll:
  interval: 30s
  timeout: 20s
targets:
  - name: mainnet
    labels: {network: injective-1}
    bridge:
      url: https://bridge-node.example.org
      watch: [inj1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqe2hm49]
    crosschain:
      url: https://crosschain-node.example.org
      rate: "1000000000000000000"
      authorization: {credentials_file: /run/secrets/crosschain-token}
  - name: testnet
    bridge: {url: "http://127.0.0.1:1317"}
tokens:
  - {contract: "0xdac17f958d2ee523a2206206994597c13d831ec7", symbol: USDT, decimals: 6}
chains:
  "101": localnet
  "8332": {name: bitcoin, explorer: "https://explorer.example.org/tx/{hash}"}
links:
  dashboards: https://grafana.example.org
recorder:
  directory: /var/lib/bridge-exporter
`;

const targetFilesExample = `target_files:
  - targets/*.yml
`;

const targetFileExample = `- name: mainnet
  labels: {network: injective-1, team: bridge}
  bridge: {url: "https://node.example.org"}
`;

const httpClientExamples = {
  'Basic authentication:': `basic_auth:
  username: exporter
  password_file: /run/secrets/node-password
`,
  'Bearer token:': `authorization:
  type: Bearer
  credentials_file: secrets/token          # relative to the configuration file
`,
  'Additional headers:': `http_headers:
  X-Api-Key: {files: [/run/secrets/api-key]}
  X-Client: {values: [bridge-exporter]}
`,
  'Private certificate authority and client certificate:': `tls_config:
  ca_file: /etc/ssl/bridge/ca.crt
  cert_file: /etc/ssl/bridge/exporter.crt
  key_file: /etc/ssl/bridge/exporter.key
  server_name: node.internal.example.org
  min_version: TLS13
`,
  'Proxy:': `proxy_url: http://user:secret@proxy.example.org:3128
`,
};

const httpClientSection = Object.entries(httpClientExamples)
  .map(([title, keys]) => `${title}\n\n\`\`\`yaml\n${keys}\`\`\``)
  .join('\n\n');

const cell = (text: string) => text.replaceAll('|', String.raw`\|`);
const code = (text: string) => `\`${text}\``;
const row = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(row)].join('\n');

const settingRows = configSettings.map(({ path, type, required, default: preset, description = '' }) => [
  code(path),
  type,
  required ? 'required' : preset === undefined ? '' : code(preset),
  description,
]);

const commandTitles: Readonly<Record<CommandName, string>> = {
  daemon: '`bridge-exporter`, the daemon',
  once: '`bridge-exporter once`',
  replay: '`bridge-exporter replay`',
  simulate: '`bridge-exporter simulate`',
  demo: '`bridge-exporter demo`',
  healthcheck: '`bridge-exporter healthcheck`',
};

const flagTable = (command: CommandName) =>
  table(
    ['flag', 'variable', 'type', 'default', 'description'],
    flagsOf(command).map(({ name, type, default: preset, description }) => {
      const variable = environmentName(name);
      return [
        code(name),
        variable === undefined ? '' : code(variable),
        type,
        preset === undefined ? '' : code(preset),
        description,
      ];
    }),
  );

const variableRows = Object.entries(targetVariables).map(([name, { path, default: inFile, description = '' }]) => {
  const preset = name === 'TARGET_NAME' ? DEFAULT_TARGET_NAME : inFile;
  return [code(name), code(path), preset === undefined ? '' : code(preset), description];
});

const page = `# Configuration

Generated from src/config/config.ts and src/cli/flags.ts by \`npm test -- -u\`.

Targets are configured in one YAML file (\`--config.file\`) or, for a single target, by environment variables. The base URL of a node is enough
for Injective, ZetaChain and the simulator. Flags configure the process.
\`bridge-exporter --config.check\` reports all problems of a configuration with line and key, or prints the configuration with all
defaults. Unknown keys, flags and commands are errors.

## File

\`\`\`yaml
${example}\`\`\`

${table(['key', 'type', 'default', 'description'], settingRows)}

- **Durations** have the format of Prometheus: \`30s\`, \`1m30s\`, \`500ms\`, with the units y, w, d, h, m, s, ms.
- **Sizes** are bytes, or have a unit: \`KiB\`, \`MiB\`, \`GiB\` (powers of 1024), \`KB\`, \`MB\`, \`GB\` (powers of 1000).
- **Numbers** keep every digit, quoted or not.
- **URLs** are http or https, without user, query and fragment. A path is kept, and the path of the document is appended to it.
- The file is a single YAML 1.2 document without tags. As in Prometheus, environment variables such as \`\${NAME}\` are not expanded; secrets can be
  read from files.

### Target labels

\`labels\` of a target are in every series of the target, in the metrics of the chain and in those of the exporter that have the label \`target\`. Use
them for what dashboards and alerts select by, such as the network, the team or the environment. A target has at most 20 labels, with values of at
most 128 characters. Errors are: names that start with \`__\`; the labels that Prometheus and its operator assign (\`job\`, \`instance\`, \`endpoint\`,
\`namespace\`, \`service\`, \`pod\`, \`container\`, \`node\`, \`cluster\`, \`replica\`, \`prometheus\`); and every label of a metric of a target. When labels change,
the series of the target start anew with the next poll.

### Target files

\`target_files\` name files with further targets, for example one per network:

\`\`\`yaml
${targetFilesExample}\`\`\`

Each file is a YAML or JSON list like \`targets\`:

\`\`\`yaml
${targetFileExample}\`\`\`

Patterns have the wildcards \`*\`, \`?\` and \`[abc]\` within a part of the path, and do not match names that start with a dot. They are relative to the
configuration file; names in a target file are relative to that file. Names of targets are unique over all files. A pattern or name that matches no
file is a warning; an empty file is an error, because it is most likely not completely written: write \`[]\` for no targets. All files are read again
with every reload. \`--config.check\` prints the targets of all files under \`targets\`.

### Reloading

The configuration is read again after SIGHUP, after a POST or PUT to \`/-/reload\` with \`--web.enable-lifecycle\`, and, with
\`--config.auto-reload-interval=30s\`, after a change. At this interval the contents of the configuration file and of its target files are compared with
those of the last attempt, so a file may be replaced by renaming it, or by way of symbolic links as in a mounted ConfigMap. An invalid or missing
configuration is logged once, sets \`bridge_exporter_config_last_reload_successful\` to 0, and leaves the previous one active until the files change
again. Targets without changes keep their state.

Files with passwords, tokens and certificates are read again for every poll, and the web configuration with its certificates is checked every second,
with or without this flag.

## HTTP client

The keys \`basic_auth\`, \`authorization\`, \`http_headers\`, \`tls_config\` and \`proxy_url\` of an endpoint are those of Prometheus' HTTP client
configuration. All are optional. \`basic_auth\` and \`authorization\` cannot be combined.

${httpClientSection}

- **Redirects** are not followed, so that credentials are not sent to another host.
- **http_headers** cannot set \`Authorization\` (use the keys above) and headers of the connection, such as \`Host\` or
  \`Accept-Encoding\`. They override the headers of the exporter.
- **tls_config** also applies to an https proxy, except for \`server_name\`. \`insecure_skip_verify\` logs a warning at startup. A
  \`min_version\` below \`TLS12\` also enables old ciphers.
- **proxy_url** opens a tunnel to an https node, which the proxy cannot read; requests to an http node are sent to the proxy in
  clear text. User and password are percent-encoded, and sent only to the proxy.

### Files and secrets

A value can be set in the configuration or, under the same key with the suffix \`_file\`, in a file; header values under \`files\`. Relative
file names are resolved against the directory of the configuration file. Files are read again for every poll, so a password or certificate
is rotated by replacing its file. Trailing line breaks are ignored.

If a file is missing, empty or invalid, the polls of its endpoint fail with reason \`bad_request\` and a message that names the file, and no
request is sent. The exporter still starts, logs a warning, and polls all other endpoints; \`--config.check\` fails.

Passwords, credentials, \`secrets\` and \`files\` of headers, private keys, and user and password of a proxy are redacted as
\`<secret>\`, in the output of \`--config.check\` and in error messages of nodes that quote them, encoded or not. They do not affect
\`bridge_exporter_config_hash\`. User names and \`values\` of headers are not redacted.

## Environment variables

A single target can be configured without a file. At least one of \`BRIDGE_URL\` and \`CROSSCHAIN_URL\` is required; all other settings have
the defaults above. An empty variable counts as unset. The variables cannot be combined with a configuration file. \`BRIDGE_WATCH\` is a list
separated by commas.

${table(['variable', 'key', 'default', 'description'], variableRows)}

## Flags

Flags are written as \`--name=value\` or \`--name value\`, boolean flags as \`--config.check\`, \`--config.check=false\` or
\`--no-config.check\`. A flag with a dot in its name can also be set by an environment variable. The flag overrides the variable, and an empty
variable counts as unset.

${commandNames.map((command) => `### ${commandTitles[command]}\n\n${flagTable(command)}`).join('\n\n')}
`;

describe('docs/configuration.md', () => {
  test('matches the schema and the flags', async () => {
    await expect(page).toMatchFileSnapshot('../../docs/configuration.md');
  });

  test('has a valid example of a configuration file', () => {
    expect(parseConfig(example, 'example')).toMatchObject({ ok: true, warnings: [] });
  });

  test.each(Object.entries(httpClientExamples))('has a valid example of HTTP client settings: %s', (_title, keys) => {
    const endpoint = { url: 'https://a.example', ...(parse(keys) as object) };
    const file = stringify({ targets: [{ name: 'a', bridge: endpoint }] });
    expect(parseConfig(file, 'example')).toMatchObject({ ok: true, warnings: [] });
  });

  test('has a valid example of target files', () => {
    const targets: unknown = parse(targetFileExample);
    expect(parseConfig(stringify({ targets }), 'example')).toMatchObject({ ok: true, warnings: [] });
    expect(parseConfig(stringify({ ...(parse(targetFilesExample) as object), targets }), 'example').ok).toBe(true);
  });

  test('describes every key and every flag', () => {
    const described = [...configSettings, ...commandNames.flatMap(flagsOf)];
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
      withValue(parse(baseFile), mappingPath.replace('chains.<name>', 'chains.1').split('.'), otherValue),
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
