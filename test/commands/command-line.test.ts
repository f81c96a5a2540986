import { describe, expect, test } from 'vitest';
import { commands } from '../../packaging/generate/commands.js';
import { createTestContext, parseHere } from '../support/command-context.js';
import { runExporter } from '../support/processes.js';

const log = { 'log.level': 'info', 'log.format': 'json' };
const web = {
  'web.listenAddress': { port: 10_917 },
  'web.telemetryPath': '/metrics',
  'web.enableLifecycle': false,
  'web.maxRequests': 40,
};
const shard = { 'targets.shard': { index: 1, count: 1 } };
const daemon = { 'config.check': false, 'config.autoReloadInterval': 0, ...web, ...shard, ...log };
const served = { dialect: 'neutral', nodes: 1 };
const simulator = { listen: { host: '127.0.0.1', port: 1_317 }, seed: 1, scenario: 'healthy' };

/** What a command line is parsed to, or what is printed and the exit code. */
async function parse(line: string, env: Record<string, string> = {}) {
  const context = createTestContext();
  const result = await parseHere(line.split(' ').filter(Boolean), env, context);
  if (typeof result === 'number') return { code: result, stdout: context.stdout.join(''), stderr: context.stderr };
  return { command: result.command, options: result.options };
}

describe('a command line', () => {
  test.each([
    ['', { command: 'daemon', options: daemon }],
    ['once', { command: 'once', options: shard }],
    ['replay --bridge b.json', { command: 'replay', options: { bridge: 'b.json' } }],
    ['simulate', { command: 'simulate', options: { ...simulator, ...served } }],
    [
      'demo',
      {
        command: 'demo',
        options: {
          ...simulator,
          'web.listenAddress': { host: '127.0.0.1', port: 10_917 },
          ...log,
          'log.format': 'pretty',
        },
      },
    ],
    ['healthcheck', { command: 'healthcheck', options: web }],
  ])('has the defaults of all flags that are not set: bridge-exporter %s', async (line, invocation) => {
    expect(await parse(line)).toEqual(invocation);
  });

  test.each([
    ['--config.file=bridge.yaml', { 'config.file': 'bridge.yaml' }],
    ['--config.file=a=b.yaml', { 'config.file': 'a=b.yaml' }],
    ['--config.check', { 'config.check': true }],
    ['--config.check=false', {}],
    ['--config.auto-reload-interval=1m', { 'config.autoReloadInterval': 60_000 }],
    ['--config.auto-reload-interval=0s', {}],
    ['--web.listen-address=:0', { 'web.listenAddress': { port: 0 } }],
    ['--web.listen-address=localhost:80', { 'web.listenAddress': { host: 'localhost', port: 80 } }],
    ['--web.listen-address=[::1]:65535', { 'web.listenAddress': { host: '::1', port: 65_535 } }],
    ['--web.telemetry-path=/probe/chain.metrics', { 'web.telemetryPath': '/probe/chain.metrics' }],
    ['--web.enable-lifecycle=true', { 'web.enableLifecycle': true }],
    ['--web.enable-lifecycle=false', {}],
    ['--web.max-requests=1', { 'web.maxRequests': 1 }],
    ['--web.config.file=web.yml', { 'web.config.file': 'web.yml' }],
    ['--state.file=state.json', { 'state.file': 'state.json' }],
    ['--targets.shard=2/5', { 'targets.shard': { index: 2, count: 5 } }],
    ['--log.level=debug', { 'log.level': 'debug' }],
    ['--log.format=pretty', { 'log.format': 'pretty' }],
  ])('sets a flag of the daemon, with and without =, and by its environment variable: %s', async (flag, options) => {
    const expected = { command: 'daemon', options: { ...daemon, ...options } };
    expect(await parse(flag)).toEqual(expected);
    const [name = '', ...rest] = flag.split('=');
    const value = rest.length === 0 ? 'true' : rest.join('=');
    if (rest.length > 0) expect(await parse(`${name} ${value}`)).toEqual(expected);
    const variable = name.slice(2).replaceAll(/[.-]/g, '_').toUpperCase();
    expect(await parse('', { [variable]: value })).toEqual(expected);
  });

  test.each([
    [
      'replay --crosschain c.json --bridge=- --hub-height 999999999999999 --config.file x.yaml',
      {
        'config.file': 'x.yaml',
        bridge: '-',
        crosschain: 'c.json',
        hubHeight: 999_999_999_999_999,
      },
    ],
    [
      'simulate --listen=:0 --seed=4294967295 --scenario=stuck --block-time 500ms --start-time=1700000000',
      {
        listen: { port: 0 },
        seed: 4_294_967_295,
        scenario: 'stuck',
        blockTime: 500,
        startTime: 1_700_000_000,
        ...served,
      },
    ],
  ])('sets flags of a command: %s', async (line, options) => {
    expect(await parse(line)).toMatchObject({ options });
  });

  test.each([
    ['2026-11-23', '2026-11-23T00:00:00Z'],
    ['2026-11-23T07:35', '2026-11-23T07:35:00Z'],
    ['2026-11-23T07:35:01.5Z', '2026-11-23T07:35:01.5Z'],
    ['2026-11-23T07:35+02:00', '2026-11-23T05:35:00Z'],
  ])('has a time in UTC unless it has an offset: %s', async (time, utc) => {
    expect(await parse(`replay --recording r --from ${time}`)).toMatchObject({
      options: { from: Date.parse(utc) },
    });
  });
});

