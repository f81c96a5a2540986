import type { InvocationOf } from '../cli/flags.js';
import type { Config } from '../config/config.js';
import { createPollExecutor, type PollExecutor, type PollJob, type PollResult } from '../poll/poll.js';
import { formatDuration } from '../settings/units.js';
import { jobsOf, withValidatorNames } from '../poll/jobs.js';
import { type CommandContext, type ExitCode, progressPrinter, userAgent } from './context.js';
import { formatCount, inactiveWatched, printDocuments, type ReadDocument } from './documents-report.js';
import { configOrExitCode } from './load-config.js';

/** Polls that take longer are announced. */
const PROGRESS_DELAY_MS = 1_000;

/** `once`: polls every endpoint once and prints the metrics. */
export async function runOnce(flags: InvocationOf<'once'>, context: CommandContext): Promise<ExitCode> {
  const config = await configOrExitCode(context, flags);
  if (typeof config === 'number') return config;
  const executor = createPollExecutor(userAgent(context));
  try {
    const documents = await pollEndpoints(config, executor, progressPrinter(context, flags.log));
    const warnings = documents.flatMap(({ options, result: { outcome } }) =>
      outcome.ok ? inactiveWatched(options.target, options, outcome) : [],
    );
    return printDocuments(context, config, documents, warnings, 'poll');
  } finally {
    await executor.close();
  }
}

async function pollEndpoints(
  config: Config,
  executor: PollExecutor,
  progress: (line: string) => void,
): Promise<ReadDocument[]> {
  const jobs = jobsOf(config);
  const timer = setTimeout(() => {
    const timeout = formatDuration(config.poll.timeoutMs);
    progress(`polling ${formatCount(jobs.length, 'endpoint')} with a timeout of ${timeout} …`);
  }, PROGRESS_DELAY_MS);
  const poll = async (job: PollJob): Promise<PollResult> => {
    const names = job.needsValidatorNames ? await executor.fetchNames(job) : undefined;
    if (names?.ok === true) return executor.poll(withValidatorNames(job, names.byOperator));
    if (names?.ok === false) {
      progress(`${job.decodeOptions.target}: validator names cannot be read: ${names.error.message}`);
    }
    return executor.poll(job);
  };
  const documents = await Promise.all(
    jobs.map(async (job) => ({ options: job.decodeOptions, result: await poll(job) })),
  );
  clearTimeout(timer);
  return documents;
}
