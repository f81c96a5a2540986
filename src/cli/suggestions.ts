import { closestMatch } from '../settings/closest-match.js';
import { informationCommands, subcommands } from './flags.js';

/* Suggestions for unknown flags, commands and arguments. */

const MAX_SUGGESTIONS = 5;

/** Flags of other programs. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ['--port', '--web.listen-address'],
  ['-c', '--config.file'],
  ['--debug', '--log.level=debug'],
  ['--verbose', '--log.level=debug'],
  ['--dry-run', '--config.check'],
]);

/** The known flags closest to an unknown one: a similar name, the same first letter, or names that contain it. */
export function closestFlags(name: string, flags: readonly string[]): readonly string[] {
  const match = closestMatch(name, flags) ?? synonyms.get(name);
  if (match !== undefined) return [match];
  const stem = name.replace(/^-+/, '');
  if (stem.length === 1) {
    const sameLetter = flags.filter((flag) => flag.startsWith(`--${stem}`));
    return sameLetter.length === 1 ? sameLetter : [];
  }
  const containing = stem.length >= 3 ? flags.filter((flag) => flag.includes(stem)) : [];
  return containing.length <= MAX_SUGGESTIONS ? containing : [];
}

/** `did you mean --log.level or --log.format?` */
export function didYouMean(choices: readonly string[]): string {
  const last = choices.at(-1) ?? '';
  return `did you mean ${choices.length > 1 ? `${choices.slice(0, -1).join(', ')} or ${last}` : last}?`;
}

/** The flag or variable that an unexpected argument belongs to, if that can be guessed. */
export function suggestForArgument(argument: string, flags: ReadonlySet<string>): string | undefined {
  if (/^https?:\/\//i.test(argument)) return 'set the URL of a node in BRIDGE_URL or CROSSCHAIN_URL';
  if (/\.ya?ml$/i.test(argument)) return didYouMean([`--config.file=${argument}`]);
  if (/\.json$/i.test(argument)) return didYouMean([`replay --bridge=${argument}`, `replay --crosschain=${argument}`]);
  return flags.has(`--${argument}`) ? didYouMean([`--${argument}`]) : undefined;
}

export function suggestCommand(name: string): string {
  const all = [...subcommands, ...informationCommands];
  const match = closestMatch(name, all);
  return match === undefined
    ? `expected one of ${all.join(', ')}, or no command to run the daemon`
    : didYouMean([match]);
}

/** Hides the user and password of a URL. */
export function redactArgument(argument: string): string {
  return argument.replace(/\/\/[^/@]*@/, '//…@');
}
