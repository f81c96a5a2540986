import { setTimeout as delay } from 'node:timers/promises';

/* How tasks wait for each other and for the next run, and how a computation yields. */

/** Runs a task when fewer than the maximum are running with the same key, in the order of the calls. */
export type Limit = <T>(key: string, task: () => Promise<T>) => Promise<T>;

export function createLimit(maximum: number): Limit {
  const queues = new Map<string, { running: number; readonly waiting: (() => void)[] }>();

  return async (key, task) => {
    const queue = queues.get(key) ?? { running: 0, waiting: [] };
    queues.set(key, queue);
    if (queue.running < maximum) queue.running += 1;
    // A task that ends passes its slot on, so the number of running tasks does not change.
    else await new Promise<void>((start) => void queue.waiting.push(start));
    try {
      return await task();
    } finally {
      const next = queue.waiting.shift();
      if (next === undefined) queue.running -= 1;
      else next();
      if (queue.running === 0) queues.delete(key);
    }
  };
}

/** Runs tasks one after the other, in the order of the calls. A task that rejects does not stop the others. */
export function createQueue(): <T>(task: () => Promise<T>) => Promise<T> {
  const limit = createLimit(1);
  return async (task) => limit('', task);
}

/** The result of a task, or `undefined` if it takes longer. */
export async function withinMs<T>(ms: number, task: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  const timeout = delay(Math.max(0, ms), undefined, { signal: timer.signal }).catch(() => undefined);
  try {
    return await Promise.race([task, timeout]);
  } finally {
    timer.abort();
  }
}

export interface Repeating {
  /** Resolves when the first run has ended, or there will be none. */
  readonly firstRun: Promise<void>;
  readonly close: () => void;
}

/**
 * Runs a task after `delayMs`, then `pauseMs` or up to 10 % less after the end of each run, so runs never overlap.
 * Tasks that start together with different `firstPauseMs` do not run together again. A task can return the minimum
 * length of the next pause in milliseconds. It must not reject, and has its own deadline.
 */
export function startRepeating(
  task: () => Promise<number | void>,
  pauseMs: number,
  { delayMs = 0, firstPauseMs = pauseMs } = {},
): Repeating {
  let isClosed = false;
  let nextPauseMs = firstPauseMs;
  let timer = setTimeout(start, delayMs);
  let endFirstRun: () => void = () => undefined;
  const firstRun = new Promise<void>((resolve) => {
    endFirstRun = resolve;
  });

  async function run(): Promise<void> {
    const leastMs = (await task()) ?? 0;
    endFirstRun();
    if (!isClosed) timer = setTimeout(start, Math.max(leastMs, nextPauseMs * (1 - 0.1 * Math.random())));
    nextPauseMs = pauseMs;
  }

  function start(): void {
    void run();
  }

  return {
    firstRun,
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      endFirstRun();
    },
  };
}

/** A computation in parts. It yields where scrapes can be answered in between. */
export type InParts<T> = Generator<undefined, T, undefined>;

/** Runs all parts at once. */
export function runToEnd<T>(parts: InParts<T>): T {
  let part = parts.next();
  while (part.done !== true) part = parts.next();
  return part.value;
}
