import { Agent, type Dispatcher } from 'undici';
import { createConnector, type ConnectionSettings } from './connector.js';

/** A way to a node, open for use. */
interface PooledAgent {
  readonly dispatcher: Dispatcher;
  users: number;
  unusedSinceMs: number;
}

export interface Agents {
  /** Carries out a task with a dispatcher for the route; routes that are alike to the last letter share one. */
  readonly use: <T>(route: ConnectionSettings, task: (dispatcher: Dispatcher) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

/** Longer than the pause between most polls, and short enough that a certificate that was replaced is soon forgotten. */
const IDLE_MS = 60_000;

/**
 * One dispatcher for each route, closed when nobody has taken it for a while: after a certificate was replaced, or its
 * endpoint went away. By content rather than by endpoint, so that nobody has to say that one went away.
 */
export function createAgents(idleMs = IDLE_MS): Agents {
  const ways = new Map<string, PooledAgent>();

  function closeIdle(nowMs: number): void {
    for (const [key, { dispatcher, users, unusedSinceMs }] of ways) {
      if (users > 0 || nowMs - unusedSinceMs < idleMs) continue;
      ways.delete(key);
      void dispatcher.destroy();
    }
  }

  function wayOf(route: ConnectionSettings): PooledAgent {
    const key = JSON.stringify([route.tls, route.proxy]);
    const known = ways.get(key);
    if (known !== undefined) return known;
    const way = { dispatcher: createDispatcher(route), users: 0, unusedSinceMs: 0 };
    ways.set(key, way);
    return way;
  }

  return {
    use: async (route, task) => {
      const way = wayOf(route);
      way.users += 1;
      closeIdle(performance.now());
      try {
        return await task(way.dispatcher);
      } finally {
        way.users -= 1;
        way.unusedSinceMs = performance.now();
      }
    },
    close: async () => {
      await Promise.all(Array.from(ways.values(), ({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

function createDispatcher(route: ConnectionSettings): Dispatcher {
  return new Agent({ connect: createConnector(route), headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 16 * 1024 });
}
