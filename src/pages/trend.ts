import { NO_TREND, TREND_MINUTES, trendMeasures, type Trend, type TrendMeasure } from '../alerts/trend.js';
import type { Instant } from '../clock.js';
import type { DocumentName } from '../documents.js';
import { duration } from '../text/format.js';
import { markup, type Markup } from './html.js';
import { isoTime } from './time.js';

/*
 * Whether the backlog of an endpoint grows or shrinks, in words and as a picture.
 */

export interface TrendView extends Pick<TrendMeasure, 'name' | 'title' | 'unit'> {
  /** The last observed value. */
  readonly value: number;
  /** The change in the last hour, or since the first observed value if that is later; `null` in the first ten minutes. */
  readonly change: { readonly value: number; readonly seconds: number } | null;
  /** The change in words: "grew by 212 in the last hour". */
  readonly summary: string;
  /** At most one per five minutes, of the last six hours, and the last observed value; oldest first. */
  readonly points: readonly TrendViewPoint[];
}

interface TrendViewPoint {
  /** ISO 8601. */
  readonly at: string;
  readonly value: number;
}

/** Measures without a value in the last successful poll are left out. */
export function trendViews(document: DocumentName, trend: Trend = NO_TREND, now: Instant): readonly TrendView[] {
  return trendMeasures[document].flatMap((measure) => viewOf(measure, trend, now) ?? []);
}

interface AgedValue {
  readonly value: number;
  readonly epochSeconds: number;
  readonly ageSeconds: number;
}

function viewOf({ name, title, unit }: TrendMeasure, { points, latest }: Trend, now: Instant): TrendView | undefined {
  const value = latest?.values.get(name);
  if (latest === undefined || value === undefined) return undefined;
  const known = [...points.filter(({ at }) => at !== latest.at), latest].flatMap(({ at, values }): AgedValue[] => {
    const own = values.get(name);
    // The monotonic clock, because a change of the wall clock is no age.
    const ageSeconds = (now.monotonicMs - at.monotonicMs) / 1000;
    return own === undefined ? [] : [{ value: own, ageSeconds, epochSeconds: now.epochSeconds - ageSeconds }];
  });
  const change = changeOf(known, value);
  return {
    name,
    title,
    unit,
    value,
    change,
    summary: change === null ? '' : summaryOf(change, unit),
    points: known.map((point) => ({ at: isoTime(point.epochSeconds), value: point.value })),
  };
}

const HOUR_SECONDS = 3600;
/** Points are five minutes apart, and polls can be late. */
const HOUR_TOLERANCE_SECONDS = 600;
const MINIMUM_SECONDS = 600;

function changeOf(known: readonly AgedValue[], value: number): TrendView['change'] {
  const hourAgo = known.findLast(
    ({ ageSeconds }) => ageSeconds >= HOUR_SECONDS && ageSeconds <= HOUR_SECONDS + HOUR_TOLERANCE_SECONDS,
  );
  const reference =
    hourAgo ?? known.find(({ ageSeconds }) => ageSeconds < HOUR_SECONDS && ageSeconds >= MINIMUM_SECONDS);
  return reference === undefined ? null : { value: value - reference.value, seconds: reference.ageSeconds };
}

function summaryOf({ value, seconds }: NonNullable<TrendView['change']>, unit: TrendView['unit']): string {
  const span = seconds >= HOUR_SECONDS ? 'hour' : duration(seconds);
  const amount = format(Math.abs(value), unit);
  if (amount === format(0, unit)) return `unchanged in the last ${span}`;
  return `${value > 0 ? 'grew' : 'shrank'} by ${amount} in the last ${span}`;
}

function format(value: number, unit: TrendView['unit']): string {
  return unit === 'seconds' ? duration(value) : String(value);
}

/** The change of each measure in words, with a picture of six hours. */
export function trendsHtml(views: readonly TrendView[], nowMs: number): Markup {
  const known = views.filter(({ change }) => change !== null);
  if (known.length === 0) return markup``;
  return markup`<ul class="trends">${known.map((view) => markup`<li>${view.title} <b>${format(view.value, view.unit)}</b> ${picture(view, nowMs)} <span class="quiet">${view.summary}</span>`)}</ul>`;
}

const HEIGHT = 30;
/** Longer distances are gaps, because points are five minutes apart. */
const GAP_MINUTES = 12;
const MINUTE_MS = 60_000;

/** One unit per minute. The line begins at 0, so that a small change looks small. */
function picture({ title, unit, points }: TrendView, nowMs: number): Markup {
  const values = points.map(({ value }) => value);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const first = points[0]?.value ?? 0;
  const last = points.at(-1)?.value ?? 0;
  const label = `${title} over ${TREND_MINUTES / 60} hours: from ${format(first, unit)} to ${format(last, unit)}, between ${format(lowest, unit)} and ${format(highest, unit)}`;
  const path = pathOf(points, nowMs, highest);
  return markup`<svg class="trend" role="img" aria-label="${label}" viewBox="0 0 ${TREND_MINUTES} ${HEIGHT}" preserveAspectRatio="none"><title>${label}</title><path d="${path}"/></svg>`;
}

function pathOf(points: readonly TrendViewPoint[], nowMs: number, highest: number): string {
  const placed = points.map(({ at, value }) => ({
    x: TREND_MINUTES - (nowMs - Date.parse(at)) / MINUTE_MS,
    y: HEIGHT - (highest === 0 ? 0 : (value / highest) * (HEIGHT - 2)) - 1,
  }));
  return placed
    .map(({ x, y }, index) => {
      const previous = placed[index - 1];
      const isStart = previous === undefined || x - previous.x > GAP_MINUTES;
      return `${isStart ? 'M' : 'L'}${x.toFixed(0)} ${y.toFixed(1)}`;
    })
    .join('');
}
