import { Command, CommanderError, Help, InvalidArgumentError, type Option } from 'commander';
import {
  backtestFlags,
  type BacktestFlags,
  daemonFlags,
  type DaemonFlags,
  demoFlags,
  onceFlags,
  replayFlags,
  type ReplayFlags,
  simulateFlags,
  STANDARD_INPUT,
  webFlags,
} from './flags.js';
import type { CommandContext, ExitCode } from './context.js';
import { HELP_WIDTH, helpText, loadHelpTables, type HelpContent, type HelpTables } from './help-text.js';

/* The command line: the commands with their flags and help. */

interface CommandDefinition extends HelpContent {
  readonly description: string;
  /** Defaults to `[flags]`. */
  readonly usage?: string;
  readonly options: readonly Option[];
  /** Returns a problem of the flags together. */
  readonly check?: (command: Command) => string | undefined;
  /** Whether the command runs until it is stopped; false by default. */
  readonly isServer?: (options: never) => boolean;
  /** Imports a command when it runs, because loading the modules of the daemon takes several times as long as starting Node.js. */
  readonly load: () => Promise<(options: never, context: CommandContext) => Promise<ExitCode>>;
}

const exitCodesOfServer = {
  0: 'Stopped by SIGTERM or SIGINT.',
  1: 'Runtime failure, such as an address in use, or a log that cannot be written.',
};

/** The commands by name. The daemon runs without a name. */
const definitions = (scenarios: readonly string[]): Readonly<Record<string, CommandDefinition>> => ({
  daemon: {
    description: 'Polls the bridge state of chain nodes and exports it to Prometheus.',
    examples: `
      # try the exporter with a simulated node
      bridge-exporter demo
      # poll one node, then open http://localhost:10917/
      BRIDGE_URL=https://node.example.org bridge-exporter
      # poll the targets of a configuration file
      bridge-exporter --config.file=bridge.yaml
      # check a configuration file
      bridge-exporter --config.file=bridge.yaml --config.check
      # poll the second of five shards of the targets
      bridge-exporter --config.file=bridge.yaml --targets.shard=2/5`,
    exitCodes: exitCodesOfServer,
    options: daemonFlags(),
    isServer: (options: DaemonFlags) => !options['config.check'],
    load: async () => (await import('./daemon.js')).runDaemon,
  },
  once: {
    description: 'Polls every endpoint once and prints the metrics; exits with 1 if a poll fails.',
    examples: `
      # test a node
      BRIDGE_URL=https://node.example.org bridge-exporter once
      # test a configuration file
      bridge-exporter once --config.file=bridge.yaml
      # use the metrics in a script
      bridge-exporter once --config.file=bridge.yaml > metrics.txt || echo failed
      # check a bridge in a script
      bridge-exporter once --fail-on=critical > /dev/null`,
    exitCodes: {
      0: 'All polls succeeded.',
      1: 'A poll failed. The metrics of the others are printed, the reasons are on standard error.',
      3: 'One poll proves that something is wrong with the severity of --fail-on, or a higher one.',
    },
    options: onceFlags(),
    load: async () => (await import('./once.js')).runOnce,
  },
  replay: {
    description: 'Prints the metrics of a recording, or of recorded response bodies, without network access.',
    usage: '[--recording DIR | --bridge FILE --crosschain FILE] [flags]',
    examples: `
      # print the metrics of a recording over time, as OpenMetrics with timestamps
      bridge-exporter replay --recording /var/lib/bridge-exporter --from 2026-11-23 > metrics.txt
      # serve the status page and the pending page as they were then
      bridge-exporter replay --recording /var/lib/bridge-exporter --serve --at 2026-11-23T03:12:00Z
      # make blocks of them that Prometheus can query
      promtool tsdb create-blocks-from openmetrics metrics.txt data
      # record a module state of Injective
      curl -o state.json https://node.example.org/peggy/v1/module_state
      # print its metrics as of a hub height
      bridge-exporter replay --bridge state.json --hub-height 8214702
      # read a module state from standard input
      curl https://node.example.org/peggy/v1/module_state | bridge-exporter replay --bridge -
      # use the settings of the first target of a configuration file
      bridge-exporter replay --crosschain input.json --config.file=bridge.yaml`,
    exitCodes: {
      0: 'All documents are valid; with --serve, stopped by SIGTERM or SIGINT.',
      1: 'A document is invalid, or a file cannot be read. The metrics of the others are printed, the reasons are on standard error.',
    },
    options: replayFlags(),
    check: replayProblem,
    isServer: ({ serve }: ReplayFlags) => serve,
    load: async () => (await import('./replay.js')).runReplay,
  },
  backtest: {
    description: 'Prints which alerts would have fired in a recording, when, for how long and how often a week.',
    usage: '--recording DIR [flags]',
    examples: `
      # the alerts of a recording
      bridge-exporter backtest --recording /var/lib/bridge-exporter
      # those of a week, with the limits of a configuration file
      bridge-exporter backtest --recording DIR --from 2026-11-23 --to 2026-11-30 --config.file=b.yaml`,
    exitCodes: {
      0: 'The recording was judged, whatever has fired.',
      1: 'A file cannot be read, or there is no recorded poll. The reasons are on standard error.',
    },
    options: backtestFlags(),
    check: (command) =>
      command.opts<BacktestFlags>().recording === undefined ? 'nothing to judge: expected --recording DIR' : undefined,
    load: async () => (await import('./backtest.js')).runBacktest,
  },
  simulate: {
    description: 'Serves a simulated chain for the exporter to poll.',
    examples: `
      # a healthy chain on 127.0.0.1:1317
      bridge-exporter simulate
      # a growing backlog, at four times the speed
      bridge-exporter simulate --scenario=backlog --block-time=500ms
      # poll it from another terminal
      BRIDGE_URL=http://127.0.0.1:1317 bridge-exporter
      # record a week in minutes
      bridge-exporter simulate --scenario=stuck --record recording --duration 7d`,
    exitCodes: exitCodesOfServer,
    options: simulateFlags(scenarios),
    isServer: () => true,
    load: async () => (await import('./simulate.js')).runSimulate,
  },
  demo: {
    description: 'Runs a simulated chain together with the exporter, which has already polled its past.',
    examples: `
      # a healthy chain; open http://127.0.0.1:10917/
      bridge-exporter demo
      # a bridge that has been stuck for an hour
      bridge-exporter demo --scenario=stuck
      # the habits of a main network
      bridge-exporter demo --scenario=mainnet
      # use free ports
      bridge-exporter demo --listen=:0 --web.listen-address=127.0.0.1:0`,
    exitCodes: exitCodesOfServer,
    options: demoFlags(scenarios),
    isServer: () => true,
    load: async () => (await import('./demo.js')).runDemo,
  },
  healthcheck: {
    description: 'Checks that a daemon with the same web flags on this machine is healthy.',
    examples: `
      # check the daemon at port 10917
      bridge-exporter healthcheck
      # check a daemon with TLS
      bridge-exporter healthcheck --web.config.file=web.yml`,
    exitCodes: {
      0: 'The daemon answers.',
      1: 'It does not answer, or with an error. The reason is on standard error.',
    },
    options: webFlags(),
    load: async () => (await import('./healthcheck.js')).runHealthcheck,
  },
});

