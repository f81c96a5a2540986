import { clock } from '../clock.js';
import type { Config } from '../config/config.js';
import type { DocumentName } from '../document-types.js';
import { initialState, lastPollSucceeded, withQuery, type EndpointState } from '../poll/endpoint-state.js';
import { isContract, jobsOf, pollInput, type PollJob } from '../poll/jobs.js';
import { readPoll, timedStep } from '../poll/read-poll.js';
import { createPollExecutor, type PollExecutor } from '../poll/fetch.js';
import { queryStatesOf } from '../queries/node-queries.js';
import type { QueryStates } from '../queries/query-state.js';
import { hasStakingNames, validators } from '../queries/validators.js';
import { withinMs } from '../tasks.js';
import { count } from '../text/format.js';
import { type CommandContext, type ExitCode, progressPrinter, userAgent } from './context.js';
import type { OnceFlags } from './flags.js';
import { configOrExitCode } from './configuration.js';
import { inactiveWatched, reportDocuments, type ReadEndpoint } from './summary.js';
import { createQueryRunner, type QueryLog } from '../poll/query-runner.js';
import { formatDuration } from '../units.js';

/** Longer polls are announced. */
const PROGRESS_DELAY_MS = 1_000;

/** `once`: polls every endpoint once and prints the metrics. */
export async function runOnce(options: OnceFlags, context: CommandContext): Promise<ExitCode> {
  const config = await configOrExitCode(context, options);
  if (typeof config === 'number') return config;
  const executor = createPollExecutor(userAgent(context));
  try {
    const endpoints = await pollEndpoints(config, executor, progressPrinter(context, options));
    const warnings = endpoints.flatMap((endpoint) => [
      ...namesWarning(endpoint),
      ...inactiveWatched(endpoint.context.target, endpoint),
    ]);
    return reportDocuments(context, endpoints, warnings, 'poll', options);
  } finally {
    executor.close();
  }
}

async function pollEndpoints(
  config: Config,
  executor: PollExecutor,
  progress: (line: string) => void,
): Promise<readonly ReadEndpoint[]> {
  const jobs = jobsOf(config);
  const timer = setTimeout(() => {
    const timeout = formatDuration(config.poll.timeout);
    progress(`polling ${count(jobs.length, 'endpoint')} with a timeout of ${timeout} …`);
  }, PROGRESS_DELAY_MS);
  const polled = new Map<string, Promise<ReadEndpoint>>();
  for (const job of jobs) {
    const { target, document } = job.context;
    // The module state says where the contract is, and comes first.
    const bridge = isContract(job) ? polled.get(`module_state ${target}`) : undefined;
    polled.set(`${document} ${target}`, pollOnce(job, executor, bridge));
  }
  const endpoints = await Promise.all(polled.values());
  clearTimeout(timer);
  return endpoints;
}

/** Timeout of the answers to other queries of the node, after the document. */
const ANSWERS_GRACE_MS = 2_000;

async function pollOnce(
  job: PollJob,
  executor: PollExecutor,
  polledBridge: Promise<ReadEndpoint> | undefined,
): Promise<ReadEndpoint> {
  const context = { ...job.context, isSinglePoll: true };
  const bridge = (await polledBridge)?.state;
  const siblingOf = (document: DocumentName) => (document === 'module_state' ? bridge : undefined);
  const before = { ...initialState(context, clock()), queries: queryStatesOf(context) };
  const received = await executor.fetch(job, pollInput(context, before, siblingOf, clock()));
  const first = timedStep(before, readPoll(received, context), context, clock());
  if (!received.ok || !lastPollSucceeded(first) || before.queries.size === 0) {
    received.release?.();
    return { context, state: first };
  }
  // The queries depend on the document, and the document is judged with their answers.
  const state = { ...before, queries: await answersTo(job, executor, first) };
  const { otherAnswers } = pollInput(context, state, siblingOf, clock());
  const poll = readPoll({ ...received, otherAnswers: { ...received.otherAnswers, ...otherAnswers } }, context);
  received.release?.();
  return { context, state: timedStep(state, poll, context, clock()) };
}

/** `namesWarning` reports queries without an answer. */
const NO_LOG: QueryLog = { warn: () => undefined, info: () => undefined };

/** The queries of a document with the answers that arrive in time. */
async function answersTo(job: PollJob, executor: PollExecutor, polled: EndpointState): Promise<QueryStates> {
  let state = polled;
  const runQueries = createQueryRunner(
    executor,
    NO_LOG,
    clock,
    () => state,
    (_job, query) => {
      state = withQuery(state, query);
    },
  );
  // The list of validators says for which validators the node is queried next.
  await withinMs(
    ANSWERS_GRACE_MS,
    runQueries(job).then(async () => runQueries(job)),
  );
  return state.queries;
}

/** Why the validators of a document have no names. */
function namesWarning({ context, state }: ReadEndpoint): readonly string[] {
  const { answers, failure } = state.queries.get(validators.name) ?? {};
  if (!lastPollSucceeded(state) || !hasStakingNames(context) || answers?.size !== 0) return [];
  const inTime = `no response ${formatDuration(ANSWERS_GRACE_MS)} after the document`;
  const problem = failure?.message ?? inTime;
  return [`${context.target}: validator names cannot be read: ${problem}`];
}
