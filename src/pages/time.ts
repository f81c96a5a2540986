import { durationInWords } from '../text/format.js';
import { markup, type Markup } from './html.js';

/** A negative age, after the clock was set back, counts as 0. */
export function ago(seconds: number): string {
  return `${durationInWords(seconds)} ago`;
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
  return distanceElement(iso, `${iso.slice(11, 16)} UTC`);
}

/** Such as "since 12:03 UTC (5 min)". */
export function sinceElement(iso: string, age: number): Markup {
  return markup`since ${clockTimeElement(iso)} (${durationInWords(age)})`;
}

function utc(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}
