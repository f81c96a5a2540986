import type { Instant } from '../clock.js';
import type { Config } from '../config/config.js';
import { createPages, loadedConfig } from '../exporter.js';
import { createMetricsPage } from '../exposition/metrics-page.js';
import { endpointId } from '../poll/endpoint-state.js';
import type { ReplayedEndpoint } from '../recorder/replayed-endpoints.js';
import { createApp } from '../server/app.js';
import { startWebServer } from '../server/server.js';
import { DAY_MS } from '../units.js';
import type { CommandContext, ExitCode } from './context.js';
import type { ReplayFlags } from './flags.js';
import { createLog } from './log.js';
import { openRecording } from './recording-metrics.js';

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
  const loaded = loadedConfig(config);
  const urls = new Map(loaded.jobs.map((job) => [endpointId(job.context), job.url]));
  const range = { recording, target, from: atMs - PAST_MS, to: atMs };
  const replay = openRecording(range, config, context, { warmUpMs: 0, hasOneClock: true });
  const replayed = new Map<string, ReplayedEndpoint>();
  for await (const moment of replay.moments()) {
    for (const endpoint of moment.endpoints) replayed.set(endpointId(endpoint.state), endpoint);
  }
  if (replayed.size === 0) {
    context.printError(`bridge-exporter: ${recording}: no recorded poll in the 24 hours before ${time}`);
    return 1;
  }
  const endpoints = Array.from(replayed, ([id, { state, context: ofEndpoint }]) => ({
    state,
    // The node of an endpoint is in no recording.
    job: { url: urls.get(id) ?? { origin: 'http://recording' }, context: ofEndpoint },
  }));
  const { log } = createLog(options, context);
  const at: Instant = { epochSeconds: atMs / 1000, monotonicMs: atMs };
  const states = endpoints.map(({ state }) => state);
  const shown = { all: () => endpoints, states: () => states };
  // This process has no metrics of the recorded time.
  const metricsPage = createMetricsPage(shown, { render: async () => '' });
  const active = { current: () => loaded, rejected: () => undefined };
  const app = createApp(
    {
      ...createPages(shown, active, {
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
  context.print(`pages as of ${time}: ${server.url}/ (Ctrl+C stops)\n`);
  await context.waitForStopSignal();
  await server.close();
  return 0;
}
