import { isDeepStrictEqual } from 'node:util';
import { clock } from './clock.js';
import type { Job, PollResult } from './collect.js';
import type { Collector } from './collector.js';
import type { Instant } from './endpoint-state.js';
import { startPollLoop, type PollLoop } from './poll-loop.js';

/** Everything that is polled. */
export interface Scheduler {
  /** Goes on with other jobs: what is unchanged is not disturbed, what is new or changed is polled at once, as far as it is few. */
  readonly change: (jobs: readonly Job[], intervalMs: number) => void;
  readonly close: () => void;
}

interface PolledJob extends PollLoop {
  readonly job: Job;
}

/** A thousand answers at once would be a thousand documents in memory: so many polls start together, the others one by one. */
const FIRST_STARTS = 16;
const START_SPACING_MS = 10;

/** Polls every job by itself, so that one that fails or hangs delays no other. `record` gets what came of each poll. */
export function startScheduler(
  collector: Collector,
  record: (job: Job, outcome: PollResult, at: Instant) => void,
): Scheduler {
  let pollers = new Map<string, PolledJob>();

  function start(job: Job, intervalMs: number, delayMs: number): PolledJob {
    let isCurrent = true;
    const poller = startPollLoop(
      async () => {
        const outcome = await collector.collect(job);
        // A poll that was under way when its job was changed answers a question nobody asks any more.
        if (isCurrent) record(job, outcome, clock());
      },
      intervalMs,
      delayMs,
    );
    return {
      job,
      close: () => {
        isCurrent = false;
        poller.close();
      },
    };
  }

  return {
    change: (jobs, intervalMs) => {
      const before = pollers;
      const wanted = new Map(jobs.map((job) => [JSON.stringify([job, intervalMs]), job]));
      // JSON leaves out the secrets, hence the second look.
      const known = (key: string): PolledJob | undefined => {
        const poller = before.get(key);
        return poller !== undefined && isDeepStrictEqual(poller.job, wanted.get(key)) ? poller : undefined;
      };
      for (const [key, poller] of before) if (known(key) === undefined) poller.close();
      let started = 0;
      const startNext = (job: Job): PolledJob => {
        started += 1;
        return start(job, intervalMs, Math.max(0, started - FIRST_STARTS) * START_SPACING_MS);
      };
      pollers = new Map(Array.from(wanted, ([key, job]) => [key, known(key) ?? startNext(job)]));
    },
    close: () => {
      for (const poller of pollers.values()) poller.close();
    },
  };
}
