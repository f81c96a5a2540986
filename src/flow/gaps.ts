import type { Instant } from '../clock.js';

/* Each document is compared with the last good document, the baseline. If that is impossible nothing is counted, and the interval is a gap. */

export interface FlowOptions {
  /** A longer interval between two documents is a gap. */
  readonly staleAfterMs: number;
  readonly maxSeries: number;
}

/** The number of gaps by reason. `unseen` and `key` are intervals in which not everything was counted. */
export type Gaps = Readonly<Record<string, number>>;

/** The memory of each flow besides the counts. */
export interface ComparisonState<Baseline> {
  readonly gaps: Gaps;
  /** `undefined` before the first document. */
  readonly baseline: Baseline | undefined;
  /** Whether a later document could not be read or contradicts the baseline. The next document is not compared with the baseline either. */
  readonly isInterrupted: boolean;
}

/** The comparison before the first document. */
export function notCompared(reasons: readonly string[]): ComparisonState<never> {
  const gaps = Object.fromEntries(reasons.map((reason) => [reason, 0]));
  return { gaps, baseline: undefined, isInterrupted: false };
}

export function withGap<Flow extends Pick<ComparisonState<unknown>, 'gaps'>>(flow: Flow, reason: string): Flow {
  return { ...flow, gaps: { ...flow.gaps, [reason]: (flow.gaps[reason] ?? 0) + 1 } };
}

/** The baseline stays. An interruption by several documents is one gap. */
export function interrupted<Flow extends ComparisonState<unknown>>(flow: Flow, reason: string): Flow {
  return flow.isInterrupted ? flow : { ...withGap(flow, reason), isInterrupted: true };
}

export function isStale(baseline: { readonly at: Instant }, at: Instant, staleAfterMs: number): boolean {
  return (at - baseline.at) * 1000 > staleAfterMs;
}
