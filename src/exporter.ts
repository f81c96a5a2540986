import type { Logger } from 'pino';
import { createActiveConfig, type ActiveConfig, type LoadedConfig, type ReloadOptions } from './active-config.js';
import { verdictsOf } from './poll/verdicts.js';
import { documents } from './documents.js';
import type { Config, ConfigResult } from './config/config.js';
import type { Shard } from './config/shard.js';
import { createEndpointRegistry, type RegistryOptions } from './poll/registry.js';
import { createMetricsPage } from './exposition/metrics-page.js';
import { createProcessMetrics, type BuildInfo } from './exposition/process-metrics.js';
import { configPage } from './pages/config-page.js';
import { pendingPage } from './pages/pending-page.js';
import { recorderView, statusPage, type Instance, type StatusView } from './pages/status-page.js';
import { jsonOf, pendingView, viewOf, type PendingView, type ShownEndpoint } from './pages/view.js';
import type { EndpointState } from './poll/endpoint-state.js';
import { clock, isoTime, type Instant } from './clock.js';
import type { PollExecutor } from './poll/fetch.js';
import { createRecorder, type Recorder } from './recorder/recorder.js';
import { createApp, type AppDependencies } from './server/app.js';
import { startWebServer, type ListenAddress } from './server/server.js';
import type { WebConfigFile } from './server/web-config.js';
import type { StateFile } from './state/state-file.js';
import { prepareItems } from './poll/kept-body.js';

export interface ExporterOptions extends ReloadOptions {
  readonly listen: ListenAddress;
  readonly telemetryPath: string;
  readonly maxRequests: number;
  readonly build: BuildInfo;
  readonly shard: Shard;
  /** Absent for plain HTTP without authentication. */
  readonly webConfig?: WebConfigFile | undefined;
  readonly enableLifecycle: boolean;
  /** Absent if nothing survives a restart. */
  readonly stateFile?: Omit<StateFile, 'close'> | undefined;
  readonly knownBefore?: RegistryOptions['knownBefore'];
}

export interface Exporter {
  readonly url: string;
  /** Activates a new configuration, or keeps the previous one if it is invalid. Unchanged endpoints keep their state. */
  readonly reload: () => Promise<ConfigResult>;
  /** Stops polling and drains the server. */
  readonly close: () => Promise<void>;
}

/** The daemon: each endpoint is polled on a timer, its document becomes samples, a scrape returns the latest samples as text. */
export async function startExporter(
  config: Config,
  executor: PollExecutor,
  log: Logger,
  options: ExporterOptions,
): Promise<Exporter> {
  const startedAt = clock();
  const { knownBefore, stateFile } = options;
  const recorder = createRecorder(log);
  const endpoints = createEndpointRegistry({ executor, log, knownBefore, recorder, stateFile });
  const processMetrics = createProcessMetrics(options.build, options.shard, recorder.status);
  const metricsPage = createMetricsPage(endpoints, processMetrics);
  const activate = ({ jobs, recorder: recording, hash, loadedAt, targets }: LoadedConfig): void => {
    recorder.configure(recording);
    endpoints.reconcile(jobs, loadedAt);
    processMetrics.configLoaded(hash, loadedAt.epochSeconds, targets);
  };
  const active = createActiveConfig(config, options, log, {
    onLoaded: activate,
    onRejected: processMetrics.configRejected,
  });
  const app = createApp(
    {
      ...createPages(endpoints, active, { ...options, recorder, startedAt, now: clock }),
      metrics: async (format, encoding) => metricsPage(format, encoding, clock()),
      notYetPolled: () =>
        endpoints
          .states()
          .flatMap(({ polls, target, document }) =>
            polls > 0 || documents[document].isOptional ? [] : [`${target} ${document}`],
          ),
      reload: active.reload,
    },
    options,
    log,
  );
  const server = await startWebServer(app, options.listen, { log, webConfig: options.webConfig });
  // Polling starts here.
  activate(active.current());
  options.stateFile?.start(endpoints.states);
  active.startAutoReload();
  return {
    url: server.url,
    reload: active.reload,
    close: async () => {
      active.close();
      endpoints.close();
      await Promise.all([recorder.close(), server.close()]);
    },
  };
}

interface PagesOptions extends Pick<ExporterOptions, 'telemetryPath' | 'build'> {
  readonly startedAt: Instant;
  readonly recorder: Pick<Recorder, 'status'>;
  readonly now: () => Instant;
  /** Whether the pages are those of a recording. */
  readonly isRecording?: boolean;
}

/** The pages for people, rendered for each request. */
export function createPages(
  endpoints: { readonly all: () => readonly ShownEndpoint[]; readonly states: () => readonly EndpointState[] },
  active: Pick<ActiveConfig, 'current' | 'rejectedAt'>,
  { telemetryPath, build, startedAt, recorder, now: clockNow, isRecording = false }: PagesOptions,
): Pick<AppDependencies, 'statusPage' | 'pendingPage' | 'configPage'> {
  const site = { telemetryPath, version: build.version, isRecording };
  const verdicts = (now: Instant) => verdictsOf(endpoints.states(), now);

  const instance = (now: Instant): Instance => {
    const { poll, hash, loadedAt } = active.current();
    const rejectedAt = active.rejectedAt();
    return {
      version: build.version,
      nodeVersion: build.nodeVersion,
      intervalMs: poll.interval,
      timeoutMs: poll.timeout,
      staleAfterMs: poll.stale_after,
      startedAt: isoTime(startedAt.epochSeconds),
      uptimeSeconds: (now.monotonicMs - startedAt.monotonicMs) / 1000,
      configHash: hash,
      configLoadedAt: isoTime(loadedAt.epochSeconds),
      configRejectedAt: rejectedAt ? isoTime(rejectedAt.epochSeconds) : null,
      recorder: recorderView(recorder.status()),
    };
  };

  const pending = async (target: string | undefined, query: string | undefined): Promise<PendingView | undefined> => {
    await prepareItems(endpoints.states().filter((state) => target === undefined || state.target === target));
    const now = clockNow();
    return pendingView(endpoints.all(), verdicts(now), active.current().links, now, { target, query });
  };

  const status = async (): Promise<StatusView> => {
    await prepareItems(endpoints.states());
    const now = clockNow();
    return {
      ...viewOf(endpoints.all(), verdicts(now), active.current().links, now),
      instance: instance(now),
    };
  };

  return {
    statusPage: async (isJson) => {
      const view = await status();
      return isJson ? jsonOf(view, { withItems: false }) : statusPage(view, site);
    },
    pendingPage: async (isJson, target, search) => {
      const view = await pending(target, search);
      if (view === undefined) return undefined;
      return isJson ? jsonOf(view, { withItems: true }) : pendingPage(view, active.current().links, site);
    },
    configPage: () => {
      const { text, loadedAt } = active.current();
      return configPage(text, isoTime(loadedAt.epochSeconds), site);
    },
  };
}
