import { initialMemory } from '../poll/known-endpoint.js';
import type { ConfigOptions, LogOptions, ShardOptions, SummaryOptions } from '../cli/options.js';
import { clock } from '../clock.js';
import type { Config } from '../config/config.js';
import type { DocumentName } from '../documents.js';
import { initialState } from '../poll/endpoint-state.js';
import { jobsOf, limitsOf, pollInput } from '../poll/jobs.js';
import {
  createPollExecutor,
  readFetched,
  timedStep,
  type PollExecutor,
  type PollJob,
  type ReceivedBody,
} from '../poll/poll.js';
import { withinMs } from '../queue.js';
import { formatDuration } from '../config/units.js';
import { count } from '../text/format.js';
import { type CommandContext, type ExitCode, progressPrinter, userAgent } from './context.js';
import { configOrExitCode } from './load-config.js';
import { inactiveWatched, printDocuments, type ReadEndpoint } from './report.js';
import type { QueryResult } from '../queries/query.js';
import { hasStakingNames, validators, VALIDATORS_REQUEST, validatorsOfPages } from '../queries/validators.js';

/** Polls that take longer are announced. */
const PROGRESS_DELAY_MS = 1_000;

/** `once`: polls every endpoint once and prints the metrics. */
export async function runOnce(
  options: ConfigOptions & ShardOptions & SummaryOptions & LogOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const config = await configOrExitCode(context, options);
  if (typeof config === 'number') return config;
  const executor = createPollExecutor(userAgent(context));
  try {
    const endpoints = await pollEndpoints(config, executor, progressPrinter(context, options));
    const warnings = endpoints.flatMap((endpoint) => [
      ...endpoint.warnings,
      ...inactiveWatched(endpoint.context.target, endpoint),
    ]);
    return printDocuments(context, endpoints, warnings, 'poll', options);
  } finally {
    executor.close();
  }
}

interface PolledEndpoint extends ReadEndpoint {
  /** Why the validators have no names. */
  readonly warnings: readonly string[];
}

async function pollEndpoints(
  config: Config,
  executor: PollExecutor,
  progress: (line: string) => void,
): Promise<readonly PolledEndpoint[]> {
  const jobs = jobsOf(config);
  const timer = setTimeout(() => {
    const timeout = formatDuration(config.poll.timeout);
    progress(`polling ${count(jobs.length, 'endpoint')} with a timeout of ${timeout} …`);
  }, PROGRESS_DELAY_MS);
  const polled = new Map<string, Promise<PolledEndpoint>>();
  for (const job of jobs) {
    const { target, document } = job.context;
    // The module state says where the contract is, and comes first.
    const bridge = job.hub && polled.get(`module_state ${target}`);
    polled.set(`${document} ${target}`, pollOnce(job, config, executor, bridge));
  }
  const endpoints = await Promise.all(polled.values());
  clearTimeout(timer);
  return endpoints;
}

/** How long a document waits for the names of validators, which are requested together with it. */
const NAMES_GRACE_MS = 2_000;

async function pollOnce(
  job: PollJob,
  { poll: limits }: Config,
  executor: PollExecutor,
  polledBridge: Promise<PolledEndpoint> | undefined,
): Promise<PolledEndpoint> {
  const context = { ...job.context, isSinglePoll: true };
  const bridge = (await polledBridge)?.state;
  const siblingOf = (document: DocumentName) => (document === 'module_state' ? bridge : undefined);
  const before = { state: initialState(context, limitsOf(job, limits), clock()), memory: initialMemory };
  const names = hasStakingNames(context) ? executor.sendQuery(job, validators, VALIDATORS_REQUEST) : undefined;
  const fetched = await executor.fetch(job, pollInput(context, before.state, siblingOf, clock()));
  const named = names && fetched.outcome.ok ? await withNames(fetched.outcome, names) : fetched;
  const poll = readFetched({ ...fetched, outcome: named.outcome }, context);
  fetched.release();
  const warnings = 'problem' in named ? [`${context.target}: validator names cannot be read: ${named.problem}`] : [];
  return { context, ...timedStep(before, poll, context, clock()), warnings };
}

/** The module state with the names of validators, if they are there in time. */
async function withNames(
  outcome: ReceivedBody,
  names: Promise<QueryResult>,
): Promise<{ readonly outcome: ReceivedBody; readonly problem?: string }> {
  const inTime = await withinMs(NAMES_GRACE_MS, names);
  if (inTime === undefined)
    return { outcome, problem: `no response ${formatDuration(NAMES_GRACE_MS)} after the document` };
  if (!inTime.ok) return { outcome, problem: inTime.error.message };
  return { outcome: { ...outcome, sideInput: { ...outcome.sideInput, names: validatorsOfPages(inTime.pages).names } } };
}
