import { keyOf, type Firing } from './firings.js';

/** What other rules change. */
export interface Comparison {
  /** Firings of the first rules without one of the second rules at the same time. */
  readonly gone: readonly Firing[];
  readonly added: readonly Firing[];
  /** The same alerts with another beginning or end. */
  readonly moved: readonly { readonly before: Firing; readonly after: Firing }[];
}

export function compareFirings(before: readonly Firing[], after: readonly Firing[]): Comparison {
  const overlapping = (firing: Firing, others: readonly Firing[]): Firing | undefined =>
    others.find(
      (other) => keyOf(other) === keyOf(firing) && other.fromMs <= firing.untilMs && other.untilMs >= firing.fromMs,
    );
  return {
    gone: before.filter((firing) => overlapping(firing, after) === undefined),
    added: after.filter((firing) => overlapping(firing, before) === undefined),
    moved: before.flatMap((firing) => {
      const other = overlapping(firing, after);
      return other === undefined || (other.fromMs === firing.fromMs && other.untilMs === firing.untilMs)
        ? []
        : [{ before: firing, after: other }];
    }),
  };
}
