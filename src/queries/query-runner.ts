import type { Logger } from 'pino';
import type { Instant } from '../clock.js';
import type { EndpointState } from '../poll/endpoint-state.js';
import type { PollExecutor, PollJob } from '../poll/poll.js';
import { queryContext } from '../poll/jobs.js';
import type { NodeQuery, QueryRequest } from './query.js';
import { isNotServed } from './query-attempts.js';
import { dueQueries, withAttempt, withResults, type QueryResult, type QueryStates } from './query-state.js';

/* Sends the queries of endpoints that are due, after their polls. */

/** Requests at a time, of all endpoints. */
const SIMULTANEOUS_REQUESTS = 4;

interface QueryRunner {
  /** Sends the queries of an endpoint that are due. Its last poll has succeeded. */
  readonly run: (job: PollJob) => void;
}

/** `find` returns the state of the endpoint of a job while it exists; `change` replaces the states of its queries. */
export function createQueryRunner(
  executor: Pick<PollExecutor, 'sendQuery'>,
  log: Logger,
  now: () => Instant,
  find: (job: PollJob) => EndpointState | undefined,
  change: (job: PollJob, queries: QueryStates) => void,
): QueryRunner {
  const limit = createLimit(SIMULTANEOUS_REQUESTS);
  /** The queries of each job that have not ended. */
  const running = new WeakMap<PollJob, Set<string>>();

  async function send(job: PollJob, query: NodeQuery, request: QueryRequest): Promise<QueryResult | undefined> {
    // A reload can remove the endpoint while the request waits.
    return limit(async () => (find(job) === undefined ? undefined : executor.sendQuery(job, query, request)));
  }

  async function runQuery(job: PollJob, query: NodeQuery): Promise<void> {
    const state = find(job);
    const context = state && queryContext(job.context, state, now());
    if (state === undefined || context === undefined) return;
    const requests = query.requests(context);
    if (requests.length > 0) change(job, withAttempt(state.queries, query, now()));
    const results = await Promise.all(
      requests.map(async (request) => [request, await send(job, query, request)] as const),
    );
    const current = find(job);
    if (current === undefined) return;
    const answered = results.flatMap(([request, result]) => (result === undefined ? [] : [[request, result] as const]));
    const queries = withResults(current.queries, query, context, answered, now());
    change(job, queries);
    logQuery(log, current, query, queries);
  }

  async function runOnce(job: PollJob, query: NodeQuery): Promise<void> {
    const ofJob = running.get(job) ?? new Set();
    if (ofJob.has(query.name)) return;
    running.set(job, ofJob.add(query.name));
    try {
      await runQuery(job, query);
    } finally {
      ofJob.delete(query.name);
    }
  }

  return {
    run: (job) => {
      const state = find(job);
      if (state === undefined) return;
      for (const query of dueQueries(state.queries, now())) void runOnce(job, query);
    },
  };
}

/** Logs the first of equal failures, and the end of them. */
function logQuery(
  log: Logger,
  { target, document, queries }: EndpointState,
  { name: query }: NodeQuery,
  states: QueryStates,
): void {
  const before = queries.get(query);
  const after = states.get(query);
  if (before === undefined || after === undefined) return;
  const { failure } = after;
  if (failure !== undefined && failure.reason !== before.failure?.reason) {
    log.warn({ target, document, query, reason: failure.reason }, `query of the node failed: ${failure.message}`);
  }
  if (isNotServed(after.attempts) && !isNotServed(before.attempts)) {
    log.info({ target, document, query }, 'the node does not serve the query; it is sent again every hour');
  }
  if (failure === undefined && before.failure !== undefined) {
    log.info({ target, document, query }, 'query of the node has no failures any more');
  }
}

/** Runs a task when fewer than the maximum are running, in the order of the calls. */
type Limit = <T>(task: () => Promise<T>) => Promise<T>;

function createLimit(maximum: number): Limit {
  let running = 0;
  const waiting: (() => void)[] = [];

  return async (task) => {
    if (running >= maximum) {
      // A task that ends passes its slot on, so the number of running tasks does not change.
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
