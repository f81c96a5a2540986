import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../units.js';

/*
 * Text for people in summaries, log lines, labels and pages: durations, shares, counts and lists, and untrusted text,
 * which are names and ids on the chain and messages of nodes and proxies.
 */

/**
 * A duration in at most two units, rounded down: an alert that requires 30 minutes never has "29 min" or "31 min" at
 * its start.
 */
export function durationInWords(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 2 * MINUTE_SECONDS) return `${whole} s`;
  if (whole < 2 * HOUR_SECONDS) return `${Math.floor(whole / MINUTE_SECONDS)} min`;
  if (whole < 2 * DAY_SECONDS) return twoUnits(whole, HOUR_SECONDS, 'h', MINUTE_SECONDS, 'min');
  return twoUnits(whole, DAY_SECONDS, 'd', HOUR_SECONDS, 'h');
}

function twoUnits(seconds: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((seconds % large) / small);
  const first = `${Math.floor(seconds / large)} ${largeUnit}`;
  return rest === 0 ? first : `${first} ${rest} ${smallUnit}`;
}

/** "2026-09-21 14:51 UTC", of a time in ISO 8601. */
export function utcMinute(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}

/** A sum of shares that add up to 1 is off by less than this. */
const ROUNDING = 1e-9;

/** A ratio in percent, by default without decimals. Only 0 is printed as 0 %, and only 1 as 100 %. */
export function percent(ratio: number, decimals = 0): string {
  const smallest = 10 ** -decimals;
  const value = ratio * 100;
  if (value > 0 && value < smallest) return `less than ${smallest} %`;
  const capped = ratio < 1 - ROUNDING ? Math.min(100 - smallest, value) : value;
  return `${capped.toFixed(decimals)} %`;
}

/** A number of items. */
export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${number} ${number === 1 ? singular : plural}`;
}

const MAX_LISTED = 5;

/** A list of at most five entries, or of all six. `total` is the number of entries if the list is incomplete. */
export function list(entries: readonly string[], total = entries.length): string {
  const shown = entries.slice(0, total === MAX_LISTED + 1 ? total : MAX_LISTED);
  const more = Math.max(total, entries.length) - shown.length;
  const joined = shown.join(', ');
  if (more === 0) return joined;
  return shown.length === 0 ? String(more) : `${joined} and ${more} more`;
}

/** A name such as that of a metric keeps its lower case. */
export function capitalized(sentence: string): string {
  return sentence.replace(/^[a-z](?=[a-z]*(?:[^\w.]|$))/, (letter) => letter.toUpperCase());
}

/**
 * Characters that are invisible or change the text around them: a hostile name must not hide or rearrange its
 * surroundings. Variation selectors, which choose the look of an emoji, are harmless.
 */
const HIDDEN = String.raw`(?![\uFE0E\uFE0F])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;
const HIDDEN_OR_SPACE = new RegExp(`(?:${HIDDEN}|\\s)+`, 'gu');
const HIDDEN_EXCEPT_LINE_FEED = new RegExp(`(?!\n)${HIDDEN}`, 'gu');

/** Marks stacked on one letter, which reach over other lines. No language needs more than three. */
const STACKED_MARKS = /(?<=\p{M}{3})\p{M}+/gu;

/** Longer text is cut before it is matched. */
const MAX_LENGTH = 1000;

const MAX_CHARACTERS = 200;

/** The text in one truncated line without hidden characters, for log lines, summaries and labels. */
export function cleanText(text: string, maxCharacters = MAX_CHARACTERS): string {
  return truncate(text.slice(0, MAX_LENGTH).toWellFormed().replaceAll(HIDDEN_OR_SPACE, ' ').trim(), maxCharacters);
}

/** The text for pages: replaces hidden characters by a visible character, and keeps line breaks. */
export function visibleText(text: string): string {
  return text.toWellFormed().replaceAll(STACKED_MARKS, '').replaceAll(HIDDEN_EXCEPT_LINE_FEED, '\uFFFD');
}

/** The text in at most this many characters, the last of which is an ellipsis if there are more. */
export function truncate(text: string, maxCharacters: number): string {
  const characters = Array.from(text);
  return characters.length <= maxCharacters ? text : `${characters.slice(0, maxCharacters - 1).join('')}…`;
}

const HEAD_CHARACTERS = 8;
const TAIL_CHARACTERS = 6;

/** An address or hash in three parts: its ends are enough to recognize it. */
export function splitAddress(address: string): readonly [head: string, middle: string, tail: string] {
  const characters = Array.from(address);
  const end = Math.max(HEAD_CHARACTERS, characters.length - TAIL_CHARACTERS);
  const part = (from: number, to?: number): string => characters.slice(from, to).join('');
  return [part(0, HEAD_CHARACTERS), part(HEAD_CHARACTERS, end), part(end)];
}
