import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Job, PollResult } from '../../src/poll/collect.js';
import type { Collector } from '../../src/poll/collector.js';
import { parseConfig } from '../../src/config/parser.js';
import { jobsOf } from '../../src/poll/jobs.js';
import { startScheduler, type Scheduler } from '../../src/poll/scheduler.js';

const HOUR = 3_600_000;

function jobs(password: string, ...names: readonly string[]): Job[] {
  const auth = `basic_auth: {username: u, password: ${password}}`;
  const targets = names.map((name) => `{name: ${name}, bridge: {url: "https://${name}.example", ${auth}}}`);
  const parsed = parseConfig(`targets: [${targets.join(', ')}]`, 'test');
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return jobsOf(parsed.config);
}

describe('polling goes on with other jobs', () => {
  const asked: Job[] = [];
  const collector: Collector = {
    collect: (job) => {
      asked.push(job);
      return new Promise<PollResult>(() => undefined);
    },
    close: async () => undefined,
  };
  let polling: Scheduler | undefined;

  afterEach(() => {
    polling?.close();
    vi.useRealTimers();
    asked.length = 0;
  });

  const names = () => asked.map(({ source: reading }) => reading.target);

  it('and disturbs none that is the same', () => {
    polling = startScheduler(collector, () => undefined);
    polling.change(jobs('hunter2', 'a', 'b'), HOUR);
    polling.change(jobs('hunter2', 'b', 'c'), HOUR);
    expect(names()).toEqual(['a', 'b', 'c']);
  });

  it('starts the first ones together and the others one by one', () => {
    vi.useFakeTimers();
    polling = startScheduler(collector, () => undefined);
    const many = Array.from({ length: 100 }, (_, index) => `chain-${index}`);
    polling.change(jobs('hunter2', ...many), HOUR);
    const counts = [0, 10, 10, 1000].map((ms) => {
      vi.advanceTimersByTime(ms);
      return asked.length;
    });
    expect(counts).toEqual([16, 17, 18, 100]);
    expect(names()).toEqual(many);
  });

  it('and takes a new password for a change, though nothing shows it', () => {
    polling = startScheduler(collector, () => undefined);
    polling.change(jobs('hunter2', 'a'), HOUR);
    polling.change(jobs('hunter3', 'a'), HOUR);
    expect(names()).toEqual(['a', 'a']);
    expect(asked[1]).not.toBe(asked[0]);
    expect(JSON.stringify(asked[1])).toBe(JSON.stringify(asked[0]));
  });
});
