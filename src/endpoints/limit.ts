/** Runs a task when fewer than the maximum are running, in the order of the calls. */
export type Limit = <T>(task: () => Promise<T>) => Promise<T>;

export function createLimit(maximum: number): Limit {
  let running = 0;
  const waiting: (() => void)[] = [];

  return async (task) => {
    if (running >= maximum) {
      // Whoever ends hands over the place, so the number of running tasks stays.
      await new Promise<void>((start) => {
        waiting.push(start);
      });
    } else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
