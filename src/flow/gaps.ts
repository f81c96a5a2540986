import type { Instant } from '../clock.js';

/*
 * Each document is compared with the document before it. If that is impossible nothing is counted, and the interval is
 * a gap.
 */

export interface FlowOptions {
  /** A longer interval between two documents is a gap. */
  readonly staleAfterMs: number;
  readonly maxSeries: number;
}

/** The number of gaps by reason. `unseen` and `key` are intervals in which not everything was counted. */
export type Gaps = Readonly<Record<string, number>>;

export function noGaps(reasons: readonly string[]): Gaps {
  return Object.fromEntries(reasons.map((reason) => [reason, 0]));
}

export function addGap(gaps: Gaps, reason: string | undefined): Gaps {
  return reason === undefined ? gaps : { ...gaps, [reason]: (gaps[reason] ?? 0) + 1 };
}

export function isStale(before: { readonly at: Instant }, at: Instant, staleAfterMs: number): boolean {
  return (at - before.at) * 1000 > staleAfterMs;
}
