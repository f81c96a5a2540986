import { InvalidArgumentError, Option } from 'commander';
import { isIPv6 } from 'node:net';
import { LAST_SECONDS } from '../clock.js';
import type { Shard } from '../config/config.js';
import type { Result } from '../config/text-files.js';
import type { ListenAddress } from '../server/server.js';
import { scenarioNames } from '../simulator/scenarios.js';
import { DAY_MS, HOUR_MS, formatDuration, parseDuration } from '../units.js';
import type { ExporterOptions } from './exporter.js';

/*
 * The flags in groups, by the names that Commander gives to their values: `web.listenAddress` for
 * `--web.listen-address`. A flag with a dot in its name is also an environment variable.
 */

/** A flag with the type of its values. */
type Flag<Value> = Option & { readonly value?: Value };

/** The values of a group of flags. */
export type Values<Flags> = { readonly [Name in keyof Flags]: Flags[Name] extends Flag<infer Value> ? Value : never };

/** The values of a flag: all of a list, or what a function makes of a text. It throws an `InvalidArgumentError`. */
type Parser<Value> = readonly Value[] | ((text: string) => Value);

/** The help shows the text of the default. */
function flag<Value>(flags: string, description: string, parser: Parser<Value>, defaultText: string): Flag<Value>;
function flag<Value>(flags: string, description: string, parser: Parser<Value>): Flag<Value | undefined>;
function flag(flags: string, description: string, parser: Parser<unknown>, defaultText?: string): Option {
  const option = new Option(flags, description);
  if (typeof parser === 'function') option.argParser(parser);
  else option.choices(parser.map(String));
  if (option.name().includes('.')) option.env(option.name().replaceAll(/[.-]/g, '_').toUpperCase());
  if (defaultText === undefined) return option;
  return option.default(typeof parser === 'function' ? parser(defaultText) : defaultText, defaultText);
}

function expected(description: string): never {
  throw new InvalidArgumentError(`Expected ${description}.`);
}

const boolean = (text: string): boolean =>
  text === 'true' || text === 'false' ? text === 'true' : expected('true or false');

/** Rejects the next flag, which Commander uses as the value of a flag without a value. */
const fileName = (text: string): string => (text === '' || text.startsWith('--') ? expected('a file name') : text);

const integer = (smallest: number, largest: number) => (text: string) =>
  /^\d{1,15}$/.test(text) && Number(text) >= smallest && Number(text) <= largest
    ? Number(text)
    : expected(`an integer from ${smallest} to ${largest}`);

/** Parses a duration, in milliseconds. */
const duration = (smallest: number, largest: number) => (text: string) => {
  const ms = parseDuration(text) ?? NaN;
  const range = `from ${formatDuration(smallest)} to ${formatDuration(largest)}`;
  return ms >= smallest && ms <= largest ? ms : expected(`a duration ${range}, such as 30s, 1m30s or 500ms`);
};

/** Parses an interval of at most a day, as for polls: timers are limited to 2^31 ms. */
const reloadInterval = (text: string): number => (parseDuration(text) === 0 ? 0 : duration(100, DAY_MS)(text));

function listenAddress(text: string): ListenAddress {
  const { name, v6, port } = /^(?:(?<name>[\w.-]+)|\[(?<v6>[^\]]+)\])?:(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  if (port === undefined || Number(port) > 65_535 || (v6 !== undefined && !isIPv6(v6)))
    return expected('an address such as :10917, 127.0.0.1:10917 or [::1]:10917, with a port up to 65535');
  const host = v6 ?? name;
  return { ...(host !== undefined && { host }), port: Number(port) };
}

/** Express matches paths case-insensitively. */
const telemetryPath = (text: string): string =>
  /^(?:\/(?!\.+(?:\/|$))[\w.-]+)+$/.test(text) && !/^\/(?:(?:pending|config)$|-\/)/i.test(text)
    ? text
    : expected(
        'a path of letters, digits, dots, - and _ such as /metrics, except /pending, /config and paths under /-/',
      );

