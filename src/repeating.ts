export interface Repeating {
  readonly close: () => void;
}

/** Spreads the load over time, within one exporter and between exporters that start together. */
const JITTER = 0.1;

/**
 * Runs a task after `delayMs`, then `pauseMs` with 10 % jitter after the end of each run, so runs never overlap. The task must not
 * reject, and has its own deadline.
 */
export function startRepeating(task: () => Promise<void>, pauseMs: number, delayMs = 0): Repeating {
  let isClosed = false;
  let timer = setTimeout(start, delayMs);

  async function run(): Promise<void> {
    await task();
    if (!isClosed) timer = setTimeout(start, pauseMs * (1 + JITTER * (2 * Math.random() - 1)));
  }

  function start(): void {
    void run();
  }

  return {
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
