/** A task that is carried out again and again, never twice at once. */
export interface PollLoop {
  readonly close: () => void;
}

/** Spreads endpoints that start together over time, and keeps exporters that start together from marching in step. */
const JITTER = 0.1;

/**
 * Polls at once or after a delay, then `intervalMs` after each end, give or take a tenth. There is no retry: the next poll is the
 * retry. `poll` must not reject, and has its own deadline.
 */
export function startPollLoop(poll: () => Promise<void>, intervalMs: number, delayMs = 0): PollLoop {
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function run(): Promise<void> {
    await poll();
    if (!closed) timer = setTimeout(start, withJitter(intervalMs));
  }

  function start(): void {
    void run();
  }

  if (delayMs > 0) timer = setTimeout(start, delayMs);
  else start();
  return {
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}

function withJitter(ms: number): number {
  return ms * (1 + JITTER * (2 * Math.random() - 1));
}
