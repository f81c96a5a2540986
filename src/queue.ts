/** Runs tasks one after the other, in the order of the calls. A task that rejects does not stop the others. */
export type Queue = <T>(task: () => Promise<T>) => Promise<T>;

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const next = last.then(task, task);
    last = next;
    return next;
  };
}
