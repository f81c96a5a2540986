import type { Moment } from '../clock.js';
import type { Config } from '../config/config.js';
import { createPages, loadedConfig } from './exporter.js';
import { createMetricsPage } from '../exposition/metrics-page.js';
import type { Endpoint } from '../engine/engine.js';
import { endpointId } from '../engine/endpoint-state.js';

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
  const metricsPage = createMetricsPage(polled, { version: () => 0, render: async () => '' });
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
