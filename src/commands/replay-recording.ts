import { configHash } from '../active-config.js';
import type { InvocationOf } from '../cli/flags.js';
import type { Config } from '../config/config.js';
import { createProcessMetrics } from '../exposition/process-metrics.js';
import { readRecording } from '../recorder/read-recording.js';
import { replayPolls, WARM_UP_MS } from '../recorder/replay.js';
import { createTimeSeries } from '../recorder/time-series.js';
import type { CommandContext, ExitCode } from './context.js';

/** Series of Prometheus end 5 minutes after their last sample. */
const STEP_MS = 60_000;

/** How often the progress is shown. */
const PROGRESS_MS = 500;

/** `replay --recording`: prints the exposition of a recording over time. */
export async function replayRecording(
  {
    directory,
    fromMs = -Infinity,
    toMs = Infinity,
    target,
  }: InvocationOf<'replay'>['recording'] & { directory: string },
  config: Config,
  context: CommandContext,
): Promise<ExitCode> {
  const series = createTimeSeries();
  const exporterText = await exporterFamilies(config, context);
  const progress = createProgress(context);
  let problems = 0;
  let samples = 0;
  const polls = readRecording(directory, {
    fromMs: fromMs - WARM_UP_MS,
    toMs,
    target,
    maxBodyBytes: config.poll.maxBodyBytes,
    onProblem: (message) => {
      problems += 1;
      context.printError(`bridge-exporter: ${message}`);
    },
  });
  await replayPolls(
    polls,
    config,
    { fromMs, toMs, stepMs: STEP_MS },
    {
      onPoll: async (endpoint, timeMs) => {
        samples += 1;
        progress(timeMs, samples);
        await context.write(series.endpointsAt([endpoint], timeMs));
      },
      onStep: async (endpoints, timeMs) => {
        await context.write(series.endpointsAt(endpoints, timeMs) + series.textAt(exporterText(timeMs), timeMs));
      },
    },
  );
  progress(undefined, samples);
  await context.write('# EOF\n');
  return problems === 0 ? 0 : 1;
}

/**
 * The families of the exporter without a target, which rules on a missing exporter read: as of one exporter with this configuration
 * that has run since the first sample.
 */
export async function exporterFamilies(config: Config, { build }: CommandContext): Promise<(timeMs: number) => string> {
  let text: string | undefined;
  const textSince = async (sinceMs: number): Promise<string> => {
    const metrics = createProcessMetrics(build, { index: 1, count: 1 });
    metrics.configLoaded(configHash(config), sinceMs / 1000, config.targets.length);
    const page = await metrics.render('openmetrics', { epochSeconds: sinceMs / 1000, monotonicMs: 0 });
    return page
      .split('\n')
      .filter((line) => /^(?:# (?:HELP|TYPE) )?bridge_exporter_/.test(line))
      .join('\n');
  };
  const placeholder = await textSince(0);
  return (timeMs) => {
    text ??= placeholder.replace(/(last_reload_success_timestamp_seconds) 0$/m, `$1 ${timeMs / 1000}`);
    return text;
  };
}

/** Shows on a terminal how far the replay is. */
export function createProgress(context: CommandContext): (timeMs: number | undefined, polls: number) => void {
  let shownAt = 0;
  return (timeMs, polls) => {
    const now = performance.now();
    if (timeMs !== undefined && now - shownAt < PROGRESS_MS) return;
    shownAt = now;
    context.showProgress(
      timeMs === undefined
        ? undefined
        : `replayed ${polls} polls, until ${new Date(timeMs).toISOString().slice(0, 16)}`,
    );
  };
}
