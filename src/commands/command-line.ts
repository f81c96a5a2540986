import { Command, CommanderError, Help, type Option } from 'commander';
import { scenarioNames, scenarios } from '../simulator/scenarios.js';
import {
  backtestFlags,
  daemonFlags,
  demoFlags,
  onceFlags,
  replayFlags,
  type ReplayFlags,
  simulateFlags,
  STANDARD_INPUT,
  webFlags,
} from './flags.js';
import type { CommandContext, ExitCode } from './context.js';

/* The command line: the commands with their flags and help. */

interface CommandDefinition {
  readonly description: string;
  /** What the help says after the flags. */
  readonly help?: string;
  readonly flags: Readonly<Record<string, Option>>;
  /** Returns a problem of the flags together. */
  readonly problem?: (options: never) => string | undefined;
  /** Imports a command when it runs: the modules of the daemon take several times as long as Node.js. */
  readonly load: () => Promise<(options: never, context: CommandContext) => Promise<ExitCode>>;
}

/** The commands by name. The daemon runs without a name. */
const definitions: Readonly<Record<string, CommandDefinition>> = {
  daemon: {
    description: 'Polls the bridge state of chain nodes and exports it to Prometheus.',
    help: `
Flags with a dot are also environment variables, such as CONFIG_FILE. Without a
configuration file, BRIDGE_URL and CROSSCHAIN_URL are the nodes that are polled.
docs/configuration.md has all settings and exit codes.`,
    flags: daemonFlags,
    load: async () => (await import('./daemon.js')).runDaemon,
  },
  once: {
    description: 'Polls once and prints the metrics.',
    help: `
Examples:
  BRIDGE_URL=https://node.example.org bridge-exporter once
  bridge-exporter once --config.file=bridge.yaml --fail-on=critical > /dev/null
The exit code is 1 if a poll fails, and 3 for --fail-on.`,
    flags: onceFlags,
    load: async () => (await import('./once.js')).runOnce,
  },
  replay: {
    description: 'Prints recorded metrics.',
    help: `
Examples:
  bridge-exporter replay --recording DIR --from 2026-11-23 > metrics.txt
  curl https://node.example.org/peggy/v1/module_state |
    bridge-exporter replay --bridge -`,
    flags: replayFlags,
    problem: replayProblem,
    load: async () => (await import('./replay.js')).runReplay,
  },
  backtest: {
    description: 'Prints the alerts of a recording.',
    flags: backtestFlags,
    load: async () => (await import('./backtest.js')).runBacktest,
  },
  simulate: {
    description: 'Serves a simulated chain.',
    help: `
Example:
  bridge-exporter simulate --scenario=backlog --block-time=500ms
  BRIDGE_URL=http://127.0.0.1:1317 bridge-exporter
${scenarioHelp()}`,
    flags: simulateFlags,
    load: async () => (await import('./simulate.js')).runSimulate,
  },
  demo: {
    description: 'Runs the exporter and a simulation.',
    help: scenarioHelp(),
    flags: demoFlags,
    load: async () => (await import('./demo.js')).runDemo,
  },
  healthcheck: {
    description: 'Checks the daemon on this machine.',
    flags: webFlags,
    load: async () => (await import('./healthcheck.js')).runHealthcheck,
  },
};

/** What each scenario rehearses, wrapped like the flags. */
function scenarioHelp(): string {
  const help = new Help();
  const width = Math.max(...scenarioNames.map(({ length }) => length));
  const lines = scenarioNames.map((name) => help.formatItem(name, width, scenarios[name].description, help));
  return `\nScenarios:\n${lines.join('\n')}`;
}

function replayProblem({ recording, target, from, to, bridge, crosschain }: ReplayFlags): string | undefined {
  if (recording !== undefined) return undefined;
  if ([target, from, to].some((value) => value !== undefined)) return '--target, --from and --to need --recording DIR';
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
  readonly run: (context: CommandContext) => Promise<ExitCode>;
}

type Output = Pick<CommandContext, 'print' | 'printError'>;

/** Without a command as the first argument, the program is the daemon. Its help lists the commands. */
export function createProgram(
  first: string | undefined,
  version: string,
  { print, printError }: Output,
  onInvocation: (invocation: Invocation) => void = () => undefined,
): Command {
  // A URL may contain a password or an API key.
  const redact = (text: string): string => text.trimEnd().replaceAll(/\/\/[^\s']*/g, '//…');
  const program = new Command('bridge-exporter')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: (text) => printError(redact(text)) })
    .showHelpAfterError('(--help lists the flags)')
    .optionsGroup('Flags:')
    .helpOption('-h, --help', 'Print this help.')
    .helpCommand('help [command]', 'Prints the help of a command.')
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      // Without the environment variable, which would take a line of its own.
      optionDescription: ({ long, description, argChoices, defaultValue, defaultValueDescription }) => {
        const choices = argChoices === undefined || long === '--scenario' ? '' : ` (${argChoices.join(', ')})`;
        return `${description}${choices}${defaultValue ? ` (default: ${defaultValueDescription})` : ''}`;
      },
      minWidthToWrap: 20,
    });
  const isDaemon = first === undefined || first === 'help' || first.startsWith('-');
  if (isDaemon) program.hook('preSubcommand', () => program.error('error: expected the command before its flags'));
  for (const [name, definition] of Object.entries(definitions)) {
    const { description, help = '', flags, problem, load } = definition;
    const command = name === 'daemon' ? program : program.command(name).optionsGroup('Flags:');
    command.description(description).usage('[flags]').addHelpText('after', help);
    command.version(version, '--version', 'Print the version.');
    if (command === program && !isDaemon) continue;
    for (const flag of Object.values(flags)) command.addOption(flag);
    command.action(() => {
      // The functions of a definition have the type of its flags.
      const options = command.opts() as never;
      const together = problem?.(options);
      if (together !== undefined) command.error(`error: ${together}`);
      const run = async (context: CommandContext): Promise<ExitCode> => (await load())(options, context);
      onInvocation({ command: name, options, run });
    });
  }
  return program;
}

/** Parses the command line and the environment variables of its flags. Prints help, version, or the first problem. */
export function parseCommandLine(argv: readonly string[], version: string, output: Output): Invocation | ExitCode {
  let invocation: Invocation | undefined;
  try {
    createProgram(argv[0], version, output, (parsed) => (invocation = parsed)).parse(argv.flatMap(splitValue), {
      from: 'user',
    });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
  return invocation ?? 2;
}

/** Makes the value a separate argument, without which Commander finds no flag similar to an unknown one. */
function splitValue(argument: string): readonly string[] {
  const [, name, value] = /^(--[^=]+)=(.*)$/s.exec(argument) ?? [];
  return name === undefined || value === undefined ? [argument] : [name, value];
}