const MAX_SHARDS = 10_000;

function shard(text: string): Shard {
  const [index = NaN, count = NaN] = /^\d{1,5}\/\d{1,5}$/.test(text) ? text.split('/').map(Number) : [];
  if (index >= 1 && index <= count && count <= MAX_SHARDS) return { index, count };
  return expected(`k/n with 1 ≤ k ≤ n ≤ ${MAX_SHARDS}, such as 2/5`);
}

/** Parses a time, in milliseconds since 1970; in UTC without an offset. */
function time(text: string): number {
  const [, date, clock = 'T00:00', offset = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  const ms = Date.parse(`${date}${clock}${offset}`);
  return Number.isNaN(ms) ? expected('a time such as 2026-11-23 or 2026-11-23T07:35:00Z') : ms;
}

const configFlags = { 'config.file': flag('--config.file <file>', 'Configuration file.', fileName) };

const shardFlag = {
  'targets.shard': flag('--targets.shard <k/n>', 'Shard to poll: 2/5 is the second of 5.', shard, '1/1'),
};

const listenFlagAt = (defaultAddress: string) => ({
  'web.listenAddress': flag(
    '--web.listen-address <address>',
    'Address to listen on; port 0 selects a free port.',
    listenAddress,
    defaultAddress,
  ),
});

export const webFlags = {
  ...listenFlagAt(':10917'),
  'web.telemetryPath': flag('--web.telemetry-path <path>', 'Path of the metrics.', telemetryPath, '/metrics'),
  'web.config.file': flag('--web.config.file <file>', 'File with TLS, users and headers.', fileName),
  'web.enableLifecycle': flag('--web.enable-lifecycle [boolean]', 'Reload after POST /-/reload.', boolean, 'false'),
  'web.maxRequests': flag(
    '--web.max-requests <integer>',
    'Maximum number of concurrent requests.',
    integer(1, 10_000),
    '40',
  ),
};

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const FORMATS = ['json', 'pretty'] as const;

const logFlagsWith = (defaultFormat: (typeof FORMATS)[number]) => ({
  'log.level': flag('--log.level <level>', 'Minimum log level.', LEVELS, 'info'),
  'log.format': flag('--log.format <format>', 'Log format; pretty is for terminals.', FORMATS, defaultFormat),
});

export const daemonFlags = {
  ...configFlags,
  'config.check': flag('--config.check [boolean]', 'Print the checked configuration.', boolean, 'false'),
  'config.autoReloadInterval': flag(
    '--config.auto-reload-interval <duration>',
    'Interval of the check for changed files; 0s: off.',
    reloadInterval,
    '0s',
  ),
  ...webFlags,
  'state.file': flag('--state.file <file>', 'File of the memory across restarts.', fileName),
  ...shardFlag,
  ...logFlagsWith('json'),
};

const SEVERITIES = ['warning', 'critical'] as const;

export const onceFlags = {
  ...configFlags,
  ...shardFlag,
  summary: flag(
    '--summary [boolean]',
    'Print the present problems on standard error; the default on a terminal.',
    boolean,
  ),
  failOn: flag(
    '--fail-on <severity>',
    'Exit with code 3 if a problem of this severity or a higher one fires.',
    SEVERITIES,
  ),
};

const rangeFlags = {
  from: flag('--from <time>', 'Beginning of the replayed time, such as 2026-11-23 or 2026-11-23T07:35:00Z.', time),
  to: flag('--to <time>', 'End of the replayed time.', time),
};

const RECORDING = ['--recording <directory>', 'Directory of a recording.'] as const;
const TABLE_FORMATS = ['table', 'json'] as const;

export const backtestFlags = {
  recording: flag(...RECORDING, fileName).makeOptionMandatory() as Flag<string>,
  ...rangeFlags,
  format: flag('--format <format>', 'Format of the alerts.', TABLE_FORMATS, 'table'),
  ...configFlags,
};

/** The file name that stands for standard input. */
export const STANDARD_INPUT = '-';

/** Recorded response bodies, or a recording. */
export const replayFlags = {
  bridge: flag('--bridge <file>', 'Recorded response body of the bridge module state; - is standard input.', fileName),
  crosschain: flag(
    '--crosschain <file>',
    'Recorded response body of the rate limiter input; - is standard input.',
    fileName,
  ),
  hubHeight: flag('--hub-height <integer>', 'Hub height of the recorded module state.', integer(1, 1e15 - 1)),
  recording: flag(...RECORDING, fileName).conflicts(['bridge', 'crosschain', 'hubHeight']),
  ...rangeFlags,
  target: flag('--target <name>', 'Only the target of this name.', String),
  ...configFlags,
};

const simulatorFlags = {
  listen: flag('--listen <address>', 'Address the simulated node listens on.', listenAddress, '127.0.0.1:1317'),
  seed: flag(
    '--seed <integer>',
    'Seed of the simulation; the same seed gives the same chain.',
    integer(0, 2 ** 32 - 1),
    '1',
  ),
  scenario: flag('--scenario <name>', 'Scenario to simulate, of those below.', scenarioNames, 'healthy'),
};

export const simulateFlags = {
  ...simulatorFlags,
  blockTime: flag(
    '--block-time <duration>',
    'Time between blocks; by default 630ms in the scenario mainnet and 2s in the others.',
    duration(10, HOUR_MS),
  ),
  startTime: flag(
    '--start-time <integer>',
    'Unix time of the first block; by default now. Within the last day, the blocks until now are simulated at the start.',
    integer(0, LAST_SECONDS),
  ),
  dialect: flag(
    '--dialect <name>',
    'Paths, field names and claims of the node: peggy for Injective, zeta for ZetaChain.',
    ['neutral', 'peggy', 'zeta'] as const,
    'neutral',
  ),
  nodes: flag(
    '--nodes <integer>',
    'Number of nodes of the chain, at successive ports from --listen on. `POST /-/fault/NAME` makes a node fail.',
    integer(1, 10),
    '1',
  ),
};

/** The demo is for a terminal on the local machine. */
export const demoFlags = {
  ...simulatorFlags,
  ...listenFlagAt('127.0.0.1:10917'),
  ...logFlagsWith('pretty'),
};

export type ConfigFlags = Values<typeof configFlags>;
export type ShardFlag = Values<typeof shardFlag>;
export type WebFlags = Values<typeof webFlags>;
export type LogFlags = Values<ReturnType<typeof logFlagsWith>>;
export type DaemonFlags = Values<typeof daemonFlags>;
export type OnceFlags = Values<typeof onceFlags>;
export type BacktestFlags = Values<typeof backtestFlags>;
export type ReplayFlags = Values<typeof replayFlags>;
export type SimulateFlags = Values<typeof simulateFlags>;
export type SimulatorFlags = Values<typeof simulatorFlags>;
export type DemoFlags = Values<typeof demoFlags>;

type ServeOptions = Pick<ExporterOptions, 'listen' | 'telemetryPath' | 'enableLifecycle' | 'maxRequests' | 'webConfig'>;

/** The web flags with the content of `--web.config.file`. It loads nothing else: the health check runs every 30 s. */
export async function readWebOptions(options: WebFlags): Promise<Result<{ readonly options: ServeOptions }>> {
  const serve = {
    listen: options['web.listenAddress'],
    telemetryPath: options['web.telemetryPath'],
    enableLifecycle: options['web.enableLifecycle'],
    maxRequests: options['web.maxRequests'],
  };
  const path = options['web.config.file'];
  if (path === undefined) return { ok: true, options: serve };
  const { loadWebConfig } = await import('../server/web-config.js');
  const loaded = await loadWebConfig(path);
  return loaded.ok ? { ok: true, options: { ...serve, webConfig: { path, config: loaded.config } } } : loaded;
}
