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

export type Invocation =
  | CommandInvocation
  | { readonly command: 'help'; readonly about: CommandName }
  | { readonly command: 'version' }
  /** `about` is the command whose help to refer to. */
  | { readonly command: 'usage-error'; readonly about: CommandName; readonly problems: readonly string[] };

/** Parses the command line and the environment variables of its flags. All problems are reported at once. */
export function parseInvocation(argv: readonly string[], env: Environment): Invocation {
  const { information, command, flags, problems: ofArguments } = parseArguments(argv);
  if (flags.has('--help')) return { command: 'help', about: command ?? 'daemon' };
  if (flags.has('--version')) return { command: 'version' };
  const problems = [...ofArguments, ...unknownFlags(information === undefined ? command : undefined, flags)];
  if (information !== undefined) {
    if (problems.length > 0) return { command: 'usage-error', about: 'daemon', problems };
    return information === 'help' ? { command: 'help', about: command ?? 'daemon' } : { command: 'version' };
  }
  if (!command) return { command: 'usage-error', about: 'daemon', problems };
  const { values, problems: invalidValues } = parseValues(command, flags, env);
  const ofReplay = command === 'replay' ? replayProblem(flags) : undefined;
  const all = [...problems, ofReplay, ...invalidValues].filter((problem) => problem !== undefined);
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

const COMMON_FLAGS = ['--help', '--version'];

const typeByFlag: ReadonlyMap<string, string> = new Map([
  ...COMMON_FLAGS.map((name) => [name, 'boolean'] as const),
  ...commandNames.flatMap(flagsOf).map(({ name, type }) => [name, type] as const),
]);
const flagNames = [...typeByFlag.keys()];
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
    if (value === undefined && flagNames.includes(name)) {
      problems.push(`${name}: has no value — expected ${name}=<${typeByFlag.get(name)}>`);
    } else if (flags.has(name)) {
      problems.push(`${name}: is set twice — expected it once`);
    } else {
      flags.set(name, value ?? '');
    }
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
  if (next.startsWith('--') || (!flagNames.includes(name) && (isSubcommand(next) || isInformation(next))))
    return { name };
  return { name, value: rest.shift() };
}

function parsePositionals([command, ...surplus]: readonly string[], problems: string[]): { command?: CommandName } {
  for (const argument of surplus) {
    problems.push(`${redactArgument(argument)}: unexpected argument — expected one command, and flags`);
  }
  if (command === undefined) return { command: 'daemon' };
  if (isSubcommand(command)) return { command };
  const expected = [...subcommands, ...informationCommands].join(', ');
  problems.push(
    `${redactArgument(command)}: unknown command — expected one of ${expected}, or no command to run the daemon`,
  );
  return {};
}

/** Hides what follows the scheme of a URL, which may contain a password or an API key. */
function redactArgument(argument: string): string {
  return argument.replace(/\/\/.*/s, '//…');
}

function isSubcommand(name: string): name is (typeof subcommands)[number] {
  return subcommands.some((known) => known === name);
}

/** Problems of flags that the command does not have; without a command, that no command has. */
function unknownFlags(command: CommandName | undefined, flags: ReadonlyMap<string, string>): string[] {
  const known = command === undefined ? flagNames : [...flagsOf(command).map(({ name }) => name), ...COMMON_FLAGS];
  return [...flags.keys()]
    .filter((name) => !known.includes(name))
    .map((name) => `${name}: unknown flag — expected one of ${known.join(', ')}`);
}

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
