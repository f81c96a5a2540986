import type { Environment } from '../config/environment.js';
import {
  commandFlags,
  type CommandInvocation,
  type CommandName,
  commandNames,
  environmentName,
  type Flag,
  flagsOf,
  informationCommands,
  STANDARD_INPUT,
  subcommands,
} from './flags.js';
import { closestFlags, didYouMean, redactArgument, suggestCommand, suggestForArgument } from './suggestions.js';

export type Invocation =
  | CommandInvocation
  | { readonly command: 'help'; readonly about: CommandName }
  | { readonly command: 'version' }
  /** `about` is the command whose help to refer to. */
  | { readonly command: 'usage-error'; readonly about: CommandName; readonly problems: readonly string[] };

/** Parses the command line and the environment variables of its flags. All problems are reported at once. */
export function parseInvocation(argv: readonly string[], env: Environment): Invocation {
  const { information, command, flags, problems } = parseArguments(argv);
  if (flags.has('--help')) return { command: 'help', about: command ?? 'daemon' };
  if (flags.has('--version')) return { command: 'version' };
  if (information !== undefined) {
    if (problems.length > 0) return { command: 'usage-error', about: 'daemon', problems };
    return information === 'help' ? { command: 'help', about: command ?? 'daemon' } : { command: 'version' };
  }
  if (!command) return { command: 'usage-error', about: 'daemon', problems };
  const { values, problems: invalidValues } = parseValues(command, flags, env);
  const ofReplay = command === 'replay' ? replayProblem(flags) : undefined;
  const all = [...problems, ...foreignFlags(command, flags), ofReplay, ...invalidValues].filter(
    (problem) => problem !== undefined,
  );
  return all.length === 0 ? buildRun(command, values) : { command: 'usage-error', about: command, problems: all };
}

interface Arguments {
  /** The first argument, if it is `help` or `version`. */
  readonly information?: Information;
  /** Absent for an unknown command. */
  readonly command?: CommandName;
  /** Value by flag name, not parsed yet. */
  readonly flags: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

const typeByFlag: ReadonlyMap<string, string> = new Map([
  ['--help', 'boolean'],
  ['--version', 'boolean'],
  ...commandNames.flatMap(flagsOf).map(({ name, type }) => [name, type] as const),
]);
const flagNames = new Set(typeByFlag.keys());
const isBoolean = (name: string): boolean => typeByFlag.get(name) === 'boolean';

/**
 * Splits the command line into a command and flags. `util.parseArgs` does not fit: its strict mode throws at the first
 * problem, and otherwise it takes a flag for the missing value of the flag before it.
 */
function parseArguments(argv: readonly string[]): Arguments {
  const flags = new Map<string, string>();
  const positionals: string[] = [];
  const problems: string[] = [];
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (!argument.startsWith('-')) {
      positionals.push(argument);
      continue;
    }
    const { name, value } = takeFlag(argument, rest);
    const problem = flagProblem(name, value, flags.has(name));
    if (problem !== undefined) problems.push(problem);
    else if (value !== undefined) flags.set(name, value);
  }
  const [first] = positionals;
  if (!isInformation(first)) return { ...parsePositionals(positionals, problems), flags, problems };
  return { information: first, ...parsePositionals(positionals.slice(1), problems), flags, problems };
}

type Information = (typeof informationCommands)[number];

function isInformation(name: string | undefined): name is Information {
  return informationCommands.some((known) => known === name);
}

/** Parses a flag, and takes its value from the rest of the command line if it is not inline. */
function takeFlag(argument: string, rest: string[]): { name: string; value?: string | undefined } {
  const [, given = argument, inline] = /^([^=]*)=(.*)$/s.exec(argument) ?? [];
  const name = given === '-h' ? '--help' : given;
  if (inline !== undefined) return { name, value: inline };
  if (isBoolean(name)) return { name, value: 'true' };
  const positive = name.replace(/^--no-/, '--');
  if (isBoolean(positive)) return { name: positive, value: 'false' };
  // The next argument is most likely the value even of an unknown flag, unless it is a flag or a command.
  const [next = ''] = rest;
  if (next.startsWith('--') || (!flagNames.has(name) && (isSubcommand(next) || isInformation(next)))) return { name };
  return { name, value: rest.shift() };
}

function flagProblem(name: string, value: string | undefined, isRepeated: boolean): string | undefined {
  if (!flagNames.has(name)) {
    const closest = closestFlags(name, [...flagNames]);
    return `${name}: unknown flag — ${closest.length === 0 ? 'see --help for all flags' : didYouMean(closest)}`;
  }
  if (value === undefined) return `${name}: has no value — expected ${name}=<${typeByFlag.get(name)}>`;
  return isRepeated ? `${name}: is set twice — expected it once` : undefined;
}

