import { isIPv6 } from 'node:net';
import type { Shard } from '../config/shard.js';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../settings/units.js';
import type { ParseResult, ValueResult, ValueType } from '../settings/value-types.js';
import * as types from '../settings/value-types.js';

/*
 * Every flag with its type, default and description. Parsing, help and reference are derived from this table. A flag with
 * a dot in its name can also be set by an environment variable.
 */

export interface Flag<T = unknown> {
  readonly name: string;
  readonly type: string;
  readonly default?: string;
  readonly description: string;
  /** `undefined` if the flag is not set. */
  readonly parse: (text: string | undefined) => ValueResult<T>;
}

function flag<T>(name: string, type: ValueType<T>, defaultText: string, description: string): Flag<T> {
  return { name, type: type.name, default: defaultText, description, parse: (text = defaultText) => type.parse(text) };
}

function optionalFlag<T>(name: string, type: ValueType<T>, description: string): Flag<T | undefined> {
  const parse = (text: string | undefined) => (text === undefined ? types.accept(text) : type.parse(text));
  return { name, type: type.name, description, parse };
}

export interface ListenAddress {
  /** If absent, all addresses of the machine. */
  readonly host?: string;
  readonly port: number;
}

const listenAddress = types.valueType(
  'address',
  'an address such as :10917, 127.0.0.1:10917 or [::1]:10917',
  (text): ParseResult<ListenAddress> => {
    const { name, v6, colon, port } =
      /^(?:(?<name>[\w.-]+(?=:))|\[(?<v6>[^\]]+)\])?(?<colon>:)?(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
    if (port === undefined || (v6 !== undefined && !isIPv6(v6))) return types.reject();
    if (Number(port) > 65_535) return types.reject(`${JSON.stringify(text)} has a port above 65535`);
    if (colon === undefined) return types.reject(`${JSON.stringify(text)} has no colon before the port`);
    const host = v6 ?? name;
    return types.accept({ ...(host !== undefined && { host }), port: Number(port) });
  },
);

// Express matches paths case-insensitively.
const reservedPath = /^\/(?:(?:pending|config)$|-\/)/i;

const telemetryPath = types.valueType(
  'path',
  'a path of letters, digits, dots, - and _ such as /metrics, except /pending, /config and paths under /-/',
  (text) => types.acceptIf(/^(?:\/(?!\.+(?:\/|$))[\w.-]+)+$/.test(text) && !reservedPath.test(text), text),
);

const maxShards = 10_000;

const shard = types.valueType('k/n', `k/n with 1 ≤ k ≤ n ≤ ${maxShards}, such as 2/5`, (text) => {
  const [index = NaN, count = NaN] = /^\d{1,5}\/\d{1,5}$/.test(text) ? text.split('/').map(Number) : [];
  return types.acceptIf<Shard>(index >= 1 && index <= count && count <= maxShards, { index, count });
});

/** In milliseconds since 1970. Without an offset in UTC. */
const time = types.valueType(
  'time',
  'a time such as 2026-11-23 or 2026-11-23T07:35:00Z',
  (text): ParseResult<number> => {
    if (!/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)?)?$/.test(text))
      return types.reject();
    const isUtc = text.length === 10 || /(?:Z|[+-]\d\d:\d\d)$/.test(text);
    const ms = Date.parse(isUtc ? text : `${text}Z`);
    return types.acceptIf(!Number.isNaN(ms), ms);
  },
);

const config = {
  file: optionalFlag('--config.file', types.fileName, 'Configuration file.'),
  check: flag(
    '--config.check',
    types.booleanFlag,
    'false',
    'Check the configuration, print it with all defaults, and exit.',
  ),
};

const reload = {
  // As the intervals of polls, at most a day: timers are limited to 2^31 ms.
  autoReloadIntervalMs: flag(
    '--config.auto-reload-interval',
    types.optionalDuration(100, DAY_MS),
    '0s',
    'Interval for comparing the content of the configuration files and reloading them after a change; 0s to disable.',
  ),
};

const webListenAddress = (defaultAddress: string) =>
  flag('--web.listen-address', listenAddress, defaultAddress, 'Address to listen on; port 0 selects a free port.');

const web = {
  listen: webListenAddress(':10917'),
  telemetryPath: flag('--web.telemetry-path', telemetryPath, '/metrics', 'Path of the metrics.'),
  configFile: optionalFlag(
    '--web.config.file',
    types.fileName,
    'File with TLS, users and headers, in the format of exporter-toolkit.',
  ),
  enableLifecycle: flag(
    '--web.enable-lifecycle',
    types.booleanFlag,
    'false',
    'Enable reloading by POST or PUT to /-/reload; the daemon always reloads after SIGHUP.',
  ),
  maxRequests: flag('--web.max-requests', types.integer(1, 10_000), '40', 'Maximum number of concurrent requests.'),
};

const state = {
  file: optionalFlag(
    '--state.file',
    types.fileName,
    'File with what is remembered between polls, so that it survives a restart.',
  ),
};

const targets = {
  shard: flag('--targets.shard', shard, '1/1', 'Shard of the targets to poll: 2/5 is the second of five.'),
};

const logFormat = (defaultFormat: 'json' | 'pretty') =>
  flag('--log.format', types.oneOf('json', 'pretty'), defaultFormat, 'Log format; pretty is for terminals.');

const log = {
  level: flag(
    '--log.level',
    types.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'info',
    'Minimum log level.',
  ),
  format: logFormat('json'),
};

