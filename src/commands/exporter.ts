import type { Logger } from 'pino';
import { judgeTargets } from '../engine/target-problems.js';
import { documents } from '../documents.js';
import { hash48, type Config, type ConfigResult, type Shard } from '../config/config.js';
import { formatConfig } from '../config/loader.js';
import { createJobs, targetsHash } from '../engine/jobs.js';
import { createPollLoop, type PollLoopOptions } from '../engine/loop.js';
import { metricsPage } from '../exposition/metrics-page.js';
import type { BuildInfo } from '../exposition/exporter-metrics.js';
import { createProcessMetrics } from '../exposition/node-metrics.js';
import { externalLinks } from '../pages/external-links.js';
import { pendingPage } from '../pages/pending-page.js';
import { configPage, statusPage, type Instance, type StatusView } from '../pages/status-page.js';
import { toJson, createView, type ShownEndpoint, type View } from '../pages/view.js';
import type { EndpointState } from '../engine/endpoint-state.js';
import { isoTime, wallSeconds, type Clock, type Instant, type Moment } from '../clock.js';
import type { Network } from '../sources/network.js';
import { createQueue } from '../tasks.js';
import { createRecorder } from '../recorder/recorder.js';
import { createApp, type Content } from '../server/app.js';
import { startWebServer, type ListenAddress } from '../server/server.js';
import type { WebConfigFile } from '../server/web-config.js';
import type { StateFile } from '../engine/state-file.js';
import { prepareItems } from '../engine/poll-body.js';

export interface ExporterOptions {
  /** Reads the configuration for a reload. */
  readonly loadConfig: () => Promise<ConfigResult>;
  readonly listen: ListenAddress;
  readonly telemetryPath: string;
  readonly maxRequests: number;
  readonly build: BuildInfo;
  readonly shard: Shard;
  /** Absent for plain HTTP without authentication. */
  readonly webConfig?: WebConfigFile | undefined;
  readonly clock: Clock;
  readonly enableLifecycle: boolean;
  /** Absent if no memory survives a restart. */
  readonly stateFile?: Omit<StateFile, 'close'> | undefined;
  readonly demoState?: PollLoopOptions['demoState'];
}

export interface Exporter {
  readonly url: string;
  /** Activates the changed configuration if it is valid. Unchanged endpoints keep their state. */
  readonly reload: () => Promise<ConfigResult>;
  /** Stops polling and drains the server. */
  readonly close: () => Promise<void>;
}

