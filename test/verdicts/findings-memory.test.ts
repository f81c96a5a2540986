import { describe, expect, it } from 'vitest';
import { continueRuns, firingSinceMs, type KeyedFinding, type Runs } from '../../src/verdicts/findings-memory.js';
import type { Interruption } from '../../src/verdicts/poll-history.js';

const at = (minute: number) => ({ epochSeconds: 1_790_000_000 + minute * 60, monotonicMs: minute * 60_000 });

const finding = (key: string, unchanged?: number): KeyedFinding => ({ key, labels: {}, value: 1, unchanged });

/** Runs after polls, one per minute, with these findings. */
function runsAfter(...polls: readonly (readonly KeyedFinding[])[]): Record<string, number> {
  const runs = polls.reduce<Runs>(
    (before, findings, minute) => continueRuns(before, findings, at(minute), minute === 0),
    new Map(),
  );
  return Object.fromEntries(Array.from(runs, ([key, { since }]) => [key, since.monotonicMs / 60_000]));
}

describe('the memory of findings', () => {
  it('lasts while the finding is in every poll', () => {
    expect(runsAfter([finding('a')], [finding('a')], [finding('a'), finding('b')])).toEqual({ a: 0, b: 2 });
  });

  it('begins again after a poll without the finding', () => {
    expect(runsAfter([finding('a')], [], [finding('a')])).toEqual({ a: 2 });
  });

  it('begins again with another value of what must not change', () => {
    expect(runsAfter([finding('a', 7)], [finding('a', 8)], [finding('a', 8)])).toEqual({ a: 1 });
  });

  it('contains only findings of the last poll, however many there were', () => {
    const polls = Array.from({ length: 1000 }, (_, poll) => [finding(`chain ${poll}`)]);
    expect(runsAfter(...polls)).toEqual({ 'chain 999': 999 });
  });
});

const withdrawn = (from: number, until: number): Interruption => ({
  fromMs: from * 60_000,
  untilMs: until * 60_000,
  isWithdrawn: true,
});
const outdated = (from: number, until: number): Interruption => ({ ...withdrawn(from, until), isWithdrawn: false });

/** The first and last minute, and those in between at which the answer changes, of a finding present since minute 0. */
function firingMinutes(range: number, interruptions: readonly Interruption[]): string {
  const durations = { rangeMinutes: range, forMinutes: 5, keepMinutes: 20 };
  const minutes = Array.from({ length: 121 }, (_, minute) => minute).filter(
    (minute) => firingSinceMs(durations, 0, minute * 60_000, interruptions) <= minute * 60_000,
  );
  const starts = minutes.filter((minute) => !minutes.includes(minute - 1));
  const ends = minutes.filter((minute) => !minutes.includes(minute + 1));
  return starts.map((start, index) => `${start}-${ends[index]}`).join(' ');
}

describe('an alert with a range of 15 minutes and 5 minutes of `for`', () => {
  it.each([
    ['fires after both', [], '20-120'],
    ['starts `for` again after an interruption', [outdated(17, 18)], '23-120'],
    ['is kept during a short interruption', [outdated(30, 45)], '20-120'],
    ['resolves when an interruption is longer than `keep_firing_for`', [outdated(30, 60)], '20-50 65-120'],
    ['waits until `offset` no longer points into a period without series', [withdrawn(8, 20)], '40-120'],
    ['is not affected by an interruption before the finding', [withdrawn(-20, -10)], '20-120'],
  ])('%s', (_title, interruptions, expected) => {
    expect(firingMinutes(15, interruptions)).toBe(expected);
  });

  it('has no `offset` without a range', () => {
    expect(firingMinutes(0, [withdrawn(2, 3)])).toBe('8-120');
  });
});
