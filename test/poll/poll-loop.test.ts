import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startPollLoop, type PollLoop } from '../../src/poll/poll-loop.js';

const INTERVAL_MS = 1000;

let poller: PollLoop | undefined;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  poller?.close();
  vi.useRealTimers();
});

describe('the poller', () => {
  it('polls at once, and again within a tenth of the interval after the end', async () => {
    const starts: number[] = [];
    const began = Date.now();
    poller = startPollLoop(async () => void starts.push(Date.now() - began), INTERVAL_MS);
    await vi.advanceTimersByTimeAsync(100 * INTERVAL_MS);
    expect(starts[0]).toBe(0);
    const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    expect(gaps.length).toBeGreaterThan(80);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(900);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1101);
    expect(new Set(gaps).size, 'the gaps differ').toBeGreaterThan(20);
  });

  it('starts later when it is told to, and not at all when it is closed before', async () => {
    let polls = 0;
    const poll = async (): Promise<void> => void (polls += 1);
    poller = startPollLoop(poll, 10 * INTERVAL_MS, 2 * INTERVAL_MS);
    const closing = startPollLoop(poll, INTERVAL_MS, INTERVAL_MS);
    closing.close();
    await vi.advanceTimersByTimeAsync(2 * INTERVAL_MS - 1);
    expect(polls).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(polls).toBe(1);
  });

  it('has one poll under way, however long it takes', async () => {
    let underWay = 0;
    let polls = 0;
    const slow = async (): Promise<void> => {
      underWay += 1;
      polls += 1;
      expect(underWay).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5 * INTERVAL_MS));
      underWay -= 1;
    };
    poller = startPollLoop(slow, INTERVAL_MS);
    // A poll and a pause take six intervals, give or take a tenth of one: the fifth poll starts within 24.4 and the sixth after 29.5.
    await vi.advanceTimersByTimeAsync(27 * INTERVAL_MS);
    expect(polls).toBe(5);
  });

  it('polls no more once it is closed, also when a poll was under way', async () => {
    let polls = 0;
    const poll = async (): Promise<void> => {
      polls += 1;
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    };
    const closing = startPollLoop(poll, INTERVAL_MS);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS / 2);
    closing.close();
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS);
    expect(polls).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
