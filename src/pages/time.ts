import type { Instant } from '../poll/clock.js';
import { markup, type Markup } from './html.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A rounded duration in at most two units. */
export function duration(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  if (whole < 2 * MINUTE) return `${whole} s`;
  if (whole < 2 * HOUR) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < 2 * DAY) return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / MINUTE)} min`;
  return `${Math.floor(whole / DAY)} d ${Math.floor((whole % DAY) / HOUR)} h`;
}

/** A negative age, after the clock was set back, counts as 0. */
export function ago(seconds: number): string {
  return `${duration(Math.max(0, seconds))} ago`;
}

export function isoTime(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString();
}

/** The larger age of both clocks, as for freshness: the monotonic one stops in suspend, the other one can be set. */
export function ageSeconds(then: Instant, now: Instant): number {
  return Math.max(0, (now.monotonicMs - then.monotonicMs) / 1000, now.epochSeconds - then.epochSeconds);
}

/** In UTC, because readers and machine may be in different time zones. */
export function timeElement(iso: string): Markup {
  return markup`<time datetime="${iso}">${utc(iso)}</time>`;
}

/** An instant as its distance from now, such as `12 s ago`, with the instant as a tooltip. */
export function distanceElement(iso: string, distance: string): Markup {
  return markup`<time datetime="${iso}" title="${utc(iso)}">${distance}</time>`;
}

const SHORT_SECONDS = DAY / 2;

/** The time of the day, with the date as a tooltip. */
export function clockTimeElement(iso: string): Markup {
  const full = utc(iso);
  return markup`<time datetime="${iso}" title="${full}">${full.slice(11)}</time>`;
}

/** When something began, and how long ago that is. The date is omitted within half a day. */
export function sinceElement(iso: string, age: number): Markup {
  const full = utc(iso);
  return markup`since <time datetime="${iso}" title="${full}">${age < SHORT_SECONDS ? full.slice(11) : full}</time> (${duration(age)})`;
}

function utc(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}