/** The flags of `replay` for bodies, for the metrics of a recording, and for its pages. */
const BODY_FLAGS = ['bridge', 'crosschain', 'hubHeight'];
const RECORDING_FLAGS = ['recording', 'target', 'from', 'to'];
const PAGE_FLAGS = ['recording', 'target', 'serve', 'at', 'listen'];

function replayProblem(command: Command): string | undefined {
  const { recording, serve, at, bridge, crosschain } = command.opts<ReplayFlags>();
  const flags =
    recording === undefined
      ? { with: 'without --recording', allowed: BODY_FLAGS }
      : serve
        ? { with: 'with --serve', allowed: PAGE_FLAGS }
        : { with: 'with --recording and without --serve', allowed: RECORDING_FLAGS };
  const other = [...BODY_FLAGS, ...RECORDING_FLAGS, ...PAGE_FLAGS].find(
    (name) => !flags.allowed.includes(name) && command.getOptionValueSource(name) === 'cli',
  );
  if (other !== undefined) {
    const option = command.options.find((candidate) => candidate.attributeName() === other);
    return `${option?.long} has no effect ${flags.with}`;
  }
  if (serve) return at === undefined ? '--serve needs --at TIME' : undefined;
  if (recording !== undefined) return undefined;
  if (bridge === undefined && crosschain === undefined)
    return 'nothing to replay: expected --recording DIR, --bridge FILE, --crosschain FILE, or both files';
  return bridge === STANDARD_INPUT && crosschain === STANDARD_INPUT
    ? 'both documents are standard input (-): expected at least one file'
    : undefined;
}

/** A command and the values of its flags. */
export interface Invocation {
  readonly command: string;
  readonly options: unknown;
  readonly isServer: boolean;
  readonly run: (context: CommandContext) => Promise<ExitCode>;
}

function rejectLateCommand(): never {
  throw new InvalidArgumentError('Expected a command before the flags, or no command to run the daemon.');
}

