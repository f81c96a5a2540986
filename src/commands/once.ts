import { createClock } from '../clock.js';
import { createEndpoint, type Endpoint } from '../engine/engine.js';
import { lastPollSucceeded, sourceInUse } from '../engine/endpoint-state.js';
import { createJobs } from '../engine/jobs.js';
import { createNetwork } from '../sources/network.js';
import { type CommandContext, type ExitCode, userAgent } from './context.js';
import type { OnceFlags } from './flags.js';
import { configOrExitCode } from './configuration.js';
import { pollOnce, reportDocuments } from './summary.js';

/** `once`: polls every endpoint once and prints the metrics. */
export async function runOnce(options: OnceFlags, context: CommandContext): Promise<ExitCode> {
  const config = await configOrExitCode(context, options);
  if (typeof config === 'number') return config;
  const clock = createClock();
  const network = createNetwork(userAgent(context), clock, context.env);
  try {
    // One document is enough for a problem.
    const jobs = createJobs(config).map((job) => ({ ...job, context: { ...job.context, isSinglePoll: true } }));
    const addedAt = clock().at;
    const endpoints = await pollOnce(
      jobs.map((job) => createEndpoint(job, addedAt)),
      network,
      clock,
    );
    for (const line of endpoints.flatMap(nodeLine)) context.printError(line);
    const { summary = context.standardError.isTTY, failOn } = options;
    return reportDocuments(context, endpoints, clock(), { summary, failOn });
  } finally {
    network.close();
  }
}

/** Which of several nodes has answered, and why the nodes before it have not. */
function nodeLine({ state }: Endpoint): readonly string[] {
  const { target, document, nodes = [] } = state;
  const source = sourceInUse(state);
  if (!lastPollSucceeded(state) || source === undefined) return [];
  const failed = nodes.flatMap(({ trouble }) => (trouble === undefined ? [] : [trouble.message]));
  return [[`${target}: ${document} of node ${source}`, ...failed].join('; ')];
}
