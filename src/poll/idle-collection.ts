import { executionAsyncResource } from 'node:async_hooks';
import { Session } from 'node:inspector';
import { nextTick } from 'node:process';
import { getHeapStatistics } from 'node:v8';

/** So long after the last work nothing is expected to come soon. */
const REST_MS = 2_000;

/** Less than this is not worth looking through everything. */
const WORTH_BYTES = 16 * 2 ** 20;

export interface Rest {
  readonly workBegins: () => void;
  readonly workEnds: () => void;
  readonly close: () => void;
}

/**
 * Gives back the memory that V8 has taken for the work of a thread, once that has had none for a while. By itself V8 keeps it: a
 * thread that makes little garbage at a time is not collected as a whole for hours, at rest least of all.
 */
export function createRest(): Rest {
  let underWay = 0;
  let keptBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  keepTick();

  function giveBack(): void {
    if (heldBytes() < keptBytes + WORTH_BYTES) return;
    const session = new Session();
    session.connect();
    session.post('HeapProfiler.collectGarbage', () => {
      keptBytes = heldBytes();
      // It is still talking to the session.
      setImmediate(() => session.disconnect());
    });
  }

  return {
    workBegins: () => {
      underWay += 1;
      clearTimeout(timer);
    },
    workEnds: () => {
      underWay -= 1;
      if (underWay === 0) timer = setTimeout(giveBack, REST_MS).unref();
    },
    close: () => clearTimeout(timer),
  };
}

const kept = new Set<object>();

/**
 * Keeps one of the objects with which Node.js queues what `nextTick` is given. When a collection finds none, V8 loses their shape
 * and makes them the slow way from then on, several for each answer that is sent: a scrape takes a tenth longer for good.
 */
function keepTick(): void {
  nextTick(() => kept.add(executionAsyncResource()));
}

function heldBytes(): number {
  return getHeapStatistics().total_physical_size;
}
