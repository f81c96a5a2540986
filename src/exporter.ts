import type { Logger } from 'pino';
import type { Config, ConfigResult, Shard } from './config/config.js';
import { formatConfig } from './config/printer.js';
import { createMetricsPage } from './exposition/exposition.js';
import { createProcessMetrics, type BuildInfo } from './exposition/process-metrics.js';
import { fingerprint } from './metrics/fingerprint.js';
import { configPage } from './pages/config-page.js';
import { endpointStatuses, namesViews } from './pages/endpoint-view.js';
import { externalLinks, type ExternalLinks } from './pages/external-links.js';
import { pendingDocument, type PendingDocument } from './pages/pending-document.js';
import { pendingPage } from './pages/pending-page.js';
import { statusPage, type Instance } from './pages/status-page.js';
import { targetViews } from './pages/target-view.js';
import { isoTime } from './pages/time.js';
import { clock, type Instant } from './poll/clock.js';
import { createEndpointStore, type ReloadedEndpoint } from './poll/endpoint-store.js';
import { endpointKeyOf, endpointOf, jobsOf } from './poll/jobs.js';
import { createPollLog } from './poll/poll-log.js';
import type { PollExecutor, PollJob } from './poll/poll.js';
import { startPollLoop, startScheduler } from './poll/scheduler.js';
import { createValidatorNames } from './poll/validator-names.js';
import { createApp } from './server/app.js';
import { startWebServer, type ListenAddress } from './server/server.js';
import type { LoadedWebConfig } from './server/web-config.js';
import { createVerdicts } from './verdicts/verdicts.js';

export interface ExporterOptions {
  readonly listen: ListenAddress;
  readonly telemetryPath: string;
  readonly maxRequests: number;
  readonly build: BuildInfo;
  readonly shard: Shard;
  /** Absent for plain HTTP without authentication. */
  readonly webConfig?: LoadedWebConfig | undefined;
  readonly enableLifecycle: boolean;
  /** Reads the configuration for a reload. */
  readonly loadConfig: () => Promise<ConfigResult>;
  /** Absent if the configuration is reloaded only on request. */
  readonly autoReload?: AutoReload | undefined;
}

export interface AutoReload {
  readonly intervalMs: number;
  /** Hash of the files of the configuration, before the active one was loaded. */
  readonly initialHash: string;
  readonly hashFiles: () => Promise<string>;
}

export interface Exporter {
  readonly url: string;
  /** Activates a new configuration, or keeps the previous one if it is invalid. Unchanged endpoints keep their state. */
  readonly reload: () => Promise<ConfigResult>;
  /** Stops polling and drains the server. */
  readonly close: () => Promise<void>;
}

