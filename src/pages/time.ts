import { HOUR_SECONDS } from '../clock.js';
import { duration } from '../text/format.js';
import { markup, type Markup } from './html.js';
import type { NodeView } from './view.js';

/** Ages below this are shown without the date. */
const SHORT_SECONDS = 12 * HOUR_SECONDS;

/** A negative age, after the clock was set back, counts as 0. */
export function ago(seconds: number): string {
  return `${duration(seconds)} ago`;
}

/** A time in UTC, because readers and machine may be in different time zones. */
export function timeElement(iso: string): Markup {
  return markup`<time datetime="${iso}">${utc(iso)}</time>`;
}

/** An instant as its distance from now, such as `12 s ago`, with the instant as a tooltip. */
export function distanceElement(iso: string, distance: string): Markup {
  return markup`<time datetime="${iso}" title="${utc(iso)}">${distance}</time>`;
}

/** How long ago an instant was, at a time of the page. */
export function agoElement(iso: string, nowMs: number): Markup {
  return distanceElement(iso, ago((nowMs - Date.parse(iso)) / 1000));
}

/** The time of the day, with the date as a tooltip. */
export function clockTimeElement(iso: string): Markup {
  const full = utc(iso);
  return markup`<time datetime="${iso}" title="${full}">${full.slice(11)}</time>`;
}

/** An instant that is so far away. The date is omitted within half a day. */
export function distantTimeElement(iso: string, seconds: number): Markup {
  return seconds < SHORT_SECONDS ? clockTimeElement(iso) : timeElement(iso);
}

/** When something began, and how long ago that is. */
export function sinceElement(iso: string, age: number): Markup {
  return markup`since ${distantTimeElement(iso, age)} (${duration(age)})`;
}

/** Blocks take seconds. */
const SHOWN_BEHIND_SECONDS = 60;

/** The time of the newest block, if what is shown is clearly older than the poll. */
export function blockTimeOf({ blockTime, behindSeconds, syncing: isSyncing }: NodeView): Markup | undefined {
  if (blockTime === null || behindSeconds === null) return undefined;
  if (behindSeconds <= SHOWN_BEHIND_SECONDS && isSyncing !== true) return undefined;
  return markup`block time ${distantTimeElement(blockTime, behindSeconds)}, ${duration(behindSeconds)} behind`;
}

/** Nothing is known of what is newer than the newest block of the node. */
export function ofBlockTime(text: string, blockTime: Markup | undefined): Markup {
  return markup`${blockTime === undefined ? '' : markup`As of ${blockTime}: `}${text}`;
}

function utc(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}
