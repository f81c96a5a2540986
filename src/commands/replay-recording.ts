import { configHash } from '../active-config.js';
import type { Config } from '../config/config.js';
import { createProcessMetrics } from '../exposition/process-metrics.js';
import { readRecording, type RecordedPoll } from '../recorder/read-recording.js';
import { replayPolls, WARM_UP_MS, type ReplayEvents } from '../recorder/replay.js';
import type { ReplayedEndpoint } from '../recorder/replayed-endpoint.js';
import { createTimeSeries } from '../recorder/time-series.js';
import type { CommandContext, ExitCode } from './context.js';

/** The usual interval of scrapes and evaluations. Series of Prometheus end 5 minutes after their last sample. */
export const STEP_MS = 60_000;

/** How often the progress is shown. */
const PROGRESS_MS = 500;

/** `replay --recording`: prints the exposition of a recording over time. */
export async function replayRecording(
  range: RecordingRange,
  config: Config,
  context: CommandContext,
): Promise<ExitCode> {
  const series = createTimeSeries();
  const exporterText = exporterFamilies(config, context);
  const { problems } = await replayWithProgress(range, config, context, {
    onPoll: async (endpoint, timeMs) => {
      await context.write(series.endpointsAt([endpoint], timeMs));
    },
    onStep: async (endpoints, timeMs) => {
      await context.write(series.endpointsAt(endpoints, timeMs) + series.textAt(await exporterText(timeMs), timeMs));
    },
  });
  await context.write('# EOF\n');
  return problems === 0 ? 0 : 1;
}

interface RecordingRange {
  readonly recording: string;
  readonly from?: number;
  readonly to?: number;
  readonly target?: string | undefined;
}

interface ReplayOptions {
  /** How much before the range the polls are read from. */
  readonly warmUpMs?: number;
  /** Whether all endpoints are judged at one point in time. */
  readonly hasOneClock?: boolean;
}

/** Replays a recording, prints its problems, and shows on a terminal how far it is. Resolves with the endpoints at the end. */
export async function replayWithProgress(
  { recording: directory, from: fromMs = -Infinity, to: toMs = Infinity, target }: RecordingRange,
  config: Config,
  context: CommandContext,
  { onPoll, onStep }: ReplayEvents,
  { warmUpMs = WARM_UP_MS, hasOneClock = false }: ReplayOptions = {},
): Promise<{ readonly endpoints: readonly ReplayedEndpoint[]; readonly problems: number }> {
  let problems = 0;
  let polls = 0;
  let shownAt = 0;
  const recording = readRecording(directory, {
    fromMs: fromMs - warmUpMs,
    toMs,
    target,
    maxBodyBytes: config.poll.max_body_size,
    onProblem: (message) => {
      problems += 1;
      context.printError(`bridge-exporter: ${message}`);
    },
  });
  const endpoints = await replayPolls(
    hasOneClock ? byWallClock(recording) : recording,
    config,
    { fromMs, toMs, stepMs: STEP_MS },
    {
      onPoll: (endpoint, timeMs) => {
        polls += 1;
        const now = performance.now();
        if (now - shownAt >= PROGRESS_MS) {
          shownAt = now;
          context.showProgress(`replayed ${polls} polls, until ${new Date(timeMs).toISOString().slice(0, 16)}`);
        }
        return onPoll(endpoint, timeMs);
      },
      onStep,
    },
  );
  context.showProgress(undefined);
  return { endpoints, problems };
}

async function* byWallClock(polls: AsyncIterable<RecordedPoll>): AsyncGenerator<RecordedPoll> {
  for await (const poll of polls) {
    const { monotonic_ms: _monotonicMs, ...header } = poll.header;
    yield { ...poll, header };
  }
}

/**
 * The families of the exporter without a target, which rules on a missing exporter read: as of one exporter with this configuration
 * that has run since the first sample.
 */
function exporterFamilies(config: Config, { build }: CommandContext): (timeMs: number) => Promise<string> {
  let text: Promise<string> | undefined;
  const textSince = async (sinceMs: number): Promise<string> => {
    const metrics = createProcessMetrics(build, { index: 1, count: 1 });
    metrics.configLoaded(configHash(config), sinceMs / 1000, config.targets.length);
    const page = await metrics.render('openmetrics', { epochSeconds: sinceMs / 1000, monotonicMs: 0 });
    return page
      .split('\n')
      .filter((line) => /^(?:# (?:HELP|TYPE) )?bridge_exporter_/.test(line))
      .join('\n');
  };
  return async (timeMs) => (text ??= textSince(timeMs));
}
