import { describe, expect, test } from 'vitest';
import { subcommands } from '../../src/cli/flags.js';
import { type Invocation, parseInvocation } from '../../src/cli/invocation.js';

const log = { level: 'info', format: 'json' };
const web = { listen: { port: 10_917 }, telemetryPath: '/metrics', enableLifecycle: false, maxRequests: 40 };
const config = { check: false };
const targets = { shard: { index: 1, count: 1 } };
const daemonConfig = { ...config, autoReloadIntervalMs: 0 };
const daemon = { command: 'daemon', config: daemonConfig, web, state: {}, targets, log };
const record = { durationMs: 86_400_000, intervalMs: 60_000 };
const pages = { listen: { host: '127.0.0.1', port: 10_918 }, serve: false };
const simulator = { listen: { host: '127.0.0.1', port: 1_317 }, seed: 1, scenario: 'healthy' };

const parse = (line: string, env: Record<string, string> = {}): Invocation =>
  parseInvocation(line.split(' ').filter(Boolean), env);

describe('parseInvocation', () => {
  test.each([
    ['', daemon],
    ['once', { command: 'once', config, targets, report: {}, log }],
    ['replay --bridge b.json', { command: 'replay', config, recording: { bridgeFile: 'b.json' }, pages, log }],
    ['simulate', { command: 'simulate', simulator, record, log }],
    [
      'demo',
      {
        command: 'demo',
        simulator,
        web: { ...web, listen: { host: '127.0.0.1', port: 10_917 } },
        log: { ...log, format: 'pretty' },
      },
    ],
    ['--version', { command: 'version' }],
    ['once --version', { command: 'version' }],
    ['version', { command: 'version' }],
    ['help', { command: 'help', about: 'daemon' }],
    ['help once', { command: 'help', about: 'once' }],
    ['help --help', { command: 'help', about: 'daemon' }],
  ])('uses the defaults of all flags that are not set: bridge-exporter %s', (line, invocation) => {
    expect(parse(line)).toEqual(invocation);
  });

  test.each([
    ['--config.file=bridge.yaml', { ...daemon, config: { ...daemonConfig, file: 'bridge.yaml' } }],
    ['--config.file bridge.yaml', { ...daemon, config: { ...daemonConfig, file: 'bridge.yaml' } }],
    ['--config.file=a=b.yaml', { ...daemon, config: { ...daemonConfig, file: 'a=b.yaml' } }],
    ['--config.check', { ...daemon, config: { ...daemonConfig, check: true } }],
    ['--config.check=true', { ...daemon, config: { ...daemonConfig, check: true } }],
    ['--config.check=false', daemon],
    ['--no-config.check', daemon],
    ['--config.auto-reload-interval=1m', { ...daemon, config: { ...daemonConfig, autoReloadIntervalMs: 60_000 } }],
    ['--config.auto-reload-interval=0s', daemon],
    ['--web.listen-address=:0', { ...daemon, web: { ...web, listen: { port: 0 } } }],
    ['--web.listen-address localhost:80', { ...daemon, web: { ...web, listen: { host: 'localhost', port: 80 } } }],
    ['--web.listen-address=[::1]:65535', { ...daemon, web: { ...web, listen: { host: '::1', port: 65_535 } } }],
    [
      '--web.telemetry-path=/probe/chain.metrics',
      { ...daemon, web: { ...web, telemetryPath: '/probe/chain.metrics' } },
    ],
    ['--web.max-requests=1', { ...daemon, web: { ...web, maxRequests: 1 } }],
    ['--web.config.file=web.yml', { ...daemon, web: { ...web, configFile: 'web.yml' } }],
    ['--web.enable-lifecycle', { ...daemon, web: { ...web, enableLifecycle: true } }],
    ['--state.file=state.json', { ...daemon, state: { file: 'state.json' } }],
    ['--targets.shard=2/5', { ...daemon, targets: { shard: { index: 2, count: 5 } } }],
    ['--log.level=debug --log.format pretty', { ...daemon, log: { level: 'debug', format: 'pretty' } }],
    [
      'replay --crosschain c.json --bridge=b.json --hub-height 9007199254740993 --config.file x.yaml',
      {
        command: 'replay',
        config: { ...config, file: 'x.yaml' },
        recording: { bridgeFile: 'b.json', crosschainFile: 'c.json', hubHeight: '9007199254740993' },
        pages,
        log,
      },
    ],
    [
      'simulate --listen=:0 --seed=4294967295 --scenario=stuck --block-time 500ms --start-time=1700000000',
      {
        command: 'simulate',
        simulator: {
          listen: { port: 0 },
          seed: 4_294_967_295,
          scenario: 'stuck',
          blockTimeMs: 500,
          startTimeSeconds: 1_700_000_000,
        },
        record,
        log,
      },
    ],
    ['--log.level=warn once', { command: 'once', config, targets, report: {}, log: { ...log, level: 'warn' } }],
  ])('parses flags: bridge-exporter %s', (line, invocation) => {
    expect(parse(line)).toEqual(invocation);
  });
});

