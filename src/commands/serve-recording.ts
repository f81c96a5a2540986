import { createActiveConfig } from '../active-config.js';
import { createLog } from '../cli/log.js';
import type { Instant } from '../clock.js';
import type { Config } from '../config/config.js';
import type { Endpoint } from '../poll/registry.js';
import { createPages } from '../exporter.js';
import { createMetricsPage } from '../exposition/metrics-page.js';
import { endpointId } from '../poll/endpoint-state.js';
import { jobsOf, type PollJob } from '../poll/jobs.js';
import type { ReplayedEndpoint } from '../recorder/replayed-endpoint.js';
import { createApp } from '../server/app.js';
import { startWebServer } from '../server/server.js';
import type { CommandContext, ExitCode } from './context.js';
import type { ReplayOptions } from './replay.js';
import { replayWithProgress } from './replay-recording.js';

/** A replay starts so long before the time that is shown, because values are remembered that long to be compared with later ones. */
const PAST_MS = 24 * 3_600_000;

const TELEMETRY_PATH = '/metrics';

/** `replay --recording --serve`: the pages of a recorded time, until it is stopped. */
export async function serveRecording(
  options: ReplayOptions & { readonly recording: string },
  config: Config,
  context: CommandContext,
): Promise<ExitCode> {
  const { recording, target, at: atMs, listen } = options;
  if (atMs === undefined) throw new Error('--serve needs --at');
  const endpoints = await endpointsAt(atMs, { recording, target }, config, context);
  if (endpoints.length === 0) {
    context.printError(
      `bridge-exporter: ${recording}: no recorded poll in the 24 hours before ${new Date(atMs).toISOString()}`,
    );
    return 1;
  }
  const log = createLog(options, context);
  const at: Instant = { epochSeconds: atMs / 1000, monotonicMs: atMs };
  const states = endpoints.map(({ state }) => state);
  const registry = { all: () => endpoints, states: () => states };
  const loadConfig = async () => ({ ok: true as const, config, warnings: [] });
  const active = createActiveConfig(config, { loadConfig }, log, {
    onLoaded: () => undefined,
    onRejected: () => undefined,
  });
  // The metrics of this process are not those of the time.
  const metricsPage = createMetricsPage(registry, { render: async () => '' });
  const app = createApp(
    {
      ...createPages(registry, active, {
        build: context.build,
        telemetryPath: TELEMETRY_PATH,
        startedAt: at,
        now: () => at,
        recorder: { status: () => undefined },
        isRecording: true,
      }),
      metrics: async (format, encoding) => metricsPage(format, encoding, at),
      notYetPolled: () => [],
      reload: async () => ({ ok: false, problems: ['a recording has no configuration to reload'] }),
    },
    { telemetryPath: TELEMETRY_PATH, maxRequests: 40, enableLifecycle: false },
    log,
  );
  const server = await startWebServer(app, listen, { log });
  const stopped = context.waitForStopSignal();
  context.print(`pages as of ${new Date(atMs).toISOString()}: ${server.url}/ (Ctrl+C stops)\n`);
  await stopped;
  await server.close();
  return 0;
}

/** The endpoints after the polls of the day before a time, with what the alert conditions remember. */
async function endpointsAt(
  atMs: number,
  recorded: { readonly recording: string; readonly target: string | undefined },
  config: Config,
  context: CommandContext,
): Promise<readonly Endpoint[]> {
  const { endpoints: replayed } = await replayWithProgress(
    { ...recorded, from: atMs - PAST_MS, to: atMs },
    config,
    context,
    { onPoll: () => undefined, onStep: () => undefined },
    { warmUpMs: 0, hasOneClock: true },
  );
  const jobs = new Map(jobsOf(config).map((job) => [endpointId(job.context), job]));
  return replayed.map((endpoint): Endpoint => {
    const { state } = endpoint;
    return { job: jobOf(endpoint, jobs.get(endpointId(state)), config), state };
  });
}

/** What the pages show of a job. The node of an endpoint is in no recording. */
function jobOf({ context }: ReplayedEndpoint, configured: PollJob | undefined, { poll }: Config): PollJob {
  return {
    url: configured?.url ?? { origin: 'http://recording' },
    paths: [],
    query: '',
    limits: { timeoutMs: poll.timeout, maxBodyBytes: poll.max_body_size },
    intervalMs: poll.interval,
    context,
  };
}
