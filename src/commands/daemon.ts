import { setFlagsFromString } from 'node:v8';
import { formatConfig, hashConfigFile } from '../config/loader.js';
import { startRepeating, type Repeating } from '../tasks.js';
import { type CommandContext, type ExitCode, printProblems, printWarnings, userAgent } from './context.js';
import { type DaemonFlags, readWebOptions } from './flags.js';
import { readConfig } from './configuration.js';

/**
 * How much a function runs before V8 considers to optimize it. With the default, V8 spends more on compiling than it
 * saves when polls are seconds apart: 10 targets of 1 MB every 30 s take 54 instead of 44 ms of CPU time per poll on
 * Node.js 20 (`npm run bench`). Node.js 24 compiles with Maglev, which is cheap, and does not have the flag.
 */
const INTERRUPT_BUDGET_FLAG = '--interrupt-budget=1000000';
const WITHOUT_INTERRUPT_BUDGET = 24;

/** The daemon: polls and serves until it is stopped. */
export async function runDaemon(options: DaemonFlags, context: CommandContext): Promise<ExitCode> {
  // Before the configuration is loaded, so that the first check detects a change in the meantime.
  const startAutoReload = await prepareAutoReload(options);
  const config = await readConfig(context, options, { checkFiles: options['config.check'] });
  const web = await readWebOptions(options);
  const warnings = config.ok ? [...config.warnings] : [];
  const problems = [config, web].flatMap((result) => (result.ok ? [] : result.problems));
  printProblems(context, problems);
  if (problems.length > 0 || options['config.check']) printWarnings(context, warnings);
  if (!config.ok || !web.ok) return 2;
  if (options['config.check']) {
    context.print(formatConfig(config.config));
    return 0;
  }
  const waitForStopSignal = context.handleStopSignals();
  /** By a SIGHUP before the exporter serves. */
  const early = { isReloadRequested: false };
  context.onReloadSignal(() => (early.isReloadRequested = true));
  if (options['config.autoReloadInterval'] > 0 && options['config.file'] === undefined) {
    warnings.push('--config.auto-reload-interval has no effect without --config.file');
  }
  // Not imported for --config.check, because loading them takes several times as long as starting Node.js.
  const { createClock } = await import('../clock.js');
  const { createLog } = await import('./log.js');
  const { startExporter } = await import('./exporter.js');
  const { createNetwork } = await import('../sources/network.js');
  const { openStateFile } = await import('../engine/state-file.js');
  const log = createLog(options, context.standardError);
  for (const warning of warnings) log.warn(warning);
  const nodeMajor = Number.parseInt(context.build.nodeVersion, 10);
  if (nodeMajor < WITHOUT_INTERRUPT_BUDGET) setFlagsFromString(INTERRUPT_BUDGET_FLAG);
  const file = options['state.file'];
  const stateFile = file === undefined ? undefined : await openStateFile(file, log);
  const clock = createClock({ start: stateFile?.clockStart });
  const network = createNetwork(userAgent(context), clock, context.env);
  try {
    const exporter = await startExporter(config.config, network, log, {
      ...web.options,
      build: context.build,
      clock,
      shard: options['targets.shard'],
      loadConfig: async () => readConfig(context, options),
      stateFile,
    });
    const fields = { version: context.build.version, targets: config.config.targets.length };
    log.info(fields, `serving ${exporter.url}${options['web.telemetryPath']}`);
    context.onReloadSignal(() => void exporter.reload());
    if (early.isReloadRequested) void exporter.reload();
    const autoReload = startAutoReload?.(exporter.reload);
    const signal = await waitForStopSignal();
    autoReload?.close();
    await exporter.close();
    log.info(`stopped by ${signal}`);
  } finally {
    await stateFile?.close();
    network.close();
  }
  return 0;
}

type StartAutoReload = (reload: () => Promise<unknown>) => Repeating;

/** Hashes the configuration file, to reload it when it changes. `undefined` without a file or interval. */
async function prepareAutoReload(options: DaemonFlags): Promise<StartAutoReload | undefined> {
  const intervalMs = options['config.autoReloadInterval'];
  const file = options['config.file'];
  if (options['config.check'] || intervalMs === 0 || file === undefined) return undefined;
  let lastHash = await hashConfigFile(file);
  const reloadIfChanged = async (reload: () => Promise<unknown>): Promise<void> => {
    const hash = await hashConfigFile(file);
    if (hash === lastHash) return;
    lastHash = hash;
    await reload();
  };
  return (reload) => startRepeating(async () => reloadIfChanged(reload), intervalMs, { delayMs: intervalMs });
}
