import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startRepeating, type Repeating } from '../src/tasks.js';

const INTERVAL_MS = 1000;

describe('a repeated task', () => {
  let loop: Repeating | undefined;

  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    loop?.close();
    vi.useRealTimers();
  });

  it('runs at once, and again one interval or up to 10 % less after the end of each run', async () => {
    const starts: number[] = [];
    const createdAt = Date.now();
    loop = startRepeating(async () => void starts.push(Date.now() - createdAt), INTERVAL_MS);
    await vi.advanceTimersByTimeAsync(100 * INTERVAL_MS);
    expect(starts[0]).toBe(0);
    const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    expect(gaps.length).toBeGreaterThan(95);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(900);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1000);
    expect(new Set(gaps).size, 'the gaps differ').toBeGreaterThan(20);
  });

  it('runs again after the least pause that it returns, if that is longer', async () => {
    const starts: number[] = [];
    const createdAt = Date.now();
    const pauses = [5 * INTERVAL_MS, 1];
    const task = async (): Promise<number> => {
      starts.push(Date.now() - createdAt);
      return pauses.shift() ?? 0;
    };
    loop = startRepeating(task, INTERVAL_MS);
    await vi.advanceTimersByTimeAsync(6 * INTERVAL_MS);
    expect(starts.slice(0, 2)).toEqual([0, 5 * INTERVAL_MS]);
    expect(starts[2]).toBeGreaterThanOrEqual(5.9 * INTERVAL_MS);
  });

  it('runs the second time after another first pause', async () => {
    const starts: number[] = [];
    const createdAt = Date.now();
    loop = startRepeating(async () => void starts.push(Date.now() - createdAt), INTERVAL_MS, {
      firstPauseMs: INTERVAL_MS / 4,
    });
    await vi.advanceTimersByTimeAsync(3 * INTERVAL_MS);
    const [first = -1, second = -1, third = -1] = starts;
    expect(first).toBe(0);
    expect(second).toBeGreaterThanOrEqual(0.225 * INTERVAL_MS);
    expect(second).toBeLessThanOrEqual(0.25 * INTERVAL_MS);
    expect(third - second).toBeGreaterThanOrEqual(0.9 * INTERVAL_MS);
  });

  it('starts after the delay, and never if it is closed before', async () => {
    let runs = 0;
    const task = async (): Promise<void> => void (runs += 1);
    loop = startRepeating(task, 10 * INTERVAL_MS, { delayMs: 2 * INTERVAL_MS });
    const closed = startRepeating(task, INTERVAL_MS, { delayMs: INTERVAL_MS });
    closed.close();
    await vi.advanceTimersByTimeAsync(2 * INTERVAL_MS - 1);
    expect(runs).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toBe(1);
  });

  it('never runs twice at the same time', async () => {
    let running = 0;
    let runs = 0;
    const slowTask = async (): Promise<void> => {
      running += 1;
      runs += 1;
      expect(running).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5 * INTERVAL_MS));
      running -= 1;
    };
    loop = startRepeating(slowTask, INTERVAL_MS);
    // A run and a pause take 6 ± 0.1 intervals: the fifth run starts before 24.4 and the sixth after 29.5 intervals.
    await vi.advanceTimersByTimeAsync(27 * INTERVAL_MS);
    expect(runs).toBe(5);
  });

  it('stops after it is closed during a run', async () => {
    let runs = 0;
    const task = async (): Promise<void> => {
      runs += 1;
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    };
    const closed = startRepeating(task, INTERVAL_MS);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS / 2);
    closed.close();
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS);
    expect(runs).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