function parsePositionals([command, ...surplus]: readonly string[], problems: string[]): { command?: CommandName } {
  for (const argument of surplus) {
    const suggestion = suggestForArgument(argument, flagNames) ?? 'expected one command, and flags';
    problems.push(`${redactArgument(argument)}: unexpected argument — ${suggestion}`);
  }
  if (command === undefined) return { command: 'daemon' };
  if (isSubcommand(command)) return { command };
  const suggestion = suggestForArgument(command, flagNames) ?? suggestCommand(command);
  problems.push(`${redactArgument(command)}: unknown command — ${suggestion}`);
  return {};
}

function isSubcommand(name: string): name is (typeof subcommands)[number] {
  return subcommands.some((known) => known === name);
}

/** Problems of flags that only other commands have. */
function foreignFlags(command: CommandName, flags: ReadonlyMap<string, string>): string[] {
  const own = flagsOf(command).map(({ name }) => name);
  return [...flags.keys()]
    .filter((name) => !hasFlag(command, name))
    .map((name) => {
      const owners = commandNames.filter((other) => hasFlag(other, name)).map(formatCommand);
      const closest = closestFlags(name, own);
      const suggestion = closest.length === 0 ? '' : `; ${didYouMean(closest)}`;
      return `${name}: not a flag of ${formatCommand(command)} — it belongs to ${owners.join(', ')}${suggestion}`;
    });
}

const hasFlag = (command: CommandName, name: string): boolean => flagsOf(command).some((flag) => flag.name === name);

const formatCommand = (command: CommandName): string => (command === 'daemon' ? 'the daemon' : command);

const BODY_FLAGS = ['--bridge', '--crosschain', '--hub-height'];
const RECORDING_FLAGS = ['--from', '--to', '--target', '--serve', '--at', '--listen'];
/** The flags of a recording for its metrics, and those for its pages. */
const RANGE_FLAGS = ['--from', '--to'];
const PAGE_FLAGS = ['--at', '--listen'];

/** The problem of the flags of `replay` together, if there is one. */
function replayProblem(flags: ReadonlyMap<string, string>): string | undefined {
  const firstOf = (names: readonly string[]): string | undefined => names.find((name) => flags.has(name));
  if (!flags.has('--recording')) {
    const mixed = firstOf(RECORDING_FLAGS);
    if (mixed !== undefined) return `${mixed}: has no effect without --recording — expected files, or a recording`;
    const files = ['--bridge', '--crosschain'].map((name) => flags.get(name));
    if (files.every((file) => file === undefined)) {
      return 'replay: nothing to replay — expected --recording DIR, --bridge FILE, --crosschain FILE, or both files';
    }
    return files.every((file) => file === STANDARD_INPUT)
      ? 'replay: both documents are standard input (-) — expected at least one file'
      : undefined;
  }
  const mixed = firstOf(BODY_FLAGS);
  if (mixed !== undefined) return `${mixed}: cannot be combined with --recording — expected files, or a recording`;
  if (!flags.has('--serve') || flags.get('--serve') === 'false') {
    const ofPages = firstOf(PAGE_FLAGS);
    return ofPages && `${ofPages}: has no effect without --serve`;
  }
  const ofRange = firstOf(RANGE_FLAGS);
  if (ofRange !== undefined) return `${ofRange}: cannot be combined with --serve — expected --at TIME`;
  return flags.has('--at') ? undefined : '--serve: needs --at TIME';
}

/** Parses the values of all flags of a command. A flag overrides its environment variable; an empty variable is unset. */
function parseValues(command: CommandName, flags: ReadonlyMap<string, string>, env: Environment) {
  const values = new Map<string, unknown>();
  const problems: string[] = [];
  for (const { name, parse } of flagsOf(command)) {
    const variable = environmentName(name);
    const fromVariable = (variable && env[variable]) || undefined;
    const result = parse(flags.get(name) ?? fromVariable);
    if (result.ok) values.set(name, result.value);
    else problems.push(`${flags.has(name) ? name : variable}: ${result.problem}`);
  }
  return { values, problems };
}

/** Groups the values as in the table of flags, which also determines their types. */
function buildRun(command: CommandName, values: ReadonlyMap<string, unknown>): CommandInvocation;
function buildRun(command: CommandName, values: ReadonlyMap<string, unknown>): unknown {
  const groups = Object.entries<Readonly<Record<string, Flag>>>(commandFlags[command]).map(([group, flags]) => [
    group,
    Object.fromEntries(Object.entries(flags).map(([key, { name }]) => [key, values.get(name)])),
  ]);
  return { command, ...Object.fromEntries(groups) };
}