describe('the environment variables of flags', () => {
  test('set all flags that have a dot in their name', () => {
    const env = {
      CONFIG_FILE: 'bridge.yaml',
      CONFIG_CHECK: 'true',
      WEB_LISTEN_ADDRESS: '0.0.0.0:1',
      WEB_TELEMETRY_PATH: '/m',
      WEB_CONFIG_FILE: 'web.yml',
      WEB_ENABLE_LIFECYCLE: 'true',
      WEB_MAX_REQUESTS: '7',
      CONFIG_AUTO_RELOAD_INTERVAL: '30s',
      STATE_FILE: 'state.json',
      TARGETS_SHARD: '3/3',
      LOG_LEVEL: 'error',
      LOG_FORMAT: 'pretty',
    };
    expect(parse('', env)).toEqual({
      command: 'daemon',
      config: { file: 'bridge.yaml', check: true, autoReloadIntervalMs: 30_000 },
      web: {
        listen: { host: '0.0.0.0', port: 1 },
        telemetryPath: '/m',
        configFile: 'web.yml',
        enableLifecycle: true,
        maxRequests: 7,
      },
      state: { file: 'state.json' },
      targets: { shard: { index: 3, count: 3 } },
      log: { level: 'error', format: 'pretty' },
    });
  });

  test('are overridden by the flag, even if they are invalid', () => {
    expect(parse('--log.level=debug', { LOG_LEVEL: 'loud' })).toEqual({ ...daemon, log: { ...log, level: 'debug' } });
  });

  test('count as unset if they are empty', () => {
    expect(parse('', { LOG_LEVEL: '', CONFIG_FILE: '', WEB_LISTEN_ADDRESS: '' })).toEqual(daemon);
  });

  test('are ignored if only other commands have the flag', () => {
    expect(parse('simulate', { TARGETS_SHARD: '0/0', SEED: '7', LISTEN: ':1' })).toEqual({
      command: 'simulate',
      simulator,
      record,
      log,
    });
  });
});

