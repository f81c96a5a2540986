import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { configText, parseConfig, settings } from '../src/config.js';
import { defaultTargetName } from '../src/config/schema.js';
import { targetVariables } from '../src/config/environment.js';
import { type CommandName, commandNames, environmentName, flagsOf } from '../src/config/flags.js';

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
  - name: testnet
    bridge: {url: "http://127.0.0.1:1317"}
tokens:
  - {contract: "0xdac17f958d2ee523a2206206994597c13d831ec7", symbol: USDT, decimals: 6}
chains: {"1": ethereum, "8332": bitcoin}
`;

const cell = (text: string) => text.replaceAll('|', String.raw`\|`);
const code = (text: string) => `\`${text}\``;
const row = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(row)].join('\n');

const settingRows = settings.map(({ path, type, required, default: preset, meaning = '' }) => [
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
    flagsOf(command).map(({ name, type, default: preset, meaning = '' }) => {
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
    setting?.meaning ?? '',
  ];
});

const page = `# Configuration

Generated from src/config/schema.ts and src/config/flags.ts by \`npx vitest run test/config-reference.test.ts -u\`.

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
    await expect(page).toMatchFileSnapshot('../docs/configuration.md');
  });

  test('has an example that is valid', () => {
    expect(parseConfig(example, 'example')).toMatchObject({ ok: true, warnings: [] });
  });

  test('has a meaning for every key and every flag', () => {
    const meanings = [...settings, ...commandNames.flatMap(flagsOf)].map(({ meaning }) => meaning);
    expect(meanings.filter((meaning) => meaning === undefined || meaning === '')).toEqual([]);
  });
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
  'targets[].crosschain.url': 'https://other.example',
  'targets[].crosschain.dialect': 'zeta',
  'targets[].crosschain.window': 501,
  'targets[].crosschain.limit': 7,
  'targets[].crosschain.rate': '8',
  'targets[].crosschain.hub_chain_ids': ['7001'],
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
  return configText(result.config);
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
    const after = textOf(withValue(parse(everywhere), path.split('.'), otherValue));
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
