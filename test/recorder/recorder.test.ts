import { describe, expect, it } from 'vitest';
import { selectPoll, type RecordingMemory } from '../../src/recorder/recorder.js';

const MINUTE = 60_000;

type Outcome = Parameters<typeof selectPoll>[1];
/** A condition of the target begins in a poll that ends with `!`. */
type Poll = Outcome | 'ok!';

/** The minutes of the selected polls of an endpoint that is polled every minute. */
function selected(polls: readonly Poll[], intervalMs: number): number[] {
  let memory: RecordingMemory = {};
  return polls.flatMap((poll, minute) => {
    const before = poll === 'ok!' ? { ...memory, isChanged: true } : memory;
    const result = selectPoll(before, poll === 'ok!' ? 'ok' : poll, minute * MINUTE, intervalMs);
    ({ memory } = result);
    return result.isSelected ? [minute] : [];
  });
}

const repeat = (poll: Poll, count: number): Poll[] => Array.from({ length: count }, () => poll);

describe('the selection of polls to record', () => {
  it('has at most one successful poll per interval', () => {
    expect(selected(repeat('ok', 12), 5 * MINUTE)).toEqual([0, 5, 10]);
  });

  it('has every poll without an interval, also equal failures', () => {
    const polls: Poll[] = ['ok', 'ok', 'timeout', 'timeout', 'schema', 'schema', 'ok'];
    expect(selected(polls, 0)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('has the first poll after a condition of the target began or ended, and counts the interval from it', () => {
    expect(selected([...repeat('ok', 3), 'ok!', ...repeat('ok', 6)], 5 * MINUTE)).toEqual([0, 3, 8]);
  });

  it('keeps a change of the conditions until the next successful poll', () => {
    const changed = selectPoll({ outcome: 'ok', okAtMs: 0, isChanged: true }, 'timeout', MINUTE, 60 * MINUTE);
    expect(changed.memory.isChanged).toBe(true);
    expect(selectPoll({ ...changed.memory, outcome: 'ok' }, 'ok', 2 * MINUTE, 60 * MINUTE).isSelected).toBe(true);
  });

  it('has the first of equal failures, and their end', () => {
    const polls: Poll[] = ['ok', ...repeat('timeout', 30), ...repeat('connect', 30), 'ok', 'ok'];
    expect(selected(polls, 5 * MINUTE)).toEqual([0, 1, 31, 61]);
  });

  it('has failures with a body once per interval', () => {
    expect(selected(['ok', ...repeat('not_json', 12)], 5 * MINUTE)).toEqual([0, 1, 6, 11]);
    expect(selected(['ok', ...repeat('regression', 2), 'ok'], 5 * MINUTE)).toEqual([0, 1, 3]);
  });
});
