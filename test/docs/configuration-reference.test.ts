import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { formatConfig, parseConfig, settings } from '../../src/config/config.js';
import { defaultTargetName } from '../../src/config/schema.js';
import { targetVariables } from '../../src/config/environment.js';
import { type CommandName, commandNames, environmentName, flagsOf } from '../../src/cli/flags.js';
import { createAuthority } from '../support/certificates.js';

const example = `poll:
  interval: 30s
  timeout: 20s
targets:
  - name: mainnet
    bridge:
      url: https://bridge-node.example.org
      dialect: peggy
      watch: [inj1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq]
    crosschain:
      url: https://crosschain-node.example.org
      dialect: zeta
      window: 500
      rate: "1000000000000000000"
      hub_chain_ids: ["7000"]
      authorization: {credentials_file: /run/secrets/crosschain-token}
  - name: testnet
    bridge: {url: "http://127.0.0.1:1317"}
tokens:
  - {contract: "0xdac17f958d2ee523a2206206994597c13d831ec7", symbol: USDT, decimals: 6}
chains: {"1": ethereum, "8332": bitcoin}
`;

const reachExamples = {
  'User and password:': `basic_auth:
  username: exporter
  password_file: /run/secrets/node-password
`,
  'A token; `type` is `Bearer` where nothing else is said:': `authorization:
  type: Bearer
  credentials_file: secrets/token          # beside the configuration file
`,
  'Further headers, each with any number of values:': `http_headers:
  X-Api-Key: {files: [/run/secrets/api-key]}
  X-Client: {values: [bridge-exporter]}
`,
  'A node with a certificate of an own authority, which asks for one of ours:': `tls_config:
  ca_file: /etc/ssl/bridge/ca.crt
  cert_file: /etc/ssl/bridge/exporter.crt
  key_file: /etc/ssl/bridge/exporter.key
  server_name: node.internal.example.org
  min_version: TLS13
`,
  'Through a proxy:': `proxy_url: http://user:secret@proxy.example.org:3128
`,
};

const reachSection = Object.entries(reachExamples)
  .map(([title, keys]) => `${title}\n\n\`\`\`yaml\n${keys}\`\`\``)
  .join('\n\n');

const cell = (text: string) => text.replaceAll('|', String.raw`\|`);
const code = (text: string) => `\`${text}\``;
const row = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(row)].join('\n');

const settingRows = settings.map(({ path, type, required, default: preset, description: meaning = '' }) => [
  code(path),
  type,
  required ? 'required' : preset === undefined ? '' : code(preset),
  meaning,
]);

const commandTitles: Readonly<Record<CommandName, string>> = {
  daemon: '`bridge-exporter`, the daemon',
  once: '`bridge-exporter once`',
  replay: '`bridge-exporter replay`',
  simulate: '`bridge-exporter simulate`',
  demo: '`bridge-exporter demo`',
};

const flagTable = (command: CommandName) =>
  table(
    ['flag', 'variable', 'type', 'default', 'meaning'],
    flagsOf(command).map(({ name, type, default: preset, description: meaning = '' }) => {
      const variable = environmentName(name);
      return [
        code(name),
        variable === undefined ? '' : code(variable),
        type,
        preset === undefined ? '' : code(preset),
        meaning,
      ];
    }),
  );

const variableRows = Object.entries(targetVariables).map(([name, path]) => {
  const setting = settings.find((candidate) => candidate.path === path.replace('[0]', '[]'));
  const preset = name === 'TARGET_NAME' ? defaultTargetName : setting?.default;
  return [
    code(name),
    code(path.replace('[0]', '[]')),
    preset === undefined ? '' : code(preset),
    setting?.description ?? '',
  ];
});

