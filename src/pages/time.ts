import { markup, type Markup } from './html.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span of time as people say it, in at most two units. */
export function duration(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  if (whole < 2 * MINUTE) return `${whole} s`;
  if (whole < 2 * HOUR) return `${Math.floor(whole / MINUTE)} min`;
  if (whole < 2 * DAY) return `${Math.floor(whole / HOUR)} h ${Math.floor((whole % HOUR) / MINUTE)} min`;
  return `${Math.floor(whole / DAY)} d ${Math.floor((whole % DAY) / HOUR)} h`;
}

/** A clock that was set back makes no future of what has happened. */
export function ago(seconds: number): string {
  return `${duration(Math.max(0, seconds))} ago`;
}

export function isoTime(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString();
}

/** An instant in UTC, as whoever reads it at night may be in another zone than the machine. */
export function timeElement(iso: string): Markup {
  return markup`<time datetime="${iso}">${utc(iso)}</time>`;
}

/** The same told by its distance, `12 s ago`; the instant shows when it is pointed at. */
export function distanceElement(iso: string, distance: string): Markup {
  return markup`<time datetime="${iso}" title="${utc(iso)}">${distance}</time>`;
}

function utc(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}
