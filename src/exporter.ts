import type { Logger } from 'pino';
import { clock } from './clock.js';
import type { Collector } from './collect/collector.js';
import type { Config } from './config.js';
import { createExposition } from './exposition.js';
import { jobsOf, keyOf } from './jobs.js';
import { createPollLog } from './poll-log.js';
import { fingerprint } from './metrics/fingerprint.js';
import { startPoller } from './poller.js';
import { createProcessMetrics } from './process-metrics.js';
import { createSnapshots } from './snapshots.js';
import { createApp } from './web/app.js';
import { startWebServer, type ListenAddress } from './web/server.js';
import { statusPage } from './web/status-page.js';

export interface ExporterOptions {
  readonly listen: ListenAddress;
  readonly telemetryPath: string;
  readonly maxRequests: number;
  readonly nodeVersion: string;
}

export interface Exporter {
  readonly url: string;
  /** Ends in reverse order of the start; polls under way are given up. */
  readonly close: () => Promise<void>;
}

/** The whole daemon: a timer asks for a document, the document becomes samples, a scrape gets the latest as text. */
export async function startExporter(
  config: Config,
  collector: Collector,
  log: Logger,
  options: ExporterOptions,
): Promise<Exporter> {
  const jobs = jobsOf(config);
  const { maxBodyBytes, staleAfterMs, intervalMs } = config.poll;
  const snapshots = createSnapshots(
    jobs.map(({ reading }) => keyOf(reading)),
    maxBodyBytes,
    staleAfterMs,
  );
  const expose = createExposition(snapshots);
  const processMetrics = createProcessMetrics(options.nodeVersion);
  processMetrics.configLoaded(fingerprint(config), clock().epochSeconds);

  const app = createApp(
    {
      metrics: async (format) => {
        const ofProcess = await processMetrics.expose(format);
        return expose(format, clock()) + ofProcess + (format === 'openmetrics' ? '# EOF\n' : '');
      },
      statusPage: () => statusPage(snapshots, clock(), options.telemetryPath),
      notReady: () =>
        snapshots.all().flatMap((state) => (state.polls > 0 ? [] : [`${state.target} ${state.endpoint}`])),
    },
    options,
    log,
  );
  const server = await startWebServer(app, options.listen);

  const logPoll = createPollLog(log);
  const pollers = jobs.map((job) =>
    startPoller(async () => {
      const outcome = await collector.collect(job);
      const { before, after } = snapshots.record(keyOf(job.reading), outcome, clock());
      logPoll(before, after);
    }, intervalMs),
  );
  return {
    url: server.url,
    close: async () => {
      for (const poller of pollers) poller.close();
      await server.close();
    },
  };
}
