import { InvalidArgumentError, Option } from 'commander';
import { isIPv6 } from 'node:net';
import { LAST_SECONDS } from '../clock.js';
import type { Shard } from '../config/shard.js';
import type { ListenAddress } from '../server/server.js';
import { DAY_MS, HOUR_MS, SECOND_MS, formatDuration, parseDuration } from '../units.js';

/*
 * The flags in groups, each with the types of its values. Commander names the value of `--web.listen-address` `web.listenAddress`. A flag
 * with a dot in its name is also an environment variable.
 */

/** `parse` throws an `InvalidArgumentError`. The help shows the text of the default. */
function flag(flags: string, description: string, parse: (text: string) => unknown, defaultText?: string): Option {
  const option = new Option(flags, description).argParser(parse);
  if (option.name().includes('.')) option.env(option.name().replaceAll(/[.-]/g, '_').toUpperCase());
  return defaultText === undefined ? option : option.default(parse(defaultText), defaultText);
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

const oneOf = (names: readonly string[]) => (text: string) =>
  names.includes(text) ? text : expected(`one of ${names.join(', ')}`);

/** Parses a time, in milliseconds since 1970; in UTC without an offset. */
function time(text: string): number {
  const [, date, clock = 'T00:00', offset = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ?? [];
  const ms = Date.parse(`${date}${clock}${offset}`);
  return Number.isNaN(ms) ? expected('a time such as 2026-11-23 or 2026-11-23T07:35:00Z') : ms;
}

const MAX_INT64 = 2n ** 63n - 1n;

/** Digits, because it may be above 2^53. */
const height = (text: string): string =>
  /^[1-9]\d{0,18}$/.test(text) && BigInt(text) <= MAX_INT64 ? text : expected(`an integer from 1 to ${MAX_INT64}`);

export interface ConfigFlags {
  readonly 'config.file'?: string;
  readonly 'config.check': boolean;
}

const configFlags = () => [
  flag('--config.file <file>', 'Configuration file.', fileName),
  flag('--config.check [boolean]', 'Check the configuration, print it with all defaults, and exit.', boolean, 'false'),
];

export interface ShardFlag {
  readonly 'targets.shard': Shard;
}

const shardFlag = () =>
  flag('--targets.shard <k/n>', 'Shard of the targets to poll: 2/5 is the second of five.', shard, '1/1');

export interface WebFlags {
  readonly 'web.listenAddress': ListenAddress;
  readonly 'web.telemetryPath': string;
  readonly 'web.config.file'?: string;
  readonly 'web.enableLifecycle': boolean;
  readonly 'web.maxRequests': number;
}

export const webFlags = (defaultAddress = ':10917') => [
  flag(
    '--web.listen-address <address>',
    'Address to listen on; port 0 selects a free port.',
    listenAddress,
    defaultAddress,
  ),
  flag('--web.telemetry-path <path>', 'Path of the metrics.', telemetryPath, '/metrics'),
  flag('--web.config.file <file>', 'File with TLS, users and headers, in the format of exporter-toolkit.', fileName),
  flag(
    '--web.enable-lifecycle [boolean]',
    'Enable reloading by POST or PUT to /-/reload; the daemon always reloads after SIGHUP.',
    boolean,
    'false',
  ),
  flag('--web.max-requests <integer>', 'Maximum number of concurrent requests.', integer(1, 10_000), '40'),
];

export interface LogFlags {
  readonly 'log.level': (typeof logLevels)[number];
  readonly 'log.format': 'json' | 'pretty';
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const logFlags = (defaultFormat: LogFlags['log.format'] = 'json') => [
  flag('--log.level <level>', 'Minimum log level.', String, 'info').choices(logLevels),
  flag('--log.format <format>', 'Log format; pretty is for terminals.', String, defaultFormat).choices([
    'json',
    'pretty',
  ]),
];

export interface DaemonFlags extends ConfigFlags, WebFlags, ShardFlag, LogFlags {
  readonly 'config.autoReloadInterval': number;
  readonly 'state.file'?: string;
}

export const daemonFlags = () => [
  ...configFlags(),
  flag(
    '--config.auto-reload-interval <duration>',
    'Interval for comparing the content of the configuration files and reloading them after a change; 0s to disable.',
    reloadInterval,
    '0s',
  ),
  ...webFlags(),
  flag('--state.file <file>', 'File with what is remembered between polls, so that it survives a restart.', fileName),
  shardFlag(),
  ...logFlags(),
];

export interface OnceFlags extends ConfigFlags, ShardFlag, LogFlags {
  /** By default, a summary is printed on a terminal. */
  readonly summary?: boolean;
  readonly failOn?: 'warning' | 'critical';
}

export const onceFlags = () => [
  ...configFlags(),
  shardFlag(),
  flag('--summary [boolean]', 'Print what is wrong on standard error; the default on a terminal.', boolean),
  flag('--fail-on <severity>', 'Exit with 3 if something is wrong with this severity or a higher one.', String).choices(
    ['warning', 'critical'],
  ),
  ...logFlags(),
];

interface RecordingFlags extends ConfigFlags, LogFlags {
  readonly recording?: string;
  readonly from?: number;
  readonly to?: number;
}

const recordingFlags = () => [
  flag('--recording <directory>', 'Directory of a recording.', fileName),
  flag('--from <time>', 'Beginning of the replayed time, such as 2026-11-23 or 2026-11-23T07:35:00Z.', time),
  flag('--to <time>', 'End of the replayed time.', time),
];

export interface BacktestFlags extends RecordingFlags {
  readonly format: 'table' | 'json';
}

export const backtestFlags = () => [
  ...recordingFlags(),
  flag('--format <format>', 'Format of the alerts.', String, 'table').choices(['table', 'json']),
  ...configFlags(),
  ...logFlags(),
];

/** The file name that stands for standard input. */
export const STANDARD_INPUT = '-';

/** Recorded response bodies, or a recording. */
export interface ReplayFlags extends RecordingFlags {
  readonly bridge?: string;
  readonly crosschain?: string;
  readonly hubHeight?: string;
  readonly target?: string;
  readonly serve: boolean;
  readonly at?: number;
  readonly listen: ListenAddress;
}

export const replayFlags = () => [
  flag('--bridge <file>', 'Recorded response body of the bridge module state; - is standard input.', fileName),
  flag('--crosschain <file>', 'Recorded response body of the rate limiter input; - is standard input.', fileName),
  flag('--hub-height <integer>', 'Hub height of the recorded module state.', height),
  ...recordingFlags(),
  flag('--target <name>', 'Only the target of this name.', String),
  flag('--serve [boolean]', 'Serve the pages as of a recorded time, instead of printing metrics.', boolean, 'false'),
  flag('--at <time>', 'Time of the served pages, such as 2026-11-23T03:12:00Z.', time),
  flag(
    '--listen <address>',
    'Address for --serve to listen on; port 0 selects a free port.',
    listenAddress,
    '127.0.0.1:10918',
  ),
  ...configFlags(),
  ...logFlags(),
];

/** The type of scenarios is a parameter, because the command line loads the simulator only for its commands. */
export interface SimulatorFlags<Scenario> extends LogFlags {
  readonly listen: ListenAddress;
  readonly seed: number;
  readonly scenario: Scenario;
  readonly blockTime?: number;
  readonly startTime?: number;
}

const simulatorFlags = (scenarios: readonly string[]) => [
  flag('--listen <address>', 'Address the simulated node listens on.', listenAddress, '127.0.0.1:1317'),
  flag('--seed <integer>', 'Seed of the simulation; the same seed gives the same chain.', integer(0, 2 ** 32 - 1), '1'),
  flag('--scenario <name>', 'Scenario to simulate.', oneOf(scenarios)).default('healthy', 'healthy'),
  flag(
    '--block-time <duration>',
    'Time between blocks; by default 630ms in the scenario mainnet and 2s in the others.',
    duration(10, HOUR_MS),
  ),
  flag(
    '--start-time <integer>',
    'Unix time of the first block in seconds; by default the current time.',
    integer(0, LAST_SECONDS),
  ),
];

export interface SimulateFlags<Scenario> extends SimulatorFlags<Scenario> {
  readonly record?: string;
  readonly duration: number;
  readonly interval: number;
}

export const simulateFlags = (scenarios: readonly string[]) => [
  ...simulatorFlags(scenarios),
  flag('--record <directory>', 'Record the chain in this directory instead of serving it.', fileName),
  flag('--duration <duration>', 'Simulated time to record.', duration(SECOND_MS, 400 * DAY_MS), '1d'),
  flag('--interval <duration>', 'Simulated time between two recorded polls.', duration(SECOND_MS, DAY_MS), '1m'),
  ...logFlags(),
];

export interface DemoFlags<Scenario> extends SimulatorFlags<Scenario>, WebFlags {}

/** The demo is for a terminal on the local machine. */
export const demoFlags = (scenarios: readonly string[]) => [
  ...simulatorFlags(scenarios),
  ...webFlags('127.0.0.1:10917'),
  ...logFlags('pretty'),
];
