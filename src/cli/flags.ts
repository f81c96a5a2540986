import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { type Setting, listSettings } from '../config/kit/settings.js';
import * as value from '../config/kit/values.js';

/*
 * Every flag with its default and meaning, in the shape of the settings each command runs with. Help, reference and
 * parsing come from here. A flag with a dot in its name is also an environment variable.
 */

export interface ListenAddress {
  /** Absent means every address of the machine. */
  readonly host?: string;
  readonly port: number;
}

/** `2/5` is index 2 of count 5. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

const file = () =>
  value.kind({ type: 'file', expected: 'the name of a file' }, (text) => value.acceptIf(text !== '', text));

const trueOrFalse = () =>
  value.kind({ type: 'boolean', expected: 'true or false' }, (text) =>
    value.acceptIf(text === 'true' || text === 'false', text === 'true'),
  );

const listenAddress = () =>
  value.kind(
    { type: 'address', expected: 'an address such as :10917, 127.0.0.1:10917 or [::1]:10917' },
    (text): value.ParseResult<ListenAddress> => {
      const { name, v6, colon, port } =
        /^(?:(?<name>[\w.-]+(?=:))|\[(?<v6>[^\]]+)\])?(?<colon>:)?(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
      if (Number(port ?? NaN) > 65_535) return value.reject(`${JSON.stringify(text)} is above the last port, 65535`);
      if (port !== undefined && colon === undefined)
        return value.reject(`${JSON.stringify(text)} lacks the colon before the port`);
      if (port === undefined || (v6 !== undefined && !isIPv6(v6))) return value.reject();
      const host = v6 ?? name;
      return value.accept({ ...(host !== undefined && { host }), port: Number(port) });
    },
  );

// The router matches paths whatever their case, so /Pending would hide the page as well.
const takenPath = /^\/(?:pending$|-\/)/i;

const telemetryPath = () =>
  value.kind(
    {
      type: 'path',
      expected: 'a path such as /metrics, of letters, digits, dots, - and _; not /pending, nothing under /-/',
    },
    (text) => value.acceptIf(/^(?:\/(?!\.+(?:\/|$))[\w.-]+)+$/.test(text) && !takenPath.test(text), text),
  );

const maxShards = 10_000;

const shard = () =>
  value.kind({ type: 'k/n', expected: `k/n with 1 ≤ k ≤ n ≤ ${maxShards}, such as 2/5` }, (text) => {
    const [index = NaN, count = NaN] = /^\d{1,5}\/\d{1,5}$/.test(text) ? text.split('/').map(Number) : [];
    return value.acceptIf<Shard>(index >= 1 && index <= count && count <= maxShards, { index, count });
  });

function flag<Schema extends z.ZodType>(name: `--${string}`, schema: Schema, meaning: string): Schema {
  return schema.meta({ title: name, description: meaning });
}

const configuration = {
  configFile: flag('--config.file', z.exactOptional(file()), 'Configuration file.'),
  checkConfig: flag(
    '--config.check',
    trueOrFalse().prefault('false'),
    'Check the configuration, print what is in effect, and exit.',
  ),
};

const web = z.object({
  listen: flag(
    '--web.listen-address',
    listenAddress().prefault(':10917'),
    'Address to serve on; port 0 takes any free one.',
  ),
  telemetryPath: flag('--web.telemetry-path', telemetryPath().prefault('/metrics'), 'Path of the metrics.'),
  configFile: flag(
    '--web.config.file',
    z.exactOptional(file()),
    'File with TLS, users and headers, in the format of exporter-toolkit.',
  ),
  enableLifecycle: flag(
    '--web.enable-lifecycle',
    trueOrFalse().prefault('false'),
    'Let POST and PUT of /-/reload read the configuration anew; SIGHUP always does.',
  ),
  maxRequests: flag('--web.max-requests', value.integer(1, 10_000).prefault('40'), 'Most requests answered at once.'),
});

const sharding = {
  shard: flag('--targets.shard', shard().prefault('1/1'), 'Part of the targets to poll: 2/5 is the second of five.'),
};

const logLevel = value.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent');

const logFormat = (preset: 'json' | 'pretty') =>
  flag('--log.format', value.oneOf('json', 'pretty').prefault(preset), 'Form of the log; pretty is for terminals.');

const log = z.object({
  level: flag('--log.level', logLevel.prefault('info'), 'Least severe messages to log.'),
  format: logFormat('json'),
});

// People watch it, and nothing collects its lines.
const demoLog = log.extend({ format: logFormat('pretty') });

const maxInt64 = 2n ** 63n - 1n;

const recording = z
  .object({
    bridgeFile: flag('--bridge', z.exactOptional(file()), 'Recorded body of the bridge module state.'),
    crosschainFile: flag('--crosschain', z.exactOptional(file()), 'Recorded body of the rate-limiter input.'),
    hubHeight: flag(
      '--hub-height',
      z.exactOptional(value.positiveDigits(maxInt64, String(maxInt64))),
      'Hub height of the recorded module state.',
    ),
  })
  .superRefine(({ bridgeFile, crosschainFile }, context) => {
    if (bridgeFile === undefined && crosschainFile === undefined) {
      context.addIssue('nothing to replay — expected --bridge FILE, --crosschain FILE, or both');
    }
  });

const simulator = z.object({
  listen: flag('--listen', listenAddress().prefault('127.0.0.1:1317'), 'Address the simulated node serves on.'),
  seed: flag('--seed', value.integer(0, 2 ** 32 - 1).prefault('1'), 'Same seed, same chain.'),
  // The names are the simulator's own to check: it is loaded only when it runs.
  scenario: flag('--scenario', value.label(64).prefault('healthy'), 'What happens on the chain.'),
  blockTimeMs: flag('--block-time', value.duration(10, 3_600_000).prefault('2s'), 'Time from one block to the next.'),
  startTimeSeconds: flag(
    '--start-time',
    z.exactOptional(value.integer(0, 253_402_300_799)),
    'Unix time of the first block, in seconds; without it, now.',
  ),
});

// For one machine: the demo serves on it alone.
const demoWeb = web.extend({
  listen: flag(
    '--web.listen-address',
    listenAddress().prefault('127.0.0.1:10917'),
    'Address to serve on; port 0 takes any free one.',
  ),
});

export const commandFlags = {
  daemon: z.object({ command: z.literal('daemon'), ...configuration, web, ...sharding, log }),
  once: z.object({ command: z.literal('once'), ...configuration, ...sharding, log }),
  replay: z.object({ command: z.literal('replay'), recording, ...configuration, log }),
  simulate: z.object({ command: z.literal('simulate'), simulator, log }),
  demo: z.object({ command: z.literal('demo'), simulator, web: demoWeb, log: demoLog }),
};

export type CommandName = keyof typeof commandFlags;

/** The words that call a command; the daemon is what runs without one. */
export const commandWords = ['once', 'replay', 'simulate', 'demo'] as const satisfies readonly CommandName[];
export const commandNames: readonly CommandName[] = ['daemon', ...commandWords];

export type WebSettings = Readonly<z.output<typeof web>>;
export type LogSettings = Readonly<z.output<typeof log>>;
export type Recording = Readonly<z.output<typeof recording>>;
export type SimulatorSettings = Readonly<z.output<typeof simulator>>;

/** A command with all it needs to know. */
export type Run = Readonly<z.output<(typeof commandFlags)[CommandName]>>;

/** Flags of a command: the settings that have a name on the command line. */
export function flagsOf(command: CommandName): Flag[] {
  return listSettings(commandFlags[command]).flatMap((setting) =>
    setting.title === undefined ? [] : [{ ...setting, name: setting.title }],
  );
}

export interface Flag extends Setting {
  readonly name: string;
}

/** A flag as one would write it: with its default, or with the kind of value it takes. */
export function formatFlag({ name, type, default: preset }: Flag): string {
  return type === 'boolean' ? name : `${name}=${preset ?? `<${type}>`}`;
}

/** `--web.listen-address` is WEB_LISTEN_ADDRESS. */
export function environmentName(flagName: string): string | undefined {
  return flagName.includes('.') ? flagName.slice(2).replaceAll(/[.-]/g, '_').toUpperCase() : undefined;
}
