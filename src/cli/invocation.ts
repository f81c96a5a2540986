import { z } from 'zod';
import { readArguments } from './arguments.js';
import type { Environment } from '../config/environment.js';
import { type CommandName, type Run, commandFlags, commandNames, environmentName, flagsOf } from './flags.js';
import { formatProblems, formatPath } from '../config/kit/problems.js';
import { didYouMean, closestFlags } from './suggestions.js';

export type Invocation =
  | Run
  | { readonly command: 'help'; readonly about: CommandName }
  | { readonly command: 'version' }
  /** `about` is the command whose help says how it is used. */
  | { readonly command: 'usage-error'; readonly about: CommandName; readonly problems: readonly string[] };

/** What is wanted, or everything that is wrong with how it was said. `argv` begins after the name of the program. */
export function parseInvocation(argv: readonly string[], env: Environment): Invocation {
  const { command, flags, problems } = readArguments(argv);
  if (flags.has('--help')) return { command: 'help', about: command ?? 'daemon' };
  if (flags.has('--version')) return { command: 'version' };
  if (!command) return { command: 'usage-error', about: 'daemon', problems };
  const { run, problems: wrongValues } = readRun(command, flags, env);
  const all = [...problems, ...foreignFlags(command, flags), ...wrongValues];
  return run && all.length === 0 ? run : { command: 'usage-error', about: command, problems: all };
}

function foreignFlags(command: CommandName, flags: ReadonlyMap<string, string>): string[] {
  const own = flagsOf(command).map(({ name }) => name);
  return [...flags.keys()]
    .filter((name) => !takes(name, command))
    .map((name) => {
      const owners = commandNames.filter((other) => takes(name, other)).map(called);
      const meant = closestFlags(name, own);
      const hint = meant.length === 0 ? '' : `; ${didYouMean(meant)}`;
      return `${name}: not a flag of ${called(command)} — it belongs to ${owners.join(', ')}${hint}`;
    });
}

const takes = (name: string, command: CommandName): boolean => flagsOf(command).some((flag) => flag.name === name);

const called = (command: CommandName): string => (command === 'daemon' ? 'the daemon' : command);

interface Given {
  readonly text: string;
  /** The flag or the variable it was given by. */
  readonly by: string;
}

function readRun(
  command: CommandName,
  flags: ReadonlyMap<string, string>,
  env: Environment,
): { run?: Run; problems: string[] } {
  const given = givenByPath(command, flags, env);
  const schema = commandFlags[command];
  const { data: run, error } = schema.safeParse({ ...nested(schema, '', given), command });
  if (run) return { run, problems: [] };
  return { problems: formatProblems(error, [], (path) => given.get(formatPath(path))?.by ?? called(command)) };
}

/** A flag beats its variable, and an empty variable is not set. */
function givenByPath(command: CommandName, flags: ReadonlyMap<string, string>, env: Environment): Map<string, Given> {
  const given = new Map<string, Given>();
  for (const { name, path } of flagsOf(command)) {
    const variable = environmentName(name);
    const [flagText, variableText] = [flags.get(name), variable && env[variable]];
    if (flagText !== undefined) given.set(path, { text: flagText, by: name });
    else if (variable && variableText) given.set(path, { text: variableText, by: variable });
  }
  return given;
}

/** The texts in the shape of the settings. */
function nested(schema: z.ZodObject, prefix: string, given: ReadonlyMap<string, Given>): Record<string, unknown> {
  const entries = Object.entries(schema.shape).map(([key, inner]): [string, unknown] => {
    const path = prefix + key;
    return [key, inner instanceof z.ZodObject ? nested(inner, `${path}.`, given) : given.get(path)?.text];
  });
  return Object.fromEntries(entries.filter(([, text]) => text !== undefined));
}