/** `first` is the first argument. Without a command, the daemon runs, and the help is that of the daemon. */
export function createProgram(
  first: string | undefined,
  help: HelpTables,
  print: (text: string) => void = () => undefined,
  onInvocation: (invocation: Invocation) => void = () => undefined,
): Command {
  const program = new Command('bridge-exporter')
    .exitOverride()
    .configureOutput({ writeOut: print, outputError: () => undefined })
    .configureHelp({ helpWidth: HELP_WIDTH, subcommandTerm: (command) => command.name() })
    .optionsGroup('Flags:')
    .helpOption('-h, --help', 'Print this help; after a command, the help of the command.')
    .helpCommand('help [command]', 'Prints this help, or that of a command.');
  for (const [name, definition] of Object.entries(definitions(help.scenarios.map(([scenario]) => scenario)))) {
    const isDaemon = name === 'daemon';
    const isDefault = isDaemon && (first === undefined || first.startsWith('-'));
    const command = program.command(name, { hidden: isDaemon, isDefault }).optionsGroup('Flags:');
    for (const described of isDaemon ? [program, command] : [command]) {
      described.description(definition.description).usage(definition.usage ?? '[flags]');
      described.addHelpText('after', helpText(name, definition, help));
    }
    for (const option of definition.options) command.addOption(option);
    if (isDaemon) command.argument('[command]', '', rejectLateCommand);
    command.action(() => {
      // The functions of a definition have the type of its flags.
      const options = command.opts() as never;
      const problem = definition.check?.(command);
      if (problem !== undefined) command.error(problem);
      const run = async (context: CommandContext): Promise<ExitCode> => (await definition.load())(options, context);
      onInvocation({ command: name, options, isServer: definition.isServer?.(options) ?? false, run });
    });
  }
  // Only without the name of a command, because Commander suggests the flags that the program shows.
  if (!program.commands.some((command) => command.name() === first)) {
    const [daemon] = program.commands;
    const visibleOptions = (command: Command): Option[] => [
      ...(command === program && daemon ? daemon.options : []),
      ...new Help().visibleOptions(command),
    ];
    program.configureHelp({ ...program.configureHelp(), visibleOptions });
  }
  return program;
}

/** Parses the command line and the environment variables of its flags. Prints help or version, or all problems. */
export async function parseCommandLine(
  argv: readonly string[],
  version: string,
  { print, printError }: Pick<CommandContext, 'print' | 'printError'>,
): Promise<Invocation | ExitCode> {
  const [first] = argv;
  const help = await loadHelpTables(argv);
  let invocation: Invocation | undefined;
  const program = createProgram(first, help, print, (parsed) => (invocation = parsed));
  program.version(version, '--version', 'Print the version.');
  const problems = new Set<string>();
  let args: readonly string[] | undefined = argv.flatMap(splitValue);
  while (args !== undefined) {
    try {
      program.parse(args, { from: 'user' });
      break;
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      if (error.exitCode === 0) return 0;
      problems.add(error.message);
      args = withoutProblem(args, error, program);
    }
  }
  if (invocation !== undefined && problems.size === 0) return invocation;
  const command = program.commands.some((each) => each.name() === first) ? ` ${first}` : '';
  const explained = await Promise.all(Array.from(problems, withVariable));
  for (const problem of [...explained, `see bridge-exporter${command} --help`]) {
    // A URL may contain a password or an API key.
    const line = problem
      .replace(/^error: /, '')
      .replaceAll('\n', ' ')
      .replaceAll(/\/\/[^\s']*/g, '//…');
    printError(`bridge-exporter: ${line}`);
  }
  return 2;
}

/** Names the environment variable of a setting that is no flag, such as `poll.interval`. */
async function withVariable(problem: string): Promise<string> {
  const option = /^error: unknown option '--([^']+)'/.exec(problem)?.[1] ?? '';
  const name = option.replaceAll('.', '_').toUpperCase();
  const { targetVariables } = await import('../config/environment.js');
  return Object.hasOwn(targetVariables, name) ? `${problem} (set the environment variable ${name} instead)` : problem;
}

/** Makes the value a separate argument, because Commander quotes an unknown flag with its value. */
function splitValue(argument: string): readonly string[] {
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(argument) ?? [];
  return name === undefined || value === undefined ? [argument] : [name, value];
}

/** The arguments without the flag of a problem, to find the next one: Commander stops at the first. `undefined` for a problem without a flag. */
function withoutProblem(
  args: readonly string[],
  { code, message }: CommanderError,
  program: Command,
): readonly string[] | undefined {
  const variable = /' from env '(\w+)' is invalid/.exec(message)?.[1];
  if (variable !== undefined) {
    for (const option of program.commands.flatMap(({ options }) => options)) {
      if (option.envVar === variable) delete option.envVar;
    }
    return args;
  }
  const flag = /^error: (?:unknown )?option '([^' ]+)/.exec(message)?.[1];
  const index = args.indexOf(flag ?? '');
  if (flag === undefined || index === -1) return undefined;
  const hasValue = code !== 'commander.unknownOption' || args[index + 1]?.startsWith('-') === false;
  return args.toSpliced(index, hasValue ? 2 : 1);
}