const page = `# Configuration

Generated from src/config/schema.ts and src/cli/flags.ts by \`npx vitest run test/docs/configuration-reference.test.ts -u\`.

The targets come from one YAML file, named by \`--config.file\`; or, for one target, from environment variables alone. How
the process itself behaves is said by flags. \`bridge-exporter --config.check\` says everything that is wrong with a
configuration, each problem with its line, its path and what would be right, or prints what is in effect with all defaults.
An unknown key, flag or command is an error.

## File

\`\`\`yaml
${example}\`\`\`

${table(['key', 'type', 'default', 'meaning'], settingRows)}

- **Durations** are written as in Prometheus: \`30s\`, \`1m30s\`, \`500ms\`, with the units y, w, d, h, m, s, ms.
- **Sizes** are plain bytes or have a unit: \`KiB\`, \`MiB\`, \`GiB\` of 1024, \`KB\`, \`MB\`, \`GB\` of 1000.
- **Numbers** keep every digit, with quotes or without.
- **URLs** are http or https, with a path in front of the document's if need be, without user, query and fragment.
- The file is YAML 1.2, one document; tags are refused.

## How a node is reached

The keys \`basic_auth\`, \`authorization\`, \`http_headers\`, \`tls_config\` and \`proxy_url\` of an endpoint are those of
Prometheus' own HTTP client configuration. All are optional; there is at most one of \`basic_auth\` and \`authorization\`.

${reachSection}

- **Redirects** are refused: nothing of this is sent to another host.
- **http_headers** does not set \`Authorization\`, for which there are keys, nor what belongs to the connection, such as \`Host\`
  or \`Accept-Encoding\`. A header set here replaces the exporter's own.
- **tls_config** holds for an https proxy as well, except for \`server_name\`, which is the name of the node.
  \`insecure_skip_verify\` is warned about at the start. Versions before \`TLS12\` also let old ciphers in.
- **proxy_url** of an https node opens a tunnel, in which the proxy sees nothing; of an http node it is told everything. Its
  user and password are percent-encoded, and sent to the proxy alone.

### Files and secrets

Every text can be in the configuration or, under the same key with \`_file\`, in a file of its own; the values of a header under
\`files\`. Relative names begin at the folder of the configuration file. Files are read again for every poll, so a password or
certificate is replaced by writing its file. Line breaks at the end do not count.

A file that is missing, empty or wrong fails the polls of its endpoint, with reason \`bad_request\`, before the node is asked, and
the message names it; the first poll after it is right succeeds. It concerns one endpoint, so the exporter starts all the
same, with a warning, and polls the others; \`--config.check\` refuses it.

Passwords, credentials, \`secrets\` and \`files\` of headers, private keys and the user and password of a proxy are never shown:
\`--config.check\` prints \`<secret>\` in their place, and where a node sends one back, as it is or encoded, its message is shown
with \`<secret>\` as well. \`bridge_exporter_config_hash\` does not depend on them. User names and \`values\` of headers are shown.

## One target without a file

At least one of \`BRIDGE_URL\` and \`CROSSCHAIN_URL\`; all else has the defaults above. An empty variable is not set. With a
configuration file none of these may be set.

${table(['variable', 'key', 'default', 'meaning'], variableRows)}

## Flags

\`--name=value\` or \`--name value\`. A flag with a dot in its name is also an environment variable; the flag beats the
variable, and an empty variable is not set. Switches are \`--config.check\`, \`--config.check=false\` or \`--no-config.check\`.

${commandNames.map((command) => `### ${commandTitles[command]}\n\n${flagTable(command)}`).join('\n\n')}
`;

describe('docs/configuration.md', () => {
  test('is what the schema and the flags say', async () => {
    await expect(page).toMatchFileSnapshot('../../docs/configuration.md');
  });

  test('has an example that is valid', () => {
    expect(parseConfig(example, 'example')).toMatchObject({ ok: true, warnings: [] });
  });

  test.each(Object.entries(reachExamples))('has a valid example: %s', (_title, keys) => {
    const endpoint = { url: 'https://a.example', ...(parse(keys) as object) };
    const file = stringify({ targets: [{ name: 'a', bridge: endpoint }] });
    expect(parseConfig(file, 'example')).toMatchObject({ ok: true, warnings: [] });
  });

  test('has a meaning for every key and every flag', () => {
    const meanings = [...settings, ...commandNames.flatMap(flagsOf)].map(({ description: meaning }) => meaning);
    expect(meanings.filter((meaning) => meaning === undefined || meaning === '')).toEqual([]);
  });
});

const certified = createAuthority().issue('exporter');

/** For each key under which an endpoint says how it is reached, the whole section that it is in. */
const reachValues: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
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

const reachValuesOf = (endpoint: string) => ({
  ...Object.fromEntries(Object.entries(reachValues).map(([path, section]) => [`${endpoint}.${path}`, section])),
  [`${endpoint}.proxy_url`]: 'http://proxy.example',
});

/** For each key that holds a value, one that is not in the file below. */
const otherValues: Readonly<Record<string, unknown>> = {
  'poll.interval': '31s',
  'poll.timeout': '21s',
  'poll.stale_after': '6m',
  'poll.max_body_size': '65MiB',
  'limits.max_series_per_family': 201,
  'targets[].name': 'other',
  'targets[].bridge.url': 'https://other.example',
  'targets[].bridge.dialect': 'peggy',
  'targets[].bridge.power_threshold': 0.67,
  'targets[].bridge.watch': ['inj1qqqqqqqqqqq'],
  ...reachValuesOf('targets[].bridge'),
  'targets[].crosschain.url': 'https://other.example',
  'targets[].crosschain.dialect': 'zeta',
  'targets[].crosschain.window': 501,
  'targets[].crosschain.limit': 7,
  'targets[].crosschain.rate': '8',
  'targets[].crosschain.hub_chain_ids': ['7001'],
  ...reachValuesOf('targets[].crosschain'),
  'tokens[].contract': `0x${'1'.repeat(40)}`,
  'tokens[].symbol': 'OTHER',
  'tokens[].decimals': 7,
  chains: { 1: 'other' },
};

const everywhere = `
targets:
  - name: a
    bridge: {url: "https://a.example"}
    crosschain: {url: "https://a.example", window: 500}
tokens: [{contract: "0x${'0'.repeat(40)}", symbol: A}]
`;

function textOf(file: unknown): string {
  const result = parseConfig(stringify(file), 'b');
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return formatConfig(result.config);
}

describe('every key of the schema is live', () => {
  test('and has a place in this test', () => {
    const leaves = settings.filter(
      ({ path }) => !settings.some((other) => other.path.startsWith(`${path}.`) || other.path.startsWith(`${path}[]`)),
    );
    expect(Object.keys(otherValues)).toEqual(leaves.map(({ path }) => path));
  });

  test.each(Object.entries(otherValues))('%s', (path, otherValue) => {
    const before = textOf(parse(everywhere));
    const place = /^.*?\.(?:basic_auth|authorization|http_headers|tls_config)(?=\.)/.exec(path)?.[0] ?? path;
    const after = textOf(withValue(parse(everywhere), place.split('.'), otherValue));
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
