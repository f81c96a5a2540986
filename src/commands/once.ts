import { setTimeout as delay } from 'node:timers/promises';
import type { InvocationOf } from '../cli/flags.js';
import type { Config } from '../config/config.js';
import { createPollExecutor, type PollExecutor, type PollJob } from '../poll/poll.js';
import { formatDuration } from '../settings/units.js';
import { count } from '../text/format.js';
import { jobsOf, withFacts } from '../poll/jobs.js';
import { type CommandContext, type ExitCode, progressPrinter, userAgent } from './context.js';
import { inactiveWatched, printDocuments, type ReadDocument } from './documents-report.js';
import { configOrExitCode } from './load-config.js';
import { createSummarize } from './summary.js';

/** Polls that take longer are announced. */
const PROGRESS_DELAY_MS = 1_000;

/** `once`: polls every endpoint once and prints the metrics. */
export async function runOnce(flags: InvocationOf<'once'>, context: CommandContext): Promise<ExitCode> {
  const config = await configOrExitCode(context, flags);
  if (typeof config === 'number') return config;
  const executor = createPollExecutor(userAgent(context));
  try {
    const documents = await pollEndpoints(config, executor, progressPrinter(context, flags.log));
    const warnings = documents.flatMap(({ options, result: { outcome }, warnings: ofNames }) => [
      ...ofNames,
      ...(outcome.ok ? inactiveWatched(options.target, options, outcome) : []),
    ]);
    return printDocuments(
      context,
      config,
      documents,
      warnings,
      'poll',
      createSummarize(flags.report, context.isTerminal),
    );
  } finally {
    await executor.close();
  }
}

async function pollEndpoints(
  config: Config,
  executor: PollExecutor,
  progress: (line: string) => void,
): Promise<PolledDocument[]> {
  const jobs = jobsOf(config);
  const timer = setTimeout(() => {
    const timeout = formatDuration(config.poll.timeoutMs);
    progress(`polling ${count(jobs.length, 'endpoint')} with a timeout of ${timeout} …`);
  }, PROGRESS_DELAY_MS);
  // A contract is polled with what the module state of its target says about it.
  const states = new Map(
    jobs.filter(({ contract }) => contract === undefined).map((job) => [job, pollJob(job, executor)] as const),
  );
  const pollContract = async (job: PollJob): Promise<PolledDocument> => {
    const { target } = job.decodeOptions;
    const isOfTarget = ({ decodeOptions: own }: PollJob): boolean =>
      own.target === target && own.document === 'module_state';
    const [, bridge] = Array.from(states).find(([own]) => isOfTarget(own)) ?? [];
    const outcome = (await bridge)?.result.outcome;
    return pollJob(withFacts(job, outcome?.ok ? outcome : undefined), executor);
  };
  const documents = await Promise.all(jobs.map(async (job) => states.get(job) ?? pollContract(job)));
  clearTimeout(timer);
  return documents;
}

interface PolledDocument extends ReadDocument {
  /** Why the validators have no names. */
  readonly warnings: readonly string[];
}

/** How long a document waits for the names of validators, which are requested together with it. */
const NAMES_GRACE_MS = 2_000;

async function pollJob(job: PollJob, executor: PollExecutor): Promise<PolledDocument> {
  const { decodeOptions: options } = job;
  if (!job.needsValidatorNames) return { options, result: await executor.poll(job), warnings: [] };
  const names = executor.fetchNames(job);
  let warning: string | undefined;
  const result = await executor.poll(job, async () => {
    const grace = new AbortController();
    const inTime = await Promise.race([
      names,
      delay(NAMES_GRACE_MS, undefined, { signal: grace.signal }).catch(() => undefined),
    ]);
    grace.abort();
    if (inTime?.ok === true) return inTime.byOperator;
    const cause = inTime?.error.message ?? `no response ${formatDuration(NAMES_GRACE_MS)} after the document`;
    warning = `${options.target}: validator names cannot be read: ${cause}`;
    return undefined;
  });
  return { options, result, warnings: warning === undefined ? [] : [warning] };
}
