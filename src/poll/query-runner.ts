import type { Logger } from 'pino';
import type { Instant } from '../clock.js';
import type { DocumentName, StepContext } from '../document-types.js';
import type { NodeQuery, QueryContext } from '../queries/query.js';
import { afterRound, isDue, isUnsupported, type QueryState } from '../queries/query-state.js';
import { validatorsOf } from '../queries/validators.js';
import { freshAnswers, isOf, type EndpointState } from './endpoint-state.js';
import type { PollExecutor } from './fetch.js';
import type { PollJob } from './jobs.js';

/* Sends the queries of an endpoint that are due, after its polls. */

export type QueryLog = Pick<Logger, 'warn' | 'info'>;

/** Returns how to send the queries that are due. `find` returns the state of the endpoint of a job while it exists. */
export function createQueryRunner(
  executor: Pick<PollExecutor, 'sendQuery'>,
  log: QueryLog,
  now: () => Instant,
  find: (job: PollJob) => EndpointState | undefined,
  change: (job: PollJob, state: QueryState) => void,
): (job: PollJob) => Promise<void> {
  const running = new WeakMap<PollJob, Set<string>>();

  async function runQuery(job: PollJob, query: NodeQuery): Promise<void> {
    const state = find(job);
    const context = state && queryContext(job.context, state, now());
    const requests = context === undefined ? [] : query.requests(context);
    // The document lacks the fields from which requests are made.
    if (context === undefined || requests.length === 0) return;
    const startedAt = now();
    const results = await Promise.all(
      requests.map(async (request) => [request, await executor.sendQuery(job, query, request)] as const),
    );
    // A reload has replaced the job meanwhile.
    const before = find(job)?.queries.get(query.name);
    if (before === undefined) return;
    const after = afterRound(before, context, results, startedAt, now());
    change(job, after);
    logRound(log, job.context, before, after);
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

  return async (job) => {
    const at = now();
    const due = Array.from(find(job)?.queries.values() ?? []).filter((state) => isDue(state, at));
    await Promise.all(due.map(async ({ query }) => runOnce(job, query)));
  };
}

/** Logs the first of equal failures, and their end. */
function logRound(log: QueryLog, { target, document }: StepContext, before: QueryState, after: QueryState): void {
  const { failure } = after;
  const fields = { target, document, query: after.query.name };
  if (failure !== undefined && failure.reason !== before.failure?.reason) {
    log.warn({ ...fields, reason: failure.reason }, `query of the node failed: ${failure.message}`);
  }
  if (isUnsupported(after) && !isUnsupported(before)) {
    log.info(fields, 'the node does not serve the query; it is sent again every hour');
  }
  if (failure === undefined && before.failure !== undefined) {
    log.info(fields, 'query of the node has no failures any more');
  }
}

/** `undefined` before the first successful poll. */
export function queryContext<Name extends DocumentName>(
  context: StepContext<Name>,
  state: EndpointState,
  now: Instant,
): QueryContext<Name> | undefined {
  const { lastSuccess, queries } = state;
  if (lastSuccess === undefined || !isOf(context.document, lastSuccess.snapshot)) return undefined;
  const { past, flow } = lastSuccess.snapshot;
  const { operators } = validatorsOf(queries);
  const answers = freshAnswers(state, now);
  return { ...context, dialect: lastSuccess.foundPath?.dialect, past, flow, operators, answers };
}
