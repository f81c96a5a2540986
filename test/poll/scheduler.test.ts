import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { jobsOf } from '../../src/poll/jobs.js';
import type { PollJob, PollResult } from '../../src/poll/poll.js';
import { startPollLoop, startScheduler, type PollLoop, type Scheduler } from '../../src/poll/scheduler.js';
import { parseValidConfig } from '../support/config.js';

const HOUR = 3_600_000;
const INTERVAL_MS = 1000;

function jobs(password: string, ...names: readonly string[]): PollJob[] {
  const auth = `basic_auth: {username: u, password: ${password}}`;
  const targets = names.map((name) => `{name: ${name}, bridge: {url: "https://${name}.example", ${auth}}}`);
  return jobsOf(parseValidConfig(`targets: [${targets.join(', ')}]`));
}

describe('the scheduler', () => {
  const started: PollJob[] = [];
  const poll = async (job: PollJob): Promise<PollResult> => {
    started.push(job);
    return new Promise<PollResult>(() => undefined);
  };
  let scheduler: Scheduler;

  beforeEach(() => {
    scheduler = startScheduler(poll, () => undefined);
  });

  afterEach(() => {
    scheduler.close();
    vi.useRealTimers();
    started.length = 0;
  });

  const names = () => started.map(({ processing: source }) => source.target);

  it('does not restart unchanged jobs', () => {
    scheduler.replaceJobs(jobs('hunter2', 'a', 'b'), HOUR);
    scheduler.replaceJobs(jobs('hunter2', 'b', 'c'), HOUR);
    expect(names()).toEqual(['a', 'b', 'c']);
  });

  it('starts the first 16 jobs together and the others 10 ms apart', () => {
    vi.useFakeTimers();
    const many = Array.from({ length: 100 }, (_, index) => `chain-${index}`);
    scheduler.replaceJobs(jobs('hunter2', ...many), HOUR);
    const counts = [0, 10, 10, 1000].map((ms) => {
      vi.advanceTimersByTime(ms);
      return started.length;
    });
    expect(counts).toEqual([16, 17, 18, 100]);
    expect(names()).toEqual(many);
  });

  it('restarts a job if its password changes', () => {
    scheduler.replaceJobs(jobs('hunter2', 'a'), HOUR);
    scheduler.replaceJobs(jobs('hunter3', 'a'), HOUR);
    expect(names()).toEqual(['a', 'a']);
    expect(started[1]).not.toBe(started[0]);
    expect(JSON.stringify(started[1])).toBe(JSON.stringify(started[0]));
  });
});

describe('a poll loop', () => {
  let loop: PollLoop | undefined;

  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    loop?.close();
    vi.useRealTimers();
  });

  it('polls immediately, and again one interval with 10 % jitter after the end of each poll', async () => {
    const starts: number[] = [];
    const createdAt = Date.now();
    loop = startPollLoop(async () => void starts.push(Date.now() - createdAt), INTERVAL_MS);
    await vi.advanceTimersByTimeAsync(100 * INTERVAL_MS);
    expect(starts[0]).toBe(0);
    const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    expect(gaps.length).toBeGreaterThan(80);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(900);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1101);
    expect(new Set(gaps).size, 'the gaps differ').toBeGreaterThan(20);
  });

  it('starts after the delay, and never if it is closed before', async () => {
    let polls = 0;
    const poll = async (): Promise<void> => void (polls += 1);
    loop = startPollLoop(poll, 10 * INTERVAL_MS, 2 * INTERVAL_MS);
    const closed = startPollLoop(poll, INTERVAL_MS, INTERVAL_MS);
    closed.close();
    await vi.advanceTimersByTimeAsync(2 * INTERVAL_MS - 1);
    expect(polls).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(polls).toBe(1);
  });

  it('never runs two polls at the same time', async () => {
    let running = 0;
    let polls = 0;
    const slowPoll = async (): Promise<void> => {
      running += 1;
      polls += 1;
      expect(running).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 5 * INTERVAL_MS));
      running -= 1;
    };
    loop = startPollLoop(slowPoll, INTERVAL_MS);
    // A poll and a pause take 6 ± 0.1 intervals: the fifth poll starts before 24.4 and the sixth after 29.5 intervals.
    await vi.advanceTimersByTimeAsync(27 * INTERVAL_MS);
    expect(polls).toBe(5);
  });

  it('stops polling after it is closed during a poll', async () => {
    let polls = 0;
    const poll = async (): Promise<void> => {
      polls += 1;
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    };
    const closed = startPollLoop(poll, INTERVAL_MS);
    await vi.advanceTimersByTimeAsync(INTERVAL_MS / 2);
    closed.close();
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS);
    expect(polls).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