describe('a usage error', () => {
  const COMMANDS = `expected one of ${subcommands.join(', ')}, help, version, or no command to run the daemon`;
  const FLAGS_OF_ONCE =
    'expected one of --config.file, --config.check, --targets.shard, --summary, --fail-on, --log.level, --log.format, --help, --version';
  const ADDRESS = 'expected an address such as :10917, 127.0.0.1:10917 or [::1]:10917';
  const PATH =
    'expected a path of letters, digits, dots, - and _ such as /metrics, except /pending, /config and paths under /-/';
  const INVALID_PATHS = [
    '/',
    'metrics',
    '/pending',
    '/Pending',
    '/config',
    '/-/healthy',
    '/metrics/',
    '//a',
    '/a/../b',
    '/a?b',
    '/:id',
  ];

  test.each<[line: string, ...problems: string[]]>([
    ['onec', `onec: unknown command — ${COMMANDS}`],
    ['help onec', `onec: unknown command — ${COMMANDS}`],
    ['https://u:secret@a.example/key', `https://…: unknown command — ${COMMANDS}`],
    ['once replay', 'replay: unexpected argument — expected one command, and flags'],
    ['once --frobnicate', `--frobnicate: unknown flag — ${FLAGS_OF_ONCE}`],
    ['once --bridge=b.json', `--bridge: unknown flag — ${FLAGS_OF_ONCE}`],
    ['--frobnicate once', `--frobnicate: unknown flag — ${FLAGS_OF_ONCE}`],
    ['once -vc x', `-vc: unknown flag — ${FLAGS_OF_ONCE}`],
    ['once --no-config.file', `--no-config.file: unknown flag — ${FLAGS_OF_ONCE}`],
    ['--config.file', '--config.file: has no value — expected --config.file=<file>'],
    ['--config.file --config.check', '--config.file: has no value — expected --config.file=<file>'],
    ['--config.file=', '--config.file: is empty — expected a file name'],
    ['--config.check=yes', '--config.check: "yes" — expected true or false'],
    ['--log.level=info --log.level=debug', '--log.level: is set twice — expected it once'],
    ['--log.level=loud', '--log.level: "loud" — expected one of trace, debug, info, warn, error, fatal, silent'],
    [
      '--config.auto-reload-interval=50ms',
      '--config.auto-reload-interval: "50ms" — expected 0s or a duration from 100ms to 1d, such as 30s, 1m30s or 500ms',
    ],
    ['simulate --seed=-1', '--seed: "-1" — expected an integer from 0 to 4294967295'],
    ['simulate --block-time=2', '--block-time: "2" — expected a duration from 10ms to 1h, such as 30s, 1m30s or 500ms'],
    ['replay', 'replay: nothing to replay — expected --recording DIR, --bridge FILE, --crosschain FILE, or both files'],
    [
      'replay --bridge b.json --hub-height 0x10',
      '--hub-height: "0x10" — expected a positive integer in decimal digits, at most 9223372036854775807',
    ],
    ['--web.listen-address=10917', `--web.listen-address: "10917" has no colon before the port — ${ADDRESS}`],
    ['simulate --listen=:65536', `--listen: ":65536" has a port above 65535 — ${ADDRESS}`],
    ...['a/b:1', 'a', ':', '[::1:1', '[a]:1', '::1:1', 'https://a:1', ':-1'].map((text): [string, string] => [
      `--web.listen-address=${text}`,
      `--web.listen-address: "${text}" — ${ADDRESS}`,
    ]),
    ...INVALID_PATHS.map((text): [string, string] => [
      `--web.telemetry-path=${text}`,
      `--web.telemetry-path: "${text}" — ${PATH}`,
    ]),
    ...['0/1', '2/1', '1', '1/0', '1/10001', '1/2/3', 'a/b', '-1/2'].map((text): [string, string] => [
      `--targets.shard=${text}`,
      `--targets.shard: "${text}" — expected k/n with 1 ≤ k ≤ n ≤ 10000, such as 2/5`,
    ]),
    [
      'once --bridge=x --log.level=loud --config.file --targets.shard=9/1 now',
      '--config.file: has no value — expected --config.file=<file>',
      'now: unexpected argument — expected one command, and flags',
      `--bridge: unknown flag — ${FLAGS_OF_ONCE}`,
      '--targets.shard: "9/1" — expected k/n with 1 ≤ k ≤ n ≤ 10000, such as 2/5',
      '--log.level: "loud" — expected one of trace, debug, info, warn, error, fatal, silent',
    ],
  ])('contains all problems: bridge-exporter %s', (line, ...problems) => {
    expect(parse(line)).toMatchObject({ command: 'usage-error', problems });
  });

  test.each(['onec --logs.level=debug --seed=x', 'help --logs.level=debug', 'version --logs.level=debug --seed=x'])(
    'without a command lists the flags of all commands: bridge-exporter %s',
    (line) => {
      const { problems } = parse(line) as Extract<Invocation, { command: 'usage-error' }>;
      const ofFlags = problems.filter((problem) => problem.includes('unknown flag'));
      expect(ofFlags).toEqual([expect.stringMatching(/^--logs\.level: .* --config\.file, .* --seed, /)]);
    },
  );

  test('refers to the help of its command', () => {
    expect(parse('once --foo')).toMatchObject({ about: 'once' });
    expect(parse('onec')).toMatchObject({ about: 'daemon' });
  });

  test('names the environment variable that is invalid', () => {
    expect(parse('', { WEB_MAX_REQUESTS: 'many' })).toEqual({
      command: 'usage-error',
      about: 'daemon',
      problems: ['WEB_MAX_REQUESTS: "many" — expected an integer from 1 to 10000'],
    });
  });
});