/** The daemon: a scheduler polls each document, the document becomes samples, a scrape returns the latest samples as text. */
export async function startExporter(
  config: Config,
  executor: PollExecutor,
  log: Logger,
  options: ExporterOptions,
): Promise<Exporter> {
  const startedAt = clock();
  let active = activeConfig(config);
  let rejectedAt: Instant | undefined;
  const endpoints = active.jobs.map(({ processing }) => endpointOf(processing));
  const store = createEndpointStore(endpoints, config.poll);
  const verdicts = createVerdicts(endpoints, config.poll, startedAt);
  const logPoll = createPollLog(log);
  const validatorNames = createValidatorNames(executor, {
    onFailure: (target, { reason, message }) =>
      log.warn({ target, reason }, `validator names cannot be read, the last ones stay: ${message}`),
    onRecovery: (target) => log.info({ target }, 'validator names are read again'),
  });
  const scheduler = startScheduler(
    async (job) => executor.poll(validatorNames.addTo(job)),
    (job, result, at) => {
      const { before, after } = store.record(endpointKeyOf(job.processing), result, at);
      verdicts.record(after);
      logPoll(before, after);
      if (result.outcome.ok) void validatorNames.refresh(job);
    },
  );
  const processMetrics = createProcessMetrics(options.build, options.shard);
  const metricsPage = createMetricsPage(store, processMetrics);

  const applyActiveConfig = (): void => {
    validatorNames.retain(active.jobs);
    scheduler.replaceJobs(active.jobs, active.poll.intervalMs);
    processMetrics.configLoaded(active.hash, active.loadedAt.epochSeconds, active.targets);
  };

  const enqueue = createQueue();
  const { autoReload } = options;
  let isClosed = false;
  let loadedHash = autoReload?.initialHash;

  async function reloadNow(): Promise<ConfigResult> {
    // Before the files are read: a change in the meantime is found by the next check.
    loadedHash = await autoReload?.hashFiles();
    const result = await options.loadConfig();
    if (isClosed) return result;
    if (!result.ok) {
      rejectedAt = clock();
      processMetrics.configRejected();
      log.error({ problems: result.problems }, 'the new configuration is invalid, the previous one stays active');
      return result;
    }
    const previous = active;
    active = activeConfig(result.config);
    rejectedAt = undefined;
    const reloaded = endpointsOf(active.jobs, previous.jobs);
    store.replace(reloaded, active.poll);
    verdicts.retain(reloaded, active.poll, active.loadedAt);
    applyActiveConfig();
    for (const warning of result.warnings) log.warn(warning);
    log.info({ targets: result.config.targets.length }, 'configuration reloaded');
    return result;
  }

  const reload = async (): Promise<ConfigResult> => enqueue(reloadNow);

  /** Compares with the files of the last attempt, so that an invalid configuration is reported once. */
  const reloadIfChanged = async (): Promise<void> =>
    enqueue(async () => {
      if ((await autoReload?.hashFiles()) !== loadedHash) await reloadNow();
    });

  const instance = (now: Instant): Instance => ({
    ...active.poll,
    ...options.build,
    startedAt: isoTime(startedAt.epochSeconds),
    uptimeSeconds: (now.monotonicMs - startedAt.monotonicMs) / 1000,
    configHash: active.hash,
    configLoadedAt: isoTime(active.loadedAt.epochSeconds),
    configRejectedAt: rejectedAt ? isoTime(rejectedAt.epochSeconds) : null,
  });

  const site = { telemetryPath: options.telemetryPath, version: options.build.version };

  const statusHtml = (): string => {
    const now = clock();
    const statuses = endpointStatuses(store, now, active.poll.staleAfterMs);
    const targets = targetViews(verdicts.targets(now), statuses, active.links, now);
    const names = namesViews(validatorNames.states(), now);
    const generatedAt = isoTime(now.epochSeconds);
    return statusPage({ generatedAt, targets, endpoints: statuses, names, instance: instance(now) }, site);
  };

  const pending = (target: string | undefined): PendingDocument | undefined => {
    const now = clock();
    return pendingDocument(store, verdicts.targets(now), active.links, now, target);
  };

  const app = createApp(
    {
      metrics: async (format, encoding) => metricsPage(format, encoding, clock()),
      statusPage: statusHtml,
      pendingPage: (target, sorting) => {
        const document = pending(target);
        return document && pendingPage(document, sorting, active.links, site);
      },
      pendingDocument: pending,
      configPage: () => configPage(active.text, isoTime(active.loadedAt.epochSeconds), site),
      notYetPolled: () =>
        store.all().flatMap(({ polls, target, document }) => (polls > 0 ? [] : [`${target} ${document}`])),
      reload,
    },
    options,
    log,
  );
  const server = await startWebServer(app, options.listen, { log, webConfig: options.webConfig });
  // Polling starts here.
  applyActiveConfig();
  const reloadLoop = autoReload && startPollLoop(reloadIfChanged, autoReload.intervalMs, autoReload.intervalMs);
  return {
    url: server.url,
    reload,
    close: async () => {
      isClosed = true;
      reloadLoop?.close();
      scheduler.close();
      await server.close();
    },
  };
}

interface ActiveConfig {
  readonly targets: number;
  readonly jobs: readonly PollJob[];
  readonly poll: Config['poll'];
  readonly links: ExternalLinks;
  /** As a configuration file, without secrets. */
  readonly text: string;
  readonly hash: number;
  readonly loadedAt: Instant;
}

function activeConfig(config: Config): ActiveConfig {
  const text = formatConfig(config);
  // The hash is a metric. It does not cover secrets, so that passwords cannot be guessed from it.
  const hash = fingerprint(text);
  const { poll, targets } = config;
  return {
    targets: targets.length,
    jobs: jobsOf(config),
    poll,
    links: externalLinks(config),
    text,
    hash,
    loadedAt: clock(),
  };
}

/** Endpoints keep their state if they are still polled at the same URLs and with the same labels. */
function endpointsOf(jobs: readonly PollJob[], previousJobs: readonly PollJob[]): ReloadedEndpoint[] {
  const identityOf = ({ baseUrl, paths, query, processing }: PollJob): string =>
    JSON.stringify([endpointOf(processing), baseUrl, paths, query]);
  const previous = new Set(previousJobs.map(identityOf));
  return jobs.map((job) => ({ ...endpointOf(job.processing), isKept: previous.has(identityOf(job)) }));
}

/** Runs tasks one after the other. Otherwise, the older of two concurrent reloads could win. */
function createQueue(): <T>(task: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const next = last.then(task, task);
    last = next;
    return next;
  };
}