const maxInt64 = 2n ** 63n - 1n;

/** The file name that stands for standard input. */
export const STANDARD_INPUT = '-';

const recording = {
  bridgeFile: optionalFlag(
    '--bridge',
    types.fileName,
    'Recorded response body of the bridge module state; - is standard input.',
  ),
  crosschainFile: optionalFlag(
    '--crosschain',
    types.fileName,
    'Recorded response body of the rate limiter input; - is standard input.',
  ),
  hubHeight: optionalFlag(
    '--hub-height',
    types.positiveDigits(maxInt64, String(maxInt64)),
    'Hub height of the recorded module state.',
  ),
  directory: optionalFlag('--recording', types.fileName, 'Directory of a recording.'),
  fromMs: optionalFlag('--from', time, 'Beginning of the replayed time, such as 2026-11-23 or 2026-11-23T07:35:00Z.'),
  toMs: optionalFlag('--to', time, 'End of the replayed time.'),
  target: optionalFlag('--target', types.label(128), 'Only the target of this name.'),
};

const pages = {
  serve: flag(
    '--serve',
    types.booleanFlag,
    'false',
    'Serve the pages as of a recorded time, instead of printing metrics.',
  ),
  atMs: optionalFlag('--at', time, 'Time of the served pages, such as 2026-11-23T03:12:00Z.'),
  listen: flag(
    '--listen',
    listenAddress,
    '127.0.0.1:10918',
    'Address for --serve to listen on; port 0 selects a free port.',
  ),
};

const report = {
  summary: optionalFlag(
    '--summary',
    types.booleanFlag,
    'Print what is wrong on standard error; the default on a terminal.',
  ),
  failOn: optionalFlag(
    '--fail-on',
    types.oneOf('warning', 'critical'),
    'Exit with 3 if something is wrong with this severity or a higher one.',
  ),
};

const simulator = {
  listen: flag('--listen', listenAddress, '127.0.0.1:1317', 'Address the simulated node listens on.'),
  seed: flag(
    '--seed',
    types.integer(0, 2 ** 32 - 1),
    '1',
    'Seed of the simulation; the same seed gives the same chain.',
  ),
  // The simulator checks the name, because it is loaded only by commands that use it.
  scenario: flag('--scenario', types.label(64), 'healthy', 'Scenario to simulate.'),
  blockTimeMs: optionalFlag(
    '--block-time',
    types.duration(10, HOUR_MS),
    'Time between blocks; by default 630ms in the scenario mainnet and 2s in the others.',
  ),
  startTimeSeconds: optionalFlag(
    '--start-time',
    types.integer(0, 253_402_300_799),
    'Unix time of the first block in seconds; by default the current time.',
  ),
};

const record = {
  directory: optionalFlag('--record', types.fileName, 'Record the chain in this directory instead of serving it.'),
  durationMs: flag('--duration', types.duration(SECOND_MS, 400 * DAY_MS), '1d', 'Simulated time to record.'),
  intervalMs: flag('--interval', types.duration(SECOND_MS, DAY_MS), '1m', 'Simulated time between two recorded polls.'),
};

/** The flags of each command, in groups. */
export const commandFlags = {
  daemon: { config: { ...config, ...reload }, web, state, targets, log },
  once: { config, targets, report, log },
  replay: { recording, pages, config, log },
  simulate: { simulator, record, log },
  healthcheck: { web },
  // The demo is for a terminal on the local machine.
  demo: {
    simulator,
    web: { ...web, listen: webListenAddress('127.0.0.1:10917') },
    log: { ...log, format: logFormat('pretty') },
  },
};

export type CommandName = keyof typeof commandFlags;

/** Every command but the daemon, which runs without a subcommand. */
export const subcommands = [
  'once',
  'replay',
  'simulate',
  'demo',
  'healthcheck',
] as const satisfies readonly CommandName[];
/** Commands that only print something: `help once` is `once --help`, `version` is `--version`. */
export const informationCommands = ['help', 'version'] as const;
export const commandNames: readonly CommandName[] = ['daemon', ...subcommands];

type Settings<Flags> = { readonly [Key in keyof Flags]: Flags[Key] extends Flag<infer T> ? T : never };
type CommandSettings<Groups> = { readonly [Group in keyof Groups]: Settings<Groups[Group]> };

/** A command and the parsed values of its flags, in the same groups. */
export type CommandInvocation = {
  [Command in CommandName]: { readonly command: Command } & CommandSettings<(typeof commandFlags)[Command]>;
}[CommandName];

export type InvocationOf<Command extends CommandName> = Extract<CommandInvocation, { command: Command }>;

export type ConfigSettings = Settings<typeof config>;
export type WebSettings = Settings<typeof web>;
export type LogSettings = Settings<typeof log>;
export type ReportSettings = Settings<typeof report>;
export type SimulatorSettings = Settings<typeof simulator>;

export function flagsOf(command: CommandName): Flag[] {
  return Object.values(commandFlags[command]).flatMap((group) => Object.values<Flag>(group));
}

/** `--name=default`, or `--name=<type>` for a flag without a default. */
export function formatFlag({ name, type, default: defaultText }: Flag): string {
  return type === 'boolean' ? name : `${name}=${defaultText ?? `<${type}>`}`;
}

/** `WEB_LISTEN_ADDRESS` for `--web.listen-address`. */
export function environmentName(flagName: string): string | undefined {
  return flagName.includes('.') ? flagName.slice(2).replaceAll(/[.-]/g, '_').toUpperCase() : undefined;
}
