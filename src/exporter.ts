import type { Logger } from 'pino';
import { clock, type Instant } from './poll/clock.js';
import type { Collector } from './poll/collector.js';
import { configText, type Config, type ConfigResult } from './config/config.js';
import { renderExposition } from './exposition/exposition.js';
import { jobsOf, endpointKeyOf } from './poll/jobs.js';
import { createPollLog } from './poll/poll-log.js';
import { fingerprint } from './metrics/fingerprint.js';
import { startScheduler } from './poll/scheduler.js';
import { createProcessMetrics } from './exposition/process-metrics.js';
import { createSnapshots } from './poll/snapshots.js';
import { createRoutes } from './server/routes.js';
import { endpointStatuses } from './pages/endpoint-status.js';
import { pendingDocument } from './pages/endpoint-view.js';
import { createMetricsPage } from './exposition/metrics-page.js';
import { pendingPage } from './pages/pending-page.js';
import { startWebServer, type ListenAddress } from './server/server.js';
import { statusPage, type StatusDocument } from './pages/status-page.js';
import { isoTime } from './pages/time.js';
import type { WebConfigFile } from './server/web-config-files.js';

export interface ExporterOptions {
  readonly listen: ListenAddress;
  readonly telemetryPath: string;
  readonly maxRequests: number;
  readonly nodeVersion: string;
  /** TLS, users and the like; absent for plain HTTP that everybody may read. */
  readonly webConfig?: WebConfigFile | undefined;
  /** Whether `/-/reload` may be used. */
  readonly enableLifecycle: boolean;
  /** Reads the configuration anew, for a reload. */
  readonly loadConfig: () => Promise<ConfigResult>;
}

export interface Exporter {
  readonly url: string;
  /** Takes over a configuration, all of it or nothing; what is known of unchanged endpoints survives. */
  readonly reload: () => Promise<ConfigResult>;
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
  const startedAt = clock();
  let jobs = jobsOf(config);
  let inUse = { poll: config.poll, hash: hashOf(config), readAt: startedAt };
  let refusedAt: Instant | undefined;
  const snapshots = createSnapshots(
    jobs.map(({ source: reading }) => endpointKeyOf(reading)),
    config.poll,
  );
  const processMetrics = createProcessMetrics(options.nodeVersion);
  const metricsPage = createMetricsPage({
    version: snapshots.version,
    ofEndpoints: (format, now) => renderExposition(snapshots, format, now),
    ofProcess: processMetrics.expose,
  });
  const logPoll = createPollLog(log);
  const polling = startScheduler(collector, ({ source: reading }, outcome, at) => {
    const { before, after } = snapshots.record(endpointKeyOf(reading), outcome, at);
    logPoll(before, after);
  });

  const reload = oneAtATime(async (): Promise<ConfigResult> => {
    const loaded = await options.loadConfig();
    if (!loaded.ok) {
      processMetrics.configRefused();
      refusedAt = clock();
      log.error({ problems: loaded.problems }, 'the new configuration is refused, the old one stays');
      return loaded;
    }
    const asked = new Set(jobs.map(({ url, source: reading }) => JSON.stringify([endpointKeyOf(reading), url])));
    jobs = jobsOf(loaded.config);
    const endpoints = jobs.map(({ url, source: reading }) => {
      const key = endpointKeyOf(reading);
      return { ...key, isKept: asked.has(JSON.stringify([key, url])) };
    });
    snapshots.replace(endpoints, loaded.config.poll);
    polling.replaceJobs(jobs, loaded.config.poll.intervalMs);
    inUse = { poll: loaded.config.poll, hash: hashOf(loaded.config), readAt: clock() };
    refusedAt = undefined;
    processMetrics.configLoaded(inUse.hash, inUse.readAt.epochSeconds);
    for (const warning of loaded.warnings) log.warn(warning);
    log.info({ targets: loaded.config.targets.length }, 'the configuration was reloaded');
    return loaded;
  });

  const statusDocument = (now: Instant): StatusDocument => ({
    generatedAt: isoTime(now.epochSeconds),
    endpoints: endpointStatuses(snapshots, now, inUse.poll.staleAfterMs),
    instance: {
      ...inUse.poll,
      nodeVersion: options.nodeVersion,
      startedAt: isoTime(startedAt.epochSeconds),
      uptimeSeconds: (now.monotonicMs - startedAt.monotonicMs) / 1000,
      configHash: inUse.hash,
      configReadAt: isoTime(inUse.readAt.epochSeconds),
      configRefusedAt: refusedAt ? isoTime(refusedAt.epochSeconds) : null,
    },
  });

  const app = createRoutes(
    {
      metrics: (format) => metricsPage(format, clock()),
      statusPage: () => statusPage(statusDocument(clock()), options.telemetryPath),
      pendingPage: (sorting) => pendingPage(pendingDocument(snapshots, clock()), sorting, options.telemetryPath),
      pendingDocument: () => pendingDocument(snapshots, clock()),
      notReady: () =>
        snapshots.all().flatMap((state) => (state.polls > 0 ? [] : [`${state.target} ${state.endpoint}`])),
      reload,
    },
    options,
    log,
  );
  const server = await startWebServer(app, options.listen, { log, webConfig: options.webConfig });

  processMetrics.configLoaded(inUse.hash, inUse.readAt.epochSeconds);
  polling.replaceJobs(jobs, config.poll.intervalMs);
  return {
    url: server.url,
    reload,
    close: async () => {
      polling.close();
      await server.close();
    },
  };
}

/** Of the text without the secrets: everybody sees the hash, and could try out passwords on it. */
function hashOf(config: Config): number {
  return fingerprint(configText(config));
}

/** Runs a task again only when it has ended: two reloads at once could leave the older configuration in place. */
function oneAtATime<T>(task: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(task, task);
    last = next;
    return next;
  };
}
