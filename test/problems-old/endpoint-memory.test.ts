import { describe, expect, it } from 'vitest';
import type { AlertFinding } from '../../src/alerts/alerts.js';
import { presencesAfter, type Presences } from '../../src/alerts/endpoint-memory.js';

const at = (minute: number) => ({ epochSeconds: 1_790_000_000 + minute * 60, monotonicMs: minute * 60_000 });

type KeyedFinding = Pick<AlertFinding, 'key' | 'unchangedValue'>;

const finding = (key: string, unchangedValue?: number): KeyedFinding => ({ key, unchangedValue });

/** Since which minute findings are present, after polls with these findings, one per minute. */
function presentSince(...polls: readonly (readonly KeyedFinding[])[]): Record<string, number> {
  const presences = polls.reduce<Presences>(
    (before, findings, minute) => presencesAfter(before, findings, at(minute), minute === 0),
    new Map(),
  );
  return Object.fromEntries(Array.from(presences, ([key, { since }]) => [key, since.monotonicMs / 60_000]));
}

describe('the memory of findings', () => {
  it('lasts while the finding is in every poll', () => {
    expect(presentSince([finding('a')], [finding('a')], [finding('a'), finding('b')])).toEqual({ a: 0, b: 2 });
  });

  it('begins again after a poll without the finding', () => {
    expect(presentSince([finding('a')], [], [finding('a')])).toEqual({ a: 2 });
  });

  it('begins again with another value of what must not change', () => {
    expect(presentSince([finding('a', 7)], [finding('a', 8)], [finding('a', 8)])).toEqual({ a: 1 });
  });

  it('contains only findings of the last poll, however many there were', () => {
    const polls = Array.from({ length: 1000 }, (_, poll) => [finding(`chain ${poll}`)]);
    expect(presentSince(...polls)).toEqual({ 'chain 999': 999 });
  });
});
