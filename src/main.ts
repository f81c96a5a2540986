#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { CommandInvocation, CommandName, ConfigSettings, LogSettings, WebSettings } from './cli/flags.js';
import { parseInvocation } from './cli/invocation.js';
import type { Config, ConfigResult, Shard } from './config/config.js';
import type { MemoryLimits } from './config/memory.js';
import type { AutoReload } from './exporter.js';
import type { OneShot } from './one-shot.js';
import type { PollExecutor } from './poll/poll.js';

/*
 * The process: command line, signals and exit codes. Every command imports its modules when it runs, because loading those
 * of the daemon takes several times as long as starting Node.js.
 */

/** 0: done, or stopped by a signal. 1: runtime failure. 2: invalid usage or configuration. */
type ExitCode = 0 | 1 | 2;

type RunOf<Command extends CommandName> = Extract<CommandInvocation, { command: Command }>;

async function main(): Promise<ExitCode> {
  const invocation = parseInvocation(process.argv.slice(2), process.env);
  switch (invocation.command) {
    case 'help':
      return printHelp(invocation.about);
    case 'version':
      return print(`bridge-exporter ${readVersion()} (revision ${readRevision()}, node ${process.versions.node})\n`);
    case 'usage-error':
      return printProblems([...invocation.problems, seeHelp(invocation.about)]);
    case 'daemon':
      return runDaemon(invocation);
    case 'once':
      return runOnce(invocation);
    case 'replay':
      return runReplay(invocation);
    case 'simulate':
      return runSimulate(invocation);
    case 'demo':
      return runDemo(invocation);
  }
}

async function printHelp(command: CommandName): Promise<ExitCode> {
  const hasScenarios = command === 'simulate' || command === 'demo';
  const scenarios = hasScenarios ? (await import('./simulator/scenarios.js')).scenarioRows : [];
  const { helpText } = await import('./cli/help.js');
  return print(helpText(command, scenarios));
}

async function runDaemon(run: RunOf<'daemon'>): Promise<ExitCode> {
  // Before the configuration is loaded: a change in the meantime is found by the first check.
  const autoReload = await prepareAutoReload(run.config);
  // Kept for the log, which --config.check does not load.
  const warnings: string[] = [];
  const collect = (found: readonly string[]): number => warnings.push(...found);
  const [config, web] = [await loadConfig(run, undefined, collect), await loadWebOptions(run.web, collect)];
  if (run.config.check || config === undefined || web === undefined) printWarnings(warnings);
  if (config === undefined || web === undefined) return 2;
  if (run.config.check) return printConfig(config);
  if (run.config.autoReloadIntervalMs > 0 && autoReload === undefined) {
    warnings.push('--config.auto-reload-interval has no effect without --config.file');
  }
  const { createLog } = await import('./cli/log.js');
  const { startExporter } = await import('./exporter.js');
  const log = await createLog(run.log);
  for (const warning of warnings) log.warn(warning);
  const stopped = waitForStopSignal();
  const build = buildInfo();
  const executor = await startPollThread(config);
  try {
    const exporter = await startExporter(config, executor, log, {
      ...web,
      build,
      shard: run.targets.shard,
      loadConfig: () => readConfig(run),
      autoReload,
    });
    process.on('SIGHUP', () => void exporter.reload());
    const fields = { version: build.version, targets: config.targets.length };
    log.info(fields, `serving ${exporter.url}${run.web.telemetryPath}`);
    const signal = await stopped;
    await exporter.close();
    log.info(`stopped by ${signal}`);
  } finally {
    await executor.close();
  }
  return 0;
}

async function runOnce(run: RunOf<'once'>): Promise<ExitCode> {
  const config = await loadConfig(run);
  if (config === undefined) return 2;
  if (run.config.check) return printConfig(config);
  const { createInlineExecutor } = await import('./poll/inline-executor.js');
  const { pollOnce } = await import('./one-shot.js');
  const executor = createInlineExecutor(userAgent());
  try {
    return printOneShot(await pollOnce(config, executor, progressPrinter(run.log)));
  } finally {
    await executor.close();
  }
}

async function runReplay(run: RunOf<'replay'>): Promise<ExitCode> {
  const { defaultConfig } = await import('./config/schema.js');
  const config = await loadConfig(run, defaultConfig);
  if (config === undefined) return 2;
  if (run.config.check) return printConfig(config);
  const { replay } = await import('./one-shot.js');
  return printOneShot(await replay(config, run.recording, process.stdin, progressPrinter(run.log)));
}

async function runSimulate({ simulator: settings, log }: RunOf<'simulate'>): Promise<ExitCode> {
  const { scenarioProblem, simulate } = await import('./simulator/simulate.js');
  const problem = scenarioProblem(settings);
  if (problem !== undefined) return printProblems([problem, seeHelp('simulate')]);
  const stopped = waitForStopSignal();
  const simulator = await simulate(settings, printLine, progressPrinter(log));
  await stopped;
  await simulator.close();
  return 0;
}

async function runDemo({ simulator: settings, web: webSettings, log }: RunOf<'demo'>): Promise<ExitCode> {
  const { scenarioProblem } = await import('./simulator/simulate.js');
  const problem = scenarioProblem(settings);
  if (problem !== undefined) return printProblems([problem, seeHelp('demo')]);
  const web = await loadWebOptions(webSettings);
  if (web === undefined) return 2;
  const { createLog } = await import('./cli/log.js');
  const { defaultConfig } = await import('./config/schema.js');
  const { startDemo } = await import('./simulator/demo.js');
  const stopped = waitForStopSignal();
  const executor = await startPollThread(defaultConfig);
  const options = { ...web, build: buildInfo(), shard: { index: 1, count: 1 } };
  try {
    const demo = await startDemo(settings, executor, await createLog(log), options, printLine, progressPrinter(log));
    await stopped;
    await demo.close();
  } finally {
    await executor.close();
  }
  return 0;
}

