import { createClock, type Clock } from '../clock.js';
import type { Config } from '../config/config.js';
import { createEndpoint, createEngine, FIRST_ANSWERS_MS } from '../engine/engine.js';
import { endpointId, lastPollSucceeded, sourceInUse } from '../engine/endpoint-state.js';
import { isContract, createJobs, type PollJob } from '../engine/jobs.js';
import type { Source } from '../engine/source.js';
import { hasStakingNames, validators } from '../queries/validator-queries.js';
import { createNetwork } from '../sources/network.js';
import { count } from '../text/format.js';
import { formatDuration } from '../units.js';
import { type CommandContext, type ExitCode, progressPrinter, userAgent } from './context.js';
import type { OnceFlags } from './flags.js';
import { configOrExitCode } from './configuration.js';
import { inactiveWatched, reportDocuments, type ReadEndpoint } from './summary.js';

/** Longer polls are announced. */
const PROGRESS_DELAY_MS = 1_000;

/** `once`: polls every endpoint once and prints the metrics. */
export async function runOnce(options: OnceFlags, context: CommandContext): Promise<ExitCode> {
  const config = await configOrExitCode(context, options);
  if (typeof config === 'number') return config;
  const clock = createClock();
  const network = createNetwork(userAgent(context), clock, context.env);
  try {
    const endpoints = await pollEndpoints(config, network, clock, progressPrinter(context, options));
    for (const line of endpoints.flatMap(nodeLine)) context.printError(line);
    const warnings = endpoints.flatMap((endpoint) => [
      ...namesWarning(endpoint),
      ...inactiveWatched(endpoint.context.target, endpoint),
    ]);
    return reportDocuments(context, endpoints, warnings, 'poll', clock(), options);
  } finally {
    network.close();
  }
}

async function pollEndpoints(
  config: Config,
  source: Source<PollJob>,
  clock: Clock,
  progress: (line: string) => void,
): Promise<readonly ReadEndpoint[]> {
  // One document is enough for a problem.
  const jobs = createJobs(config).map((job) => ({ ...job, context: { ...job.context, isSinglePoll: true } }));
  const timer = setTimeout(() => {
    const timeout = formatDuration(config.poll.timeout);
    progress(`polling ${count(jobs.length, 'endpoint')} with a timeout of ${timeout} …`);
  }, PROGRESS_DELAY_MS);
  const engine = createEngine({ source, now: clock });
  engine.replace(jobs.map((job) => createEndpoint(job, clock().at)));
  const polled = new Map<string, Promise<void>>();
  const pollAfter = async (first: Promise<void> | undefined, job: PollJob): Promise<void> => {
    await first;
    const { settled } = await engine.poll(job);
    await settled;
  };
  for (const job of jobs) {
    // The module state says where the contract is, and comes first.
    const bridge = isContract(job) ? { ...job.context, document: 'module_state' as const } : undefined;
    polled.set(endpointId(job.context), pollAfter(bridge && polled.get(endpointId(bridge)), job));
  }
  await Promise.all(polled.values());
  clearTimeout(timer);
  return engine.endpoints().map(({ job: { context }, state }) => ({ context, state }));
}

/** Which of several nodes has answered, and why not one before it. */
function nodeLine({ context: { target, document }, state }: ReadEndpoint): readonly string[] {
  const { nodes = [] } = state;
  const source = sourceInUse(state);
  if (!lastPollSucceeded(state) || source === undefined) return [];
  const failed = nodes.flatMap(({ trouble }) => (trouble === undefined ? [] : [trouble.message]));
  return [[`${target}: ${document} of node ${source}`, ...failed].join('; ')];
}

/** Why the validators of a document have no names. */
function namesWarning({ context, state }: ReadEndpoint): readonly string[] {
  const { answers, failure } = state.queries.get(validators.name) ?? {};
  if (!lastPollSucceeded(state) || !hasStakingNames(context) || answers?.size !== 0) return [];
  const inTime = `no response ${formatDuration(FIRST_ANSWERS_MS)} after the document`;
  const problem = failure?.message ?? inTime;
  return [`${context.target}: validator names cannot be read: ${problem}`];
}