describe('the environment variables of flags', () => {
  test('are ignored if only other commands have the flag', async () => {
    expect(await parse('simulate', { TARGETS_SHARD: '0/0', SEED: '7', LISTEN: ':1' })).toEqual({
      command: 'simulate',
      options: { ...simulator, ...served },
    });
  });

  test('count as unset if they are empty', async () => {
    const env = { LOG_LEVEL: '', CONFIG_FILE: '', WEB_LISTEN_ADDRESS: '', BRIDGE_URL: 'http://127.0.0.1:1' };
    expect(await runExporter(['--config.check'], env)).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a usage error', () => {
  const LEVELS = 'Allowed choices are trace, debug, info, warn, error, fatal, silent.';
  const ADDRESS = 'Expected an address such as :10917, 127.0.0.1:10917 or [::1]:10917, with a port up to 65535.';
  const PATH =
    'Expected a path of letters, digits, dots, - and _ such as /metrics, except /pending, /config and paths under /-/.';
  const SHARD = 'Expected k/n with 1 ≤ k ≤ n ≤ 10000, such as 2/5.';
  const PATHS = [
    '/',
    'metrics',
    '/pending',
    '/Pending',
    '/config',
    '/-/healthy',
    '/metrics/',
    '//a',
    '/a/../b',
    '/:id',
  ];
  const ADDRESSES = ['10917', ':65536', 'a/b:1', 'a', ':', '[::1:1', '[a]:1', '::1:1', 'https://a:1', ':-1'];
  const SHARDS = ['0/1', '2/1', '1', '1/0', '1/10001', '1/2/3', 'a/b', '-1/2'];
  const invalid = (flag: string, text: string, expected: string): [string, string] => [
    `${flag.split(' ')[0]}=${text}`,
    `option '${flag}' argument '${text.replace(/\/\/.*/, '//…')}' is invalid. ${expected}`,
  ];

  test.each<[line: string, problem: string]>([
    ['onec', "unknown command 'onec'\n(Did you mean once?)"],
    ['onec --seed=x', "unknown command 'onec'\n(Did you mean once?)"],
    ['https://u:secret@a.example/key', "unknown command 'https://…'"],
    ['once replay', "too many arguments for 'once'. Expected 0 arguments but got 1."],
    ['--log.level=warn once', 'expected the command before its flags'],
    ['--log.levle=warn', "unknown option '--log.levle'\n(Did you mean --log.level?)"],
    ['--poll.interval=5s', "unknown option '--poll.interval'"],
    ['once --frobnicate', "unknown option '--frobnicate'"],
    ['once --url=https://u:secret@a.example/key', "unknown option '--url'"],
    // The flag of another command is not suggested.
    ['once --state.file=x', "unknown option '--state.file'"],
    ['once -vc x', "unknown option '-vc'"],
    ['--config.file', "option '--config.file <file>' argument missing"],
    invalid('--config.file <file>', '', 'Expected a file name.'),
    [
      '--config.file --config.check',
      "option '--config.file <file>' argument '--config.check' is invalid. Expected a file name.",
    ],
    invalid('--config.check [boolean]', 'yes', 'Expected true or false.'),
    invalid('--log.level <level>', 'loud', LEVELS),
    invalid(
      '--config.auto-reload-interval <duration>',
      '50ms',
      'Expected a duration from 100ms to 1d, such as 30s, 1m30s or 500ms.',
    ),
    [
      'simulate --seed=-1',
      "option '--seed <integer>' argument '-1' is invalid. Expected an integer from 0 to 4294967295.",
    ],
    [
      'simulate --block-time=2',
      "option '--block-time <duration>' argument '2' is invalid. Expected a duration from 10ms to 1h, such as 30s, 1m30s or 500ms.",
    ],
    [
      'replay --bridge b.json --hub-height 0x10',
      "option '--hub-height <integer>' argument '0x10' is invalid. Expected an integer from 1 to 999999999999999.",
    ],
    [
      'replay --recording r --from 2026-13-01',
      "option '--from <time>' argument '2026-13-01' is invalid. Expected a time such as 2026-11-23 or 2026-11-23T07:35:00Z.",
    ],
    ...ADDRESSES.map((text) => invalid('--web.listen-address <address>', text, ADDRESS)),
    ...PATHS.map((text) => invalid('--web.telemetry-path <path>', text, PATH)),
    ...SHARDS.map((text) => invalid('--targets.shard <k/n>', text, SHARD)),
    ['replay', 'nothing to replay: expected --recording DIR, --bridge FILE, --crosschain FILE, or both files'],
    ['replay --bridge=- --crosschain -', 'both documents are standard input (-): expected at least one file'],
    ['replay --bridge b --from 2026-11-23', '--target, --from and --to need --recording DIR'],
    [
      'replay --recording r --bridge b',
      "option '--recording <directory>' cannot be used with option '--bridge <file>'",
    ],
    ['backtest', "required option '--recording <directory>' not specified"],
    [
      'once now --fail-on=loud --bridge=x',
      `option '--fail-on <severity>' argument 'loud' is invalid. Allowed choices are warning, critical.`,
    ],
  ])('is the first problem: bridge-exporter %s', async (line, problem) => {
    expect(await parse(line)).toEqual({
      code: 2,
      stdout: '',
      stderr: [`error: ${problem}`, '(--help lists the flags)'],
    });
  });

  test('names the environment variable that is invalid', async () => {
    expect(await parse('', { WEB_MAX_REQUESTS: 'many' })).toMatchObject({
      stderr: [
        "error: option '--web.max-requests <integer>' value 'many' from env 'WEB_MAX_REQUESTS' is invalid. Expected an integer from 1 to 10000.",
        '(--help lists the flags)',
      ],
    });
  });
});

const names = commands.map(({ name }) => name).filter((name) => name !== 'daemon');

async function helpFor(line: string): Promise<string> {
  const result = await parse(line);
  expect(result).toMatchObject({ code: 0, stderr: [] });
  return 'stdout' in result ? result.stdout : '';
}

describe('the help', () => {
  test('of every command matches the golden file', async () => {
    const texts = await Promise.all(['--help', ...names.map((name) => `${name} --help`)].map(helpFor));
    await expect(texts.join(`\n${'─'.repeat(80)}\n\n`)).toMatchFileSnapshot('golden/help.txt');
    expect(texts.flatMap((text) => text.split('\n')).filter((line) => line.length > 80)).toEqual([]);
    const withoutScenarios = texts.map((text) => text.replace(/\nScenarios:.*/s, ''));
    expect(withoutScenarios.filter((text) => text.trimEnd().split('\n').length > 40)).toEqual([]);
    expect(new Set(texts).size).toBe(commands.length);
  });

  test('is printed for -h and help, even if other arguments are invalid', async () => {
    expect(await helpFor('help demo')).toBe(await helpFor('demo --help'));
    expect(await helpFor('once --nonsense -h')).toBe(await helpFor('once --help'));
  });

  test('is not printed for --version, which every command has', async () => {
    expect(await parse('--version')).toEqual({ code: 0, stdout: 'version\n', stderr: [] });
    expect(await parse('once --version')).toEqual({ code: 0, stdout: 'version\n', stderr: [] });
  });
});
