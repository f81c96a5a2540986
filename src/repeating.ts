import { JITTER } from './config/config.js';

export interface Repeating {
  /** Resolves when the first run has ended, or there will be none. */
  readonly firstRun: Promise<void>;
  readonly close: () => void;
}

/**
 * Runs a task after `delayMs`, then `pauseMs` with 10 % jitter after the end of each run, so runs never overlap. A task can return by how many
 * times the next pause is longer, such as 10 after a body that is hostile. It must not reject, and has its own deadline.
 */
export function startRepeating(task: () => Promise<number | void>, pauseMs: number, delayMs = 0): Repeating {
  let isClosed = false;
  let timer = setTimeout(start, delayMs);
  let endFirstRun: () => void = () => undefined;
  const firstRun = new Promise<void>((resolve) => {
    endFirstRun = resolve;
  });

  async function run(): Promise<void> {
    const pauses = (await task()) ?? 1;
    endFirstRun();
    if (!isClosed) timer = setTimeout(start, pauses * pauseMs * (1 + JITTER * (2 * Math.random() - 1)));
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
