import type { Config } from '../config/config.js';
import { createMetricsPage, renderEndpoints } from '../exposition/metrics-page.js';
import { renderProcess } from '../exposition/process-metrics.js';
import { readRecording } from '../recorder/read-recording.js';
import { replay, type ReplayMoment } from '../sources/recording.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../units.js';
import type { CommandContext, ExitCode } from './context.js';
import type { Moment } from '../clock.js';
import { createPages, loadedConfig } from './exporter.js';
import type { Endpoint } from '../engine/engine.js';
import { endpointId } from '../engine/endpoint-state.js';
import { createApp } from '../server/app.js';
import { startWebServer } from '../server/server.js';
import type { ReplayFlags } from './flags.js';
import { createLog } from './log.js';

/** The usual interval of scrapes and evaluations. Series of Prometheus end 5 minutes after their last sample. */
export const STEP_MS = MINUTE_MS;

/** Earlier polls that are read for measured block times, and for the counters of the flow. */
const WARM_UP_MS = 2 * HOUR_MS;

/** How often the progress is shown. */
const PROGRESS_MS = 500;

interface RecordingRange {
  readonly recording: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly target?: string | undefined;
}

/** `replay --recording`: prints the exposition of a recording over time, as OpenMetrics with timestamps. */
export async function replayRecording(
  range: RecordingRange,
  config: Config,
  context: CommandContext,
): Promise<ExitCode> {
  const recording = openRecording(range, config, context);
  const stampAt = createTimestamps();
  let exporterText: string | undefined;
  for await (const { timeMs, now, isStep, endpoints } of recording.moments()) {
    const states = endpoints.map(({ state }) => state);
    let text = renderEndpoints(states, 'openmetrics', now);
    if (isStep) text += exporterText ??= exporterFamilies(config, context, timeMs);
    await context.write(stampAt(text, timeMs));
  }
  await context.write('# EOF\n');
  return recording.problems() === 0 ? 0 : 1;
}

/**
 * A recording that is replayed once. Its problems are printed, and a terminal shows how far it is. `warmUpMs`: how much
 * before the range the exchanges are read from.
 */
export function openRecording(
  { recording: directory, from: fromMs = -Infinity, to: toMs = Infinity, target }: RecordingRange,
  config: Config,
  { printError, showProgress }: CommandContext,
  warmUpMs = WARM_UP_MS,
): { readonly moments: () => AsyncGenerator<ReplayMoment>; readonly problems: () => number } {
  let problems = 0;
  const onProblem = (message: string): void => {
    problems += 1;
    printError(`bridge-exporter: ${message}`);
  };
  async function* moments(): AsyncGenerator<ReplayMoment> {
    const maxBodyBytes = config.poll.max_body_size;
    const exchanges = readRecording(directory, { fromMs: fromMs - warmUpMs, toMs, target, maxBodyBytes, onProblem });
    let shownAt = 0;
    const range = { fromMs, toMs, stepMs: STEP_MS };
    for await (const moment of replay(exchanges, config, range)) {
      const now = performance.now();
      if (now - shownAt >= PROGRESS_MS) {
        shownAt = now;
        showProgress(`replayed until ${new Date(moment.timeMs).toISOString().slice(0, 16)}`);
      }
      yield moment;
    }
    showProgress(undefined);
  }
  return { moments, problems: () => problems };
}

/**
 * Adds timestamps to texts of OpenMetrics in the order of time. HELP and TYPE of a family precede its first sample
 * only: Prometheus requires no more, and a text in the order of families could not be streamed.
 */
function createTimestamps(): (openMetrics: string, timeMs: number) => string {
  const described = new Set<string>();
  return (openMetrics, timeMs) => {
    const timestamp = ` ${(timeMs / 1000).toFixed(3)}\n`;
    const lines = openMetrics.split('\n').filter((line) => line !== '' && !described.has(line));
    for (const line of lines) if (line.startsWith('#')) described.add(line);
    return lines.map((line) => (line.startsWith('#') ? `${line}\n` : line + timestamp)).join('');
  };
}

/**
 * The families of the process, which rules on a missing exporter read, for an exporter with this configuration that has
 * run since the first sample.
 */
function exporterFamilies(config: Config, { build }: CommandContext, sinceMs: number): string {
  return renderProcess(
    {
      build,
      shard: { index: 1, count: 1 },
      config: loadedConfig(config, sinceMs / 1000),
      isConfigRejected: false,
      recorder: undefined,
      clockOffset: 0,
    },
    'openmetrics',
  );
}

/** A replay starts this long before the shown time, because values are remembered this long for comparisons. */
const PAST_MS = DAY_MS;

const TELEMETRY_PATH = '/metrics';

/** `replay --recording --serve`: the pages of a recorded time, until it is stopped. */
export async function serveRecording(
  options: ReplayFlags & { readonly recording: string },
  config: Config,
  context: CommandContext,
): Promise<ExitCode> {
  const { recording, target, at: atMs, listen } = options;
  if (atMs === undefined) throw new Error('--serve needs --at');
  const time = new Date(atMs).toISOString();
  const loaded = loadedConfig(config, atMs / 1000);
  const nodes = new Map(loaded.jobs.map((job) => [endpointId(job.context), job.nodes]));
  const range = { recording, target, from: atMs - PAST_MS, to: atMs };
  const recorded = openRecording(range, config, context, 0);
  const replayed = new Map<string, Endpoint>();
  let now: Moment | undefined;
  for await (const moment of recorded.moments()) {
    for (const endpoint of moment.endpoints) replayed.set(endpointId(endpoint.state), endpoint);
    ({ now } = moment);
  }
  if (now === undefined) {
    context.printError(`bridge-exporter: ${recording}: no recorded poll in the 24 hours before ${time}`);
    return 1;
  }
  const shown = { ...now, at: atMs / 1000 - now.clockOffset };
  const endpoints = Array.from(replayed, ([id, { state, job }]) => ({
    state,
    // The node of an endpoint is in no recording.
    job: { nodes: nodes.get(id) ?? [{ url: { origin: 'http://recording' } }], context: job.context },
  }));
  const { log } = createLog(options, context);
  const states = endpoints.map(({ state }) => state);
  const polled = { endpoints: () => endpoints, states: () => states };
  // This process has no metrics of the recorded time.
  const metricsPage = createMetricsPage(polled, { version: () => '', render: async () => '' });
  const active = { current: () => loaded, rejected: () => undefined };
  const app = createApp(
    {
      ...createPages(polled, active, {
        build: context.build,
        telemetryPath: TELEMETRY_PATH,
        startedAt: shown.at,
        now: () => shown,
        recorder: { status: () => undefined },
        isRecording: true,
      }),
      metrics: async (format, encoding) => metricsPage(format, encoding, shown),
      notYetPolled: () => [],
      reload: async () => ({ ok: false, problems: ['a recording has no configuration to reload'] }),
    },
    { telemetryPath: TELEMETRY_PATH, maxRequests: 40, enableLifecycle: false },
    log,
  );
  const server = await startWebServer(app, listen, { log });
  context.print(`pages as of ${time}: ${server.url}/ (Ctrl+C stops)\n`);
  await context.waitForStopSignal();
  await server.close();
  return 0;
}
