import { commandWords } from './flags.js';
import { closestMatch } from '../config/kit/suggestion.js';

/* What somebody most likely meant who wrote what is no flag and no command. */

/** More than these help as little as none. */
const MOST_SUGGESTED = 5;

/** What other programs call it. */
const habits: ReadonlyMap<string, string> = new Map([
  ['--port', '--web.listen-address'],
  ['-c', '--config.file'],
  ['--debug', '--log.level=debug'],
  ['--verbose', '--log.level=debug'],
  ['--dry-run', '--config.check'],
]);

/** Flags that a word which is none may stand for: the nearest, the one of that letter, or those it is a part of. */
export function closestFlags(word: string, flags: readonly string[]): readonly string[] {
  const meant = closestMatch(word, flags) ?? habits.get(word);
  if (meant !== undefined) return [meant];
  const stem = word.replace(/^-+/, '');
  const found =
    stem.length === 1
      ? flags.filter((flag) => flag.startsWith(`--${stem}`))
      : flags.filter((flag) => stem.length >= 3 && flag.includes(stem));
  return found.length <= (stem.length === 1 ? 1 : MOST_SUGGESTED) ? found : [];
}

/** `did you mean --log.level or --log.format?` */
export function didYouMean(choices: readonly string[]): string {
  const last = choices.at(-1) ?? '';
  return `did you mean ${choices.length > 1 ? `${choices.slice(0, -1).join(', ')} or ${last}` : last}?`;
}

/** What to write instead of a word that stands where none belongs, when it tells. */
export function suggestArgument(word: string, flags: ReadonlySet<string>): string | undefined {
  if (/^https?:\/\//i.test(word)) return 'the address of a node goes into BRIDGE_URL or CROSSCHAIN_URL';
  if (/\.ya?ml$/i.test(word)) return didYouMean([`--config.file=${word}`]);
  if (/\.json$/i.test(word)) return didYouMean([`replay --bridge=${word}`, `replay --crosschain=${word}`]);
  return flags.has(`--${word}`) ? didYouMean([`--${word}`]) : undefined;
}

export function suggestCommand(word: string): string {
  const meant = closestMatch(word, commandWords);
  if (meant !== undefined) return didYouMean([meant]);
  return `expected one of ${commandWords.join(', ')}, or none, which runs the daemon`;
}

/** A word as it can be shown: an address may have a password in it. */
export function redactArgument(word: string): string {
  return word.replace(/\/\/[^/@]*@/, '//…@');
}