async function prepareAutoReload({
  file,
  check,
  autoReloadIntervalMs: intervalMs,
}: RunOf<'daemon'>['config']): Promise<AutoReload | undefined> {
  if (check || intervalMs === 0 || file === undefined) return undefined;
  const { createConfigHash } = await import('./config/config-files.js');
  const hashFiles = createConfigHash(file);
  return { intervalMs, initialHash: await hashFiles(), hashFiles };
}

type ReportWarnings = (warnings: readonly string[]) => void;

interface ConfigFlags {
  readonly config: ConfigSettings;
  readonly targets?: { readonly shard: Shard };
}

/** The configuration with the targets of this shard. Reports warnings, or prints all problems and returns `undefined`. */
async function loadConfig(
  flags: ConfigFlags,
  fallback?: Config,
  reportWarnings: ReportWarnings = printWarnings,
): Promise<Config | undefined> {
  const result = await readConfig(flags, fallback);
  if (!result.ok) {
    printProblems(result.problems);
    return undefined;
  }
  reportWarnings(result.warnings);
  return result.config;
}

async function readConfig({ config: { file, check }, targets }: ConfigFlags, fallback?: Config): Promise<ConfigResult> {
  const [loader, { clampToMemory }, { selectShard }, { metricLabels }] = await Promise.all([
    import('./config/loader.js'),
    import('./config/memory.js'),
    import('./cli/shard.js'),
    import('./exposition/exposition.js'),
  ]);
  const source = { configFile: file, env: process.env, checkFiles: check, fallback, metricLabels };
  const result = await loader.loadConfig(source);
  if (!result.ok) return result;
  const { config, warnings } = clampToMemory(result.config, memoryLimits());
  const names = config.targets.map(({ name }) => name);
  const selected = new Set(targets === undefined ? names : selectShard(names, targets.shard));
  return {
    ok: true,
    config: { ...config, targets: config.targets.filter(({ name }) => selected.has(name)) },
    warnings: [...result.warnings, ...warnings],
  };
}

/** The web flags with the content of `--web.config.file`. Reports warnings, or prints all problems and returns `undefined`. */
async function loadWebOptions({ configFile, ...web }: WebSettings, reportWarnings: ReportWarnings = printWarnings) {
  if (configFile === undefined) return web;
  const { loadWebConfig } = await import('./server/web-config.js');
  const result = await loadWebConfig(configFile);
  if (!result.ok) {
    printProblems(result.problems);
    return undefined;
  }
  reportWarnings(result.webConfig.warnings);
  return { ...web, webConfig: result.webConfig };
}

async function startPollThread(config: Config): Promise<PollExecutor> {
  const { workerHeapMb } = await import('./config/memory.js');
  const { startThreadExecutor } = await import('./poll/thread-executor.js');
  return startThreadExecutor(workerHeapMb(config, memoryLimits()), userAgent());
}

/** Resolves with the first SIGTERM or SIGINT. The second one ends the process at once. */
function waitForStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        resolve(signal);
        process.once(signal, () => process.exit(1));
      });
    }
  });
}

/** Without a container limit, `constrainedMemory` returns 0 or more than the memory of the machine. */
function memoryLimits(): MemoryLimits {
  const constrained = process.constrainedMemory();
  const isLimited = constrained > 0 && constrained < totalmem();
  return { bytes: isLimited ? constrained : Infinity, heapBytes: getHeapStatistics().heap_size_limit };
}

/** The version in package.json, which is next to both `src` and `dist`. */
function readVersion(): string {
  const { version }: { readonly version: string } = createRequire(import.meta.url)('../package.json');
  return version;
}

/** The commit that was built. `npm run build` writes it next to this file; the file is empty in a build outside git. */
function readRevision(): string {
  const file = new URL('revision', import.meta.url);
  return (existsSync(file) && readFileSync(file, 'utf8').trim()) || 'unknown';
}

const buildInfo = () => ({
  version: readVersion(),
  revision: readRevision(),
  nodeVersion: process.versions.node,
});

const userAgent = () => `bridge-exporter/${readVersion()}`;

function seeHelp(command: CommandName): string {
  return `see bridge-exporter ${command === 'daemon' ? '' : `${command} `}--help`;
}

async function printConfig(config: Config): Promise<ExitCode> {
  const { formatConfig } = await import('./config/printer.js');
  return print(formatConfig(config));
}

function printOneShot({ exposition, warnings, failures }: OneShot): ExitCode {
  print(exposition);
  printWarnings(warnings);
  for (const line of failures) printError(line);
  return failures.length === 0 ? 0 : 1;
}

function print(text: string): ExitCode {
  process.stdout.write(text);
  return 0;
}

function printLine(line: string): void {
  print(`${line}\n`);
}

function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

function printProblems(problems: readonly string[]): ExitCode {
  for (const problem of problems) printError(`bridge-exporter: ${problem}`);
  return 2;
}

function printWarnings(warnings: readonly string[]): void {
  for (const warning of warnings) printError(`warning: ${warning}`);
}

/** Prints the progress of slow steps, unless the log is silent. */
function progressPrinter({ level }: LogSettings): (line: string) => void {
  return level === 'silent' ? () => undefined : printError;
}

// The exit code is set instead of calling process.exit, so that all output is flushed.
try {
  process.exitCode = await main();
} catch (error) {
  printError(`bridge-exporter: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