/** The daemon: polls each endpoint on a timer, and serves metrics and pages of the latest documents. */
export async function startExporter(
  config: Config,
  network: Network,
  log: Logger,
  options: ExporterOptions,
): Promise<Exporter> {
  const { demoState, stateFile, clock } = options;
  const startedAt = clock().at;
  const recorder = createRecorder(log, clock);
  const pollLoop = createPollLoop({ source: network, log, now: clock, demoState, recorder, stateFile });
  const activate = (loaded: LoadedConfig): void => {
    recorder.configure(loaded.config.recorder);
    pollLoop.reconcile(loaded.jobs, loaded.loadedAt);
  };
  const active = createActiveConfig(config, options, log, activate);
  const renderProcessMetrics = createProcessMetrics(() => ({
    build: options.build,
    shard: options.shard,
    config: active.current(),
    isConfigRejected: active.rejected() !== undefined,
    targetsHash: () => targetsHash(pollLoop.states()),
    recorder: recorder.status(),
  }));
  const app = createApp(
    {
      ...createPages(pollLoop, active, { ...options, startedAt, now: clock }),
      metrics: async (format) => metricsPage(pollLoop.states(), renderProcessMetrics, format, clock()),
      notYetPolled: () =>
        pollLoop
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
  options.stateFile?.start(pollLoop.states, clock);
  return {
    url: server.url,
    reload: active.reload,
    close: async () => {
      active.close();
      pollLoop.close();
      await Promise.all([recorder.close(), server.close()]);
    },
  };
}

interface PagesOptions extends Pick<ExporterOptions, 'telemetryPath' | 'build'> {
  readonly startedAt: Instant;
  readonly stateFile?: Pick<StateFile, 'problem'> | undefined;
  readonly now: Clock;
}

/** The pages, rendered for each request. */
export function createPages(
  polled: { readonly endpoints: () => readonly ShownEndpoint[]; readonly states: () => readonly EndpointState[] },
  active: Pick<ActiveConfig, 'current' | 'rejected'>,
  { telemetryPath, build, startedAt, stateFile, now: clockNow }: PagesOptions,
): Pick<Content, 'statusPage' | 'pendingPage' | 'configPage'> {
  const site = { telemetryPath, version: build.version };

  const instance = (now: Moment): Instance => {
    const { hash, loadedAt } = active.current();
    const rejected = active.rejected();
    return {
      version: build.version,
      nodeVersion: build.nodeVersion,
      startedAt: isoTime(wallSeconds(startedAt, now)),
      uptimeSeconds: now.at - startedAt,
      configHash: hash,
      configLoadedAt: isoTime(wallSeconds(loadedAt, now)),
      configRejectedAt: rejected ? isoTime(wallSeconds(rejected.at, now)) : null,
      configProblems: rejected?.problems ?? [],
      stateFileProblem: stateFile?.problem() ?? null,
    };
  };

  const buildView = (target?: string, query?: string): View => {
    const now = clockNow();
    const isShown = (other: { readonly target: string }): boolean => target === undefined || other.target === target;
    const endpoints = polled.endpoints().filter(({ state }) => isShown(state));
    const problems = judgeTargets(polled.states().filter(isShown), now);
    return createView(endpoints, problems, active.current().links, now, query);
  };

  return {
    statusPage: async (format) => {
      const now = clockNow();
      const view: StatusView = { ...buildView(), instance: instance(now) };
      return format === 'json' ? toJson(view, { withItems: false }) : statusPage(view, active.current().links, site);
    },
    pendingPage: async (format, target, query = '') => {
      const states = polled.states().filter((state) => target === undefined || state.target === target);
      if (target !== undefined && states.length === 0) return undefined;
      // The page that lists several targets shows no items.
      const isList = format === 'html' && new Set(states.map((state) => state.target)).size > 1;
      if (!isList) await prepareItems(states, query);
      const view = buildView(target, isList ? undefined : query);
      return format === 'json'
        ? toJson(view, { withItems: true })
        : pendingPage(view, query, active.current().links, site);
    },
    configPage: () => {
      const { text, loadedAt } = active.current();
      return configPage(text, isoTime(wallSeconds(loadedAt, clockNow())), site);
    },
  };
}

type ActiveConfig = ReturnType<typeof createActiveConfig>;

/** The active configuration, which a reload replaces if the new one is valid. */
function createActiveConfig(
  config: Config,
  { loadConfig, clock }: Pick<ExporterOptions, 'loadConfig' | 'clock'>,
  log: Logger,
  onLoaded: (config: LoadedConfig) => void,
) {
  let current = loadedConfig(config, clock().at);
  let rejected: { readonly at: Instant; readonly problems: readonly string[] } | undefined;
  let isClosed = false;
  // The older of two concurrent reloads could win otherwise.
  const enqueue = createQueue();

  async function reloadNow(): Promise<ConfigResult> {
    const result = await loadConfig();
    if (isClosed) return result;
    if (!result.ok) {
      rejected = { at: clock().at, problems: result.problems };
      log.error(
        { problems: result.problems },
        'the new configuration is invalid, the previous one stays active: correct it and reload',
      );
      return result;
    }
    current = loadedConfig(result.config, clock().at);
    rejected = undefined;
    onLoaded(current);
    for (const warning of result.warnings) log.warn(warning);
    log.info({ targets: current.targets }, 'configuration reloaded');
    return result;
  }

  return {
    current: () => current,
    /** The last failed reload, until a reload succeeds. */
    rejected: () => rejected,
    reload: async () => enqueue(reloadNow),
    close: () => {
      isClosed = true;
    },
  };
}

type LoadedConfig = Readonly<ReturnType<typeof loadedConfig>>;

/** A configuration with its derived values. */
export function loadedConfig(config: Config, loadedAt: Instant) {
  const jobs = createJobs(config);
  /** The configuration as a file, without secrets. */
  const text = formatConfig(config);
  return {
    config,
    jobs,
    links: externalLinks(config),
    text,
    /** Without secrets, which could be guessed from it. */
    hash: hash48(text),
    targets: config.targets.length,
    loadedAt,
  };
}
