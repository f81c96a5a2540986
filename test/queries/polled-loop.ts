import type { RequestListener } from 'node:http';
import { pino } from 'pino';
import { clock } from '../support/clock.js';
import type { Moment } from '../../src/clock.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import { createNetwork } from '../../src/sources/network.js';
import { createJobs } from '../../src/engine/jobs.js';
import { createPollLoop } from '../../src/engine/loop.js';
import type { Model } from '../../src/simulator/model.js';
import { executeQuery, parseRequest } from '../../src/simulator/query-service.js';
import { atEnd } from '../support/at-end.js';
import { parseValidConfig } from '../support/config.js';
import { waitUntil } from '../support/wait-for.js';

/** Polls of real nodes until the end of the test, on clocks that a test moves forward. The lines of the log are kept. */
export function createPolledLoop() {
  let elapsedMs = 0;
  const now = (): Moment => {
    const { at, clockOffset } = clock();
    return { at: at + elapsedMs / 1000, clockOffset };
  };
  const logged: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const network = createNetwork('test', now);
  const loop = createPollLoop({ source: network, log, now });
  atEnd(() => {
    loop.close();
    network.close();
  });
  const polls = (): number => loop.states()[0]?.polls ?? 0;
  return {
    loop,
    now,
    logged,
    configure: (yaml: string): void => {
      const config = parseValidConfig(yaml);
      loop.reconcile(createJobs(config), now().at);
    },
    advance: (ms: number): void => {
      elapsedMs += ms;
    },
    /** Of the first endpoint. */
    polls,
    /** Waits until polls that have begun from now on have ended. */
    nextPolls: async (count = 2): Promise<void> => {
      const before = polls();
      await waitUntil(() => polls() >= before + count);
    },
    exposition: (): string => renderEndpoints(loop.states(), 'text', now()),
  };
}

export type PolledLoop = ReturnType<typeof createPolledLoop>;

/** Responds as a node of the simulated chain. */
export const respondAs =
  (model: Model): RequestListener =>
  (request, response) => {
    const query = parseRequest('GET', request.url ?? '');
    const { status, headers, body } = 'endpoint' in query ? executeQuery(model, query) : query;
    response.writeHead(status, headers).end(body);
  };
