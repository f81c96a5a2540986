import type { MissingMember, MissingMembers } from '../pending/items.js';

/*
 * The words and numbers of summaries. A summary is plain text of one line; names in it are chosen by strangers, so a page has to
 * escape it.
 */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration in at most two units, rounded down: an alert that requires 30 minutes never has "29 min" or "31 min" at its start. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 2 * MINUTE) return `${whole} s`;
  if (whole < 2 * HOUR) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < 2 * DAY) return twoUnits(whole, HOUR, 'h', MINUTE, 'min');
  return twoUnits(whole, DAY, 'd', HOUR, 'h');
}

function twoUnits(seconds: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((seconds % large) / small);
  const first = `${Math.floor(seconds / large)} ${largeUnit}`;
  return rest === 0 ? first : `${first} ${rest} ${smallUnit}`;
}

/** A sum of shares that add up to 1 is off by less than this. */
const ROUNDING = 1e-9;

/** A ratio in whole percent. Only 0 reads 0 %, and only a whole 100 %. */
export function percent(ratio: number): string {
  if (ratio > 0 && ratio < 0.01) return 'less than 1 %';
  const rounded = Math.round(ratio * 100);
  return `${ratio < 1 - ROUNDING ? Math.min(99, rounded) : rounded} %`;
}

/** A number of items. */
export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${number} ${number === 1 ? singular : plural}`;
}

const MAX_LISTED = 5;

/** At most five entries, or six if these are all. `total` is their number when only some of them are known. */
export function list(entries: readonly string[], total = entries.length): string {
  const shown = entries.slice(0, total === MAX_LISTED + 1 ? total : MAX_LISTED);
  const more = Math.max(total, entries.length) - shown.length;
  const joined = shown.join(', ');
  if (more === 0) return joined;
  return shown.length === 0 ? String(more) : `${joined} and ${more} more`;
}

const MAX_NAME_CHARACTERS = 40;

/** A name or address of the chain without characters that change the text around it, at most 40 characters long. */
export function shortName(text: string): string {
  const characters = Array.from(
    text
      .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  if (characters.length <= MAX_NAME_CHARACTERS) return characters.join('');
  return `${characters.slice(0, MAX_NAME_CHARACTERS - 1).join('')}…`;
}

const HEAD_CHARACTERS = 8;
const TAIL_CHARACTERS = 6;

/** An address without its middle. */
export function shortAddress(address: string): string {
  const name = Array.from(address);
  if (name.length <= HEAD_CHARACTERS + TAIL_CHARACTERS + 1) return shortName(address);
  return shortName(`${name.slice(0, HEAD_CHARACTERS).join('')}…${name.slice(-TAIL_CHARACTERS).join('')}`);
}

export interface Validator {
  readonly name: string;
  readonly address: string;
  readonly isWatched: boolean;
}

/** The name of a validator, else its address. */
export function validatorName({ name, address, isWatched }: Validator): string {
  return (quoted(shortName(name)) || shortAddress(address)) + (isWatched ? ' (yours)' : '');
}

/** Quotes a name with punctuation, so that it can imitate neither `(yours)` nor another entry of the list. */
function quoted(name: string): string {
  return /[^\p{L}\p{M}\p{N} .&'_+|/@#!*-]/u.test(name) ? `“${name.replaceAll(/[“”"]/g, "'")}”` : name;
}

/** At most five validators, the watched ones first. Anyone can choose any name, so equal names are followed by the address. */
export function validators(members: readonly Validator[], total = members.length): string {
  const watchedFirst = members.toSorted((a, b) => Number(b.isWatched) - Number(a.isWatched));
  const names = watchedFirst.map(validatorName);
  const distinct = names.map((name, index) => {
    const address = watchedFirst[index]?.address ?? '';
    return names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} ${shortAddress(address)}`;
  });
  return list(distinct, total);
}

/** "6 validators with 53 % of the power have not voted: Alpha, Beta and 4 more"; empty when nobody is known to be missing. */
export function missingValidators(missing: MissingMembers | null, haveNot: string): string {
  if (missing === null || missing.total === 0) return '';
  const power = missing.powerRatio === null ? '' : ` with ${percent(missing.powerRatio)} of the power`;
  const have = missing.total === 1 ? 'has' : 'have';
  const who = validators(missingOf(missing), missing.total);
  return `${count(missing.total, 'validator')}${power} ${have} not ${haveNot}${who === '' ? '' : `: ${who}`}`;
}

/** An action with your own validators first, if any of these is. */
export function ownFirst(members: readonly Validator[], action: string): string {
  const own = members.filter(({ isWatched }) => isWatched).map((validator) => ({ ...validator, isWatched: false }));
  if (own.length === 0) return action;
  return `Check the orchestrator of your ${own.length === 1 ? 'validator' : 'validators'} ${validators(own)} first. ${action}`;
}

/** The validators whose signature or vote is missing. */
export function missingOf(missing: MissingMembers | null | undefined): readonly Validator[] {
  return (missing?.members ?? []).map(validatorOf);
}

function validatorOf({ name, orchestrator, externalAddress, watched }: MissingMember): Validator {
  return { name: name ?? '', address: orchestrator ?? externalAddress, isWatched: watched };
}

/** A chain by its configured name and id. */
export function chainName(name: string, id: string): string {
  if (id === '') return 'without id';
  return name === '' ? shortName(id) : `${shortName(name)} (${shortName(id)})`;
}

/** The parts of a summary; empty ones are left out. */
export function parts(...all: readonly string[]): string {
  return all.filter((part) => part !== '').join('; ');
}
