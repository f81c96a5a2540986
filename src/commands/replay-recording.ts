import { configHash } from '../active-config.js';
import type { Config } from '../config/config.js';
import { createProcessMetrics } from '../exposition/process-metrics.js';
import { readRecording } from '../recorder/read-recording.js';
import { replayPolls, WARM_UP_MS, type ReplayEvents } from '../recorder/replay.js';
import { createTimeSeries } from '../recorder/time-series.js';
import type { CommandContext, ExitCode } from './context.js';

/** The usual interval of scrapes and evaluations. Series of Prometheus end 5 minutes after their last sample. */
export const STEP_MS = 60_000;

/** How often the progress is shown. */
const PROGRESS_MS = 500;

/** `replay --recording`: prints the exposition of a recording over time. */
export async function replayRecording(
  recording: RecordingRange,
  config: Config,
  context: CommandContext,
): Promise<ExitCode> {
  const series = createTimeSeries();
  const exporterText = await exporterFamilies(config, context);
  const { problems } = await replayWithProgress(recording, config, context, {
    onPoll: async (endpoint, timeMs) => {
      await context.write(series.endpointsAt([endpoint], timeMs));
    },
    onStep: async (endpoints, timeMs) => {
      await context.write(series.endpointsAt(endpoints, timeMs) + series.textAt(exporterText(timeMs), timeMs));
    },
  });
  context.showProgress(undefined);
  await context.write('# EOF\n');
  return problems === 0 ? 0 : 1;
}

interface RecordingRange {
  readonly directory: string;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly target?: string | undefined;
}

/** Replays a recording, prints its problems, and shows the progress on a terminal. */
export async function replayWithProgress(
  { directory, fromMs = -Infinity, toMs = Infinity, target }: RecordingRange,
  config: Config,
  context: CommandContext,
  { onPoll, onStep }: ReplayEvents,
): Promise<{ readonly problems: number }> {
  const progress = createProgress(context);
  let problems = 0;
  let polls = 0;
  const recording = readRecording(directory, {
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
    recording,
    config,
    { fromMs, toMs, stepMs: STEP_MS },
    {
      onPoll: (endpoint, timeMs) => {
        polls += 1;
        progress(timeMs, polls);
        return onPoll?.(endpoint, timeMs);
      },
      onStep,
    },
  );
  return { problems };
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
export function createProgress(context: CommandContext): (timeMs: number, polls: number) => void {
  let shownAt = 0;
  return (timeMs, polls) => {
    const now = performance.now();
    if (now - shownAt < PROGRESS_MS) return;
    shownAt = now;
    context.showProgress(`replayed ${polls} polls, until ${new Date(timeMs).toISOString().slice(0, 16)}`);
  };
}
