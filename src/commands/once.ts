import { createClock } from '../clock.js';
import { createEndpoint, FIRST_ANSWERS_MS, type Endpoint } from '../engine/engine.js';
import { lastPollSucceeded, sourceInUse } from '../engine/endpoint-state.js';
import { createJobs } from '../engine/jobs.js';
import { hasStakingNames, validators } from '../queries/validator-queries.js';
import { createNetwork } from '../sources/network.js';
import { count } from '../text/format.js';
import { formatDuration } from '../units.js';
import { type CommandContext, type ExitCode, progressPrinter, userAgent } from './context.js';
import type { OnceFlags } from './flags.js';
import { configOrExitCode } from './configuration.js';
import { inactiveWatched, pollOnce, reportDocuments } from './summary.js';

/** Longer polls are announced. */
const PROGRESS_DELAY_MS = 1_000;

/** `once`: polls every endpoint once and prints the metrics. */
export async function runOnce(options: OnceFlags, context: CommandContext): Promise<ExitCode> {
  const config = await configOrExitCode(context, options);
  if (typeof config === 'number') return config;
  const clock = createClock();
  const network = createNetwork(userAgent(context), clock, context.env);
  try {
    // One document is enough for a problem.
    const jobs = createJobs(config).map((job) => ({ ...job, context: { ...job.context, isSinglePoll: true } }));
    const timer = setTimeout(() => {
      const timeout = formatDuration(config.poll.timeout);
      progressPrinter(context, options)(`polling ${count(jobs.length, 'endpoint')} with a timeout of ${timeout} …`);
    }, PROGRESS_DELAY_MS);
    const addedAt = clock().at;
    const endpoints = await pollOnce(
      jobs.map((job) => createEndpoint(job, addedAt)),
      network,
      clock,
    );
    clearTimeout(timer);
    for (const line of endpoints.flatMap(nodeLine)) context.printError(line);
    const warnings = endpoints.flatMap((endpoint) => [
      ...namesWarning(endpoint),
      ...inactiveWatched(endpoint.job.context.target, endpoint),
    ]);
    return reportDocuments(context, endpoints, warnings, 'poll', clock(), options);
  } finally {
    network.close();
  }
}

/** Which of several nodes has answered, and why not one before it. */
function nodeLine({ state }: Endpoint): readonly string[] {
  const { target, document, nodes = [] } = state;
  const source = sourceInUse(state);
  if (!lastPollSucceeded(state) || source === undefined) return [];
  const failed = nodes.flatMap(({ trouble }) => (trouble === undefined ? [] : [trouble.message]));
  return [[`${target}: ${document} of node ${source}`, ...failed].join('; ')];
}

/** Why the validators of a document have no names. */
function namesWarning({ job: { context }, state }: Endpoint): readonly string[] {
  const { answers, failure } = state.queries.get(validators.name) ?? {};
  if (!lastPollSucceeded(state) || !hasStakingNames(context) || answers?.size !== 0) return [];
  const inTime = `no response ${formatDuration(FIRST_ANSWERS_MS)} after the document`;
  const problem = failure?.message ?? inTime;
  return [`${context.target}: validator names cannot be read: ${problem}`];
}
