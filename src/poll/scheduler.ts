import { isDeepStrictEqual } from 'node:util';
import { clock, type Instant } from './clock.js';
import type { DocumentPath } from '../chain/dialects.js';
import { endpointKeyOf, haveSameEndpoint, startingWith } from './jobs.js';
import type { PollJob, PollResult } from './poll.js';

/** Runs one poll loop for each job, so that an endpoint that fails or hangs does not delay others. */
export interface Scheduler {
  /** Replaces all jobs. Unchanged ones continue; new and changed ones are polled at once, or within seconds when there are many. */
  readonly replaceJobs: (jobs: readonly PollJob[], intervalMs: number) => void;
  readonly close: () => void;
}

/** Number of polls that start at once; later ones start one by one, so that a thousand documents are not in memory together. */
const SIMULTANEOUS_STARTS = 16;
const START_SPACING_MS = 10;

interface JobLoop extends PollLoop {
  readonly job: PollJob;
  readonly intervalMs: number;
  /** The path that worked last; `undefined` before the first success. */
  readonly lastPath: () => DocumentPath | undefined;
}

/** `record` receives the result of each poll. A poll requests first the path at which the last successful one found the document. */
export function startScheduler(
  pollOnce: (job: PollJob) => Promise<PollResult>,
  record: (job: PollJob, result: PollResult, at: Instant) => void,
): Scheduler {
  let loops = new Map<string, JobLoop>();

  function startJob(job: PollJob, intervalMs: number, delayMs: number, previous: JobLoop | undefined): JobLoop {
    let isCurrent = true;
    let lastPath = previous !== undefined && haveSameEndpoint(previous.job, job) ? previous.lastPath() : undefined;
    const poll = async (): Promise<void> => {
      const result = await pollOnce(
        lastPath === undefined ? job : { ...job, paths: startingWith(lastPath, job.paths) },
      );
      lastPath = result.foundAt ?? lastPath;
      // The job may have been replaced during the poll.
      if (isCurrent) record(job, result, clock());
    };
    const loop = startPollLoop(poll, intervalMs, delayMs);
    return {
      job,
      intervalMs,
      lastPath: () => lastPath,
      close: () => {
        isCurrent = false;
        loop.close();
      },
    };
  }

  return {
    replaceJobs: (jobs, intervalMs) => {
      const previous = loops;
      const isUnchanged = (loop: JobLoop, job: PollJob): boolean =>
        loop.intervalMs === intervalMs && isDeepStrictEqual(loop.job, job);
      let started = 0;
      const startNext = (job: PollJob, loop: JobLoop | undefined): JobLoop => {
        started += 1;
        return startJob(job, intervalMs, Math.max(0, started - SIMULTANEOUS_STARTS) * START_SPACING_MS, loop);
      };
      loops = new Map();
      for (const job of jobs) {
        const key = JSON.stringify(endpointKeyOf(job.processing));
        const loop = previous.get(key);
        loops.set(key, loop !== undefined && isUnchanged(loop, job) ? loop : startNext(job, loop));
      }
      for (const [key, loop] of previous) if (loops.get(key) !== loop) loop.close();
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
