import { count, durationInWords } from '../text/format.js';
import { HOUR_SECONDS } from '../units.js';
import { markup, type Markup } from './html.js';
import type { EndpointView, NodeView } from './view.js';

/** Ages below this are shown without the date. */
const SHORT_SECONDS = 12 * HOUR_SECONDS;

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

/** An instant at a distance of `seconds`. The date is omitted within half a day. */
export function distantTimeElement(iso: string, seconds: number): Markup {
  return seconds < SHORT_SECONDS
    ? clockTimeElement(iso)
    : distanceElement(iso, `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`);
}

/** Such as "since 12:03 UTC (5 min)". */
export function sinceElement(iso: string, age: number): Markup {
  return markup`since ${distantTimeElement(iso, age)} (${durationInWords(age)})`;
}

/** Blocks take seconds. */
const SHOWN_BEHIND_SECONDS = 60;

/** The time of the newest block, if it is clearly older than the poll. */
export function renderBlockTime({ blockTime, behindSeconds, syncing: isSyncing }: NodeView): Markup | undefined {
  if (blockTime === null || behindSeconds === null) return undefined;
  if (behindSeconds <= SHOWN_BEHIND_SECONDS && isSyncing !== true) return undefined;
  return markup`block time ${distantTimeElement(blockTime, behindSeconds)}, ${durationInWords(behindSeconds)} behind`;
}

/**
 * The age of the oldest data of a page, by its block if the node is behind, and the number of endpoints without data.
 */
export function dataAge(endpoints: readonly EndpointView[]): string {
  const ages = endpoints.flatMap(({ target, document, shown, ageSeconds, node }) => {
    const behind = renderBlockTime(node) === undefined ? 0 : (node.behindSeconds ?? 0);
    return shown && ageSeconds !== null ? [{ target, document, age: ageSeconds + behind }] : [];
  });
  const [oldest] = ages.toSorted((a, b) => b.age - a.age);
  const without = endpoints.length - ages.length;
  const notes = [
    ...(oldest === undefined ? [] : [`Oldest data: ${ago(oldest.age)}, ${oldest.document} of ${oldest.target}`]),
    ...(without === 0 ? [] : [`${without} of ${count(endpoints.length, 'endpoint')} without current data`]),
  ];
  return notes.join('; ');
}

function utc(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}
