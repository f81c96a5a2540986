import type { Instant } from '../poll/clock.js';
import type { Finding } from './condition.js';
import { MINUTE_MS, type Interruption } from './poll-history.js';

/*
 * Since when the findings of an endpoint last. One entry per present finding, so the memory is bounded like the series of the
 * endpoint, and independent of the ranges of the rules.
 */

/** How long a finding has been in every successful poll. */
export interface Run {
  readonly since: Instant;
  readonly unchanged: number | undefined;
  /** Whether it began with the first poll, or with the first one after the series were withdrawn, and so may be older. */
  readonly mayBeOlder: boolean;
}

export type Runs = ReadonlyMap<string, Run>;

export interface KeyedFinding extends Finding {
  /** Identifies the finding among those of an endpoint. */
  readonly key: string;
}

/** The runs after a poll with these findings. Runs without a finding, or with another value of `unchanged`, end. */
export function continueRuns(before: Runs, findings: readonly KeyedFinding[], at: Instant, mayBeOlder: boolean): Runs {
  return new Map(
    findings.map(({ key, unchanged }) => {
      const run = before.get(key);
      return [key, run !== undefined && run.unchanged === unchanged ? run : { since: at, unchanged, mayBeOlder }];
    }),
  );
}

/** The durations of an alert rule. */
export interface RuleDurations {
  readonly rangeMinutes: number;
  readonly forMinutes: number;
  readonly keepMinutes: number;
}

/**
 * From when on the alert rule fires for a finding that has been present since `sinceMs`; in the future if it is not firing at `nowMs`. The
 * expression is true from the end of the range on, except during interruptions, and also when `offset` points into a period without
 * series. An interruption restarts `for`, and ends a firing alert when it is longer than `keep_firing_for`.
 */
export function firingSinceMs(
  { rangeMinutes, forMinutes, keepMinutes }: RuleDurations,
  sinceMs: number,
  nowMs: number,
  interruptions: readonly Interruption[],
): number {
  const rangeMs = rangeMinutes * MINUTE_MS;
  const forMs = forMinutes * MINUTE_MS;
  let trueSinceMs = sinceMs + rangeMs;
  let activeSinceMs: number | undefined;
  for (const { fromMs, untilMs } of falsePeriods(interruptions, rangeMs)) {
    if (fromMs >= nowMs) break;
    if (untilMs <= trueSinceMs) continue;
    if (fromMs - trueSinceMs >= forMs) activeSinceMs ??= trueSinceMs + forMs;
    if (Math.min(untilMs, nowMs) - Math.max(fromMs, trueSinceMs) > keepMinutes * MINUTE_MS) activeSinceMs = undefined;
    trueSinceMs = untilMs;
  }
  return activeSinceMs ?? trueSinceMs + forMs;
}

/** When the expression is false although the finding is present: merged, in order. */
function falsePeriods(
  interruptions: readonly Interruption[],
  rangeMs: number,
): readonly Omit<Interruption, 'isWithdrawn'>[] {
  const periods = interruptions.flatMap(({ fromMs, untilMs, isWithdrawn }) => [
    { fromMs, untilMs },
    ...(isWithdrawn && rangeMs > 0 ? [{ fromMs: fromMs + rangeMs, untilMs: untilMs + rangeMs }] : []),
  ]);
  const merged: { fromMs: number; untilMs: number }[] = [];
  for (const period of periods.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = merged.at(-1);
    if (last !== undefined && period.fromMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, period.untilMs);
    else merged.push({ ...period });
  }
  return merged;
}
