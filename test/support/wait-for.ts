import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Below the time limit of a test, so that this error with the last value is reported instead. */
const TIMEOUT_MS = 50_000;
const INTERVAL_MS = 25;

interface WaitOptions {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
}

/** Calls `read` until `isDone` accepts the value, and returns it. Rejects after the timeout, or when `read` rejects. */
export async function waitFor<Value>(
  read: () => Value | Promise<Value>,
  isDone: (value: Value) => boolean,
  { timeoutMs = TIMEOUT_MS, intervalMs = INTERVAL_MS }: WaitOptions = {},
): Promise<Value> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (isDone(value)) return value;
    if (performance.now() > deadline) {
      throw new Error(`the condition is not met within ${timeoutMs} ms; the last value is ${inspect(value)}`);
    }
    await sleep(intervalMs);
  }
}

/** Waits until the condition is met. */
export async function waitUntil(isMet: () => boolean | Promise<boolean>, options?: WaitOptions): Promise<void> {
  await waitFor(isMet, (met) => met, options);
}
