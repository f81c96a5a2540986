import { type CommandName, commandNames, commandWords, flagsOf } from './flags.js';
import { suggestCommand, didYouMean, redactArgument, closestFlags, suggestArgument } from './suggestions.js';

export interface Arguments {
  /** Absent when the word for it is no command. */
  readonly command?: CommandName;
  /** Text by name of the flag. */
  readonly flags: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

const allFlags = commandNames.flatMap(flagsOf);
const switches = new Set([
  '--help',
  '--version',
  ...allFlags.filter(({ type }) => type === 'boolean').map(({ name }) => name),
]);
const types = new Map(allFlags.map(({ name, type }) => [name, type]));
const flagNames = new Set([...switches, ...allFlags.map(({ name }) => name)]);

/** Sorts the words of a command line; whether the texts are right for their flags is not looked at. */
export function readArguments(argv: readonly string[]): Arguments {
  const flags = new Map<string, string>();
  const words: string[] = [];
  const problems: string[] = [];
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith('-')) {
      words.push(word);
      continue;
    }
    const { name, text } = readFlag(word, rest);
    const problem = flagProblem(name, text, flags.has(name));
    if (problem !== undefined) problems.push(problem);
    else if (text !== undefined) flags.set(name, text);
  }
  return { ...readWords(words, problems), flags, problems };
}

/** Takes the value of a flag from the rest when it stands there. */
function readFlag(word: string, rest: string[]): { name: string; text: string | undefined } {
  const [, given = word, text] = /^([^=]*)=(.*)$/s.exec(word) ?? [];
  const name = given === '-h' ? '--help' : given;
  if (text !== undefined) return { name, text };
  if (switches.has(name)) return { name, text: 'true' };
  const negated = name.replace(/^--no-/, '--');
  if (switches.has(negated)) return { name: negated, text: 'false' };
  // What follows an unknown flag is most likely its value, unless it is a command.
  const [next] = rest;
  if (next?.startsWith('--') || (!flagNames.has(name) && isCommandWord(next))) return { name, text: undefined };
  return { name, text: rest.shift() };
}

function flagProblem(name: string, text: string | undefined, repeated: boolean): string | undefined {
  if (!flagNames.has(name)) {
    const meant = closestFlags(name, [...flagNames]);
    return `${name}: unknown flag — ${meant.length === 0 ? 'see --help for those there are' : didYouMean(meant)}`;
  }
  if (text === undefined) return `${name}: has no value — expected ${name}=<${types.get(name) ?? 'value'}>`;
  return repeated ? `${name}: given twice — expected it once` : undefined;
}

function readWords([word, ...surplus]: readonly string[], problems: string[]): { command?: CommandName } {
  for (const extra of surplus) {
    const meant = suggestArgument(extra, flagNames) ?? 'expected one command, and flags';
    problems.push(`${redactArgument(extra)}: one word too many — ${meant}`);
  }
  if (word === undefined) return { command: 'daemon' };
  if (isCommandWord(word)) return { command: word };
  problems.push(
    `${redactArgument(word)}: unknown command — ${suggestArgument(word, flagNames) ?? suggestCommand(word)}`,
  );
  return {};
}

function isCommandWord(word: string | undefined): word is (typeof commandWords)[number] {
  return commandWords.some((known) => known === word);
}
