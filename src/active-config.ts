import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config, ConfigResult, PollConfig, RecorderSettings } from './config/config.js';
import { formatConfig } from './config/loader.js';
import { createQueue } from './queue.js';
import { startRepeating } from './repeating.js';
import { externalLinks, type ExternalLinks } from './pages/external-links.js';
import { clock, type Instant } from './clock.js';
import { jobsOf, type PollJob } from './poll/jobs.js';

/** A configuration and what is derived from it. */
export interface LoadedConfig {
  readonly targets: number;
  readonly jobs: readonly PollJob[];
  readonly poll: PollConfig;
  readonly recorder: RecorderSettings;
  readonly links: ExternalLinks;
  /** The configuration as a file, without secrets. */
  readonly text: string;
  readonly hash: number;
  readonly loadedAt: Instant;
}

export interface ReloadOptions {
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

interface ReloadEvents {
  readonly onLoaded: (config: LoadedConfig) => void;
  readonly onRejected: () => void;
}

/** The active configuration. */
export interface ActiveConfig {
  readonly current: () => LoadedConfig;
  /** When a reload failed, unless a later one succeeded. */
  readonly rejectedAt: () => Instant | undefined;
  /** Activates a new configuration, or keeps the previous one if it is invalid. */
  readonly reload: () => Promise<ConfigResult>;
  /** Starts to check the files for changes. */
  readonly startAutoReload: () => void;
  readonly close: () => void;
}

export function createActiveConfig(
  config: Config,
  { loadConfig, autoReload }: ReloadOptions,
  log: Logger,
  { onLoaded, onRejected }: ReloadEvents,
): ActiveConfig {
  let current = loadedConfig(config);
  let rejectedAt: Instant | undefined;
  let loadedHash = autoReload?.initialHash;
  let isClosed = false;
  let closeLoop = (): void => undefined;
  // Otherwise, the older of two concurrent reloads could win.
  const enqueue = createQueue();

  async function reloadNow(): Promise<ConfigResult> {
    // The hash is made before the files are read: a change in the meantime is found by the next check.
    loadedHash = await autoReload?.hashFiles();
    const result = await loadConfig();
    if (isClosed) return result;
    if (!result.ok) {
      rejectedAt = clock();
      onRejected();
      log.error({ problems: result.problems }, 'the new configuration is invalid, the previous one stays active');
      return result;
    }
    current = loadedConfig(result.config);
    rejectedAt = undefined;
    onLoaded(current);
    for (const warning of result.warnings) log.warn(warning);
    log.info({ targets: current.targets }, 'configuration reloaded');
    return result;
  }

  /** Compares with the files of the last attempt, so that an invalid configuration is reported once. */
  const reloadIfChanged = async (): Promise<void> =>
    enqueue(async () => {
      if ((await autoReload?.hashFiles()) !== loadedHash) await reloadNow();
    });

  return {
    current: () => current,
    rejectedAt: () => rejectedAt,
    reload: async () => enqueue(reloadNow),
    startAutoReload: () => {
      if (autoReload === undefined) return;
      closeLoop = startRepeating(reloadIfChanged, autoReload.intervalMs, autoReload.intervalMs).close;
    },
    close: () => {
      isClosed = true;
      closeLoop();
    },
  };
}

/** 48 bits are exact in a double. */
const HASH_HEX_DIGITS = 12;

/** The hash of `bridge_exporter_config_hash`. It does not cover secrets, so that passwords cannot be guessed from it. */
export function configHash(config: Config): number {
  const digest = createHash('sha256').update(formatConfig(config)).digest('hex');
  return Number.parseInt(digest.slice(0, HASH_HEX_DIGITS), 16);
}

export function loadedConfig(config: Config): LoadedConfig {
  return {
    targets: config.targets.length,
    jobs: jobsOf(config),
    poll: config.poll,
    recorder: config.recorder,
    links: externalLinks(config),
    text: formatConfig(config),
    hash: configHash(config),
    loadedAt: clock(),
  };
}
