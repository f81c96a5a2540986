/** What the flow of a document depends on besides the document. */
export interface FlowOptions {
  /** A longer interval between two documents is a gap. */
  readonly staleAfterMs: number;
  readonly maxSeries: number;
}

/** The number of intervals by the reason why nothing, or not everything, was counted. */
export type Gaps = Readonly<Record<string, number>>;

export function noGaps(reasons: readonly string[]): Gaps {
  return Object.fromEntries(reasons.map((reason) => [reason, 0]));
}

export function addGap(gaps: Gaps, reason: string): Gaps {
  return { ...gaps, [reason]: (gaps[reason] ?? 0) + 1 };
}
