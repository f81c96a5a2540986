import { isDeepStrictEqual } from 'node:util';
import { clock, type Instant } from './clock.js';
import type { PollExecutor, PollJob, PollResult } from './poll.js';

/** Runs one poll loop for each job, so that an endpoint that fails or hangs does not delay others. */
export interface Scheduler {
  /** Replaces all jobs. Unchanged ones continue; new and changed ones are polled as soon as the start spacing allows. */
  readonly replaceJobs: (jobs: readonly PollJob[], intervalMs: number) => void;
  readonly close: () => void;
}

/** Number of polls that start at once; later ones start one by one, so that a thousand documents are not in memory together. */
const SIMULTANEOUS_STARTS = 16;
const START_SPACING_MS = 10;

interface JobLoop extends PollLoop {
  readonly job: PollJob;
}

/** `record` receives the result of each poll. */
export function startScheduler(
  executor: PollExecutor,
  record: (job: PollJob, result: PollResult, at: Instant) => void,
): Scheduler {
  let loops = new Map<string, JobLoop>();

  function startJob(job: PollJob, intervalMs: number, delayMs: number): JobLoop {
    let isCurrent = true;
    const poll = async (): Promise<void> => {
      const result = await executor.poll(job);
      // The job may have been replaced during the poll.
      if (isCurrent) record(job, result, clock());
    };
    const loop = startPollLoop(poll, intervalMs, delayMs);
    return {
      job,
      close: () => {
        isCurrent = false;
        loop.close();
      },
    };
  }

  return {
    replaceJobs: (jobs, intervalMs) => {
      const previous = loops;
      const jobsByKey = new Map(jobs.map((job) => [JSON.stringify([job, intervalMs]), job]));
      // Secrets are redacted in JSON, so a changed password is detected by deep comparison only.
      const unchanged = (key: string): JobLoop | undefined => {
        const loop = previous.get(key);
        return loop !== undefined && isDeepStrictEqual(loop.job, jobsByKey.get(key)) ? loop : undefined;
      };
      for (const [key, loop] of previous) if (unchanged(key) === undefined) loop.close();
      let started = 0;
      const startNext = (job: PollJob): JobLoop => {
        started += 1;
        return startJob(job, intervalMs, Math.max(0, started - SIMULTANEOUS_STARTS) * START_SPACING_MS);
      };
      loops = new Map(Array.from(jobsByKey, ([key, job]) => [key, unchanged(key) ?? startNext(job)]));
    },
    close: () => {
      for (const loop of loops.values()) loop.close();
    },
  };
}

export interface PollLoop {
  readonly close: () => void;
}

/** Spreads the load over time, within one exporter and between exporters that start together. */
const JITTER = 0.1;

/**
 * Polls after `delayMs`, then `intervalMs` with 10 % jitter after the end of each poll, so polls never overlap. There is no retry:
 * the next poll is the retry. `poll` must not reject, and has its own deadline.
 */
export function startPollLoop(poll: () => Promise<void>, intervalMs: number, delayMs = 0): PollLoop {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function run(): Promise<void> {
    await poll();
    if (!isClosed) timer = setTimeout(start, intervalMs * (1 + JITTER * (2 * Math.random() - 1)));
  }

  function start(): void {
    void run();
  }

  if (delayMs > 0) timer = setTimeout(start, delayMs);
  else start();
  return {
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
