import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS } from '../units.js';

/* Durations, shares, counts and lists in summaries, log lines and pages. */

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
