#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { parseInvocation } from './cli/invocation.js';
import { startInlineCollector } from './poll/inline-collector.js';
import { startThreadCollector } from './poll/thread-collector.js';
import { configText, neutralConfig, type Config, type ConfigResult } from './config/config.js';
import type { CommandName, LogSettings, Run, Shard, WebSettings } from './cli/flags.js';
import { helpText } from './cli/help.js';
import { loadConfig } from './config/load.js';
import { workerHeapMb, clampToMemory, type AllowedMemory } from './config/memory.js';
import { startExporter } from './exporter.js';
import { createLog } from './cli/log.js';
import { once, replay, type OneShot } from './one-shot.js';
import { selectShard } from './cli/shard.js';
import { VERSION } from './cli/version.js';
import { loadWebConfig } from './server/web-config-files.js';

/** 0: asked to stop, or done. 1: a failure at run time. 2: bad usage or configuration. */
type ExitCode = 0 | 1 | 2;

type Of<Command extends Run['command']> = Extract<Run, { command: Command }>;

async function main(): Promise<ExitCode> {
  const invocation = parseInvocation(process.argv.slice(2), process.env);
  switch (invocation.command) {
    case 'help':
      return print(helpText(invocation.about, await scenariosFor(invocation.about)));
    case 'version':
      return print(`bridge-exporter ${VERSION} (node ${process.versions.node})\n`);
    case 'usage-error':
      return refuse([...invocation.problems, seeHelp(invocation.about)]);
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

async function runDaemon(run: Of<'daemon'>): Promise<ExitCode> {
  const [config, web] = [await configuration(run), await webOptions(run.web)];
  if (config === undefined || web === undefined) return 2;
  if (run.checkConfig) return print(configText(config));
  const log = createLog(run.log);
  const stopped = stopSignal();
  const options = { ...web, nodeVersion: process.versions.node, loadConfig: async () => loaded(run) };
  const collector = startThreadCollector(workerHeapMb(config, allowedMemory()));
  try {
    const exporter = await startExporter(config, collector, log, options);
    process.on('SIGHUP', () => void exporter.reload());
    log.info({ version: VERSION, targets: config.targets.length }, `serving ${exporter.url}${run.web.telemetryPath}`);
    const signal = await stopped;
    await exporter.close();
    log.info(`stopped by ${signal}`);
  } finally {
    await collector.close();
  }
  return 0;
}

async function runOnce(run: Of<'once'>): Promise<ExitCode> {
  const config = await configuration(run);
  if (config === undefined) return 2;
  if (run.checkConfig) return print(configText(config));
  const collector = startInlineCollector();
  try {
    return printOneShot(await once(config, collector, progressOf(run.log)));
  } finally {
    await collector.close();
  }
}

async function runReplay(run: Of<'replay'>): Promise<ExitCode> {
  const config = await configuration(run, neutralConfig);
  if (config === undefined) return 2;
  if (run.checkConfig) return print(configText(config));
  return printOneShot(await replay(config, run.recording, progressOf(run.log)));
}

async function runSimulate({ simulator: settings, log }: Of<'simulate'>): Promise<ExitCode> {
  const { scenarioProblem, simulate } = await import('./simulator/simulate.js');
  const problem = scenarioProblem(settings);
  if (problem !== undefined) return refuse([problem, seeHelp('simulate')]);
  const stopped = stopSignal();
  const simulator = await simulate(settings, say, progressOf(log));
  await stopped;
  await simulator.close();
  return 0;
}

async function runDemo({ simulator: settings, web: webSettings, log }: Of<'demo'>): Promise<ExitCode> {
  const [{ scenarioProblem }, { startDemo }] = await Promise.all([
    import('./simulator/simulate.js'),
    import('./simulator/demo.js'),
  ]);
  const problem = scenarioProblem(settings);
  if (problem !== undefined) return refuse([problem, seeHelp('demo')]);
  const web = await webOptions(webSettings);
  if (web === undefined) return 2;
  const stopped = stopSignal();
  const collector = startThreadCollector(workerHeapMb(neutralConfig, allowedMemory()));
  const options = { ...web, nodeVersion: process.versions.node };
  try {
    const demo = await startDemo(settings, collector, createLog(log), options, say, progressOf(log));
    await stopped;
    await demo.close();
  } finally {
    await collector.close();
  }
  return 0;
}

/** The configuration with the targets of this shard; `undefined` when it cannot be used, with all problems said. */
async function configuration(source: ConfigSource, otherwise?: Config): Promise<Config | undefined> {
  const result = await loaded(source, otherwise);
  if (!result.ok) {
    refuse(result.problems);
    return undefined;
  }
  for (const warning of result.warnings) complain(`warning: ${warning}`);
  return result.config;
}

/** The same for how to serve, with what the file of `--web.config.file` says. */
async function webOptions({ configFile, ...web }: WebSettings) {
  if (configFile === undefined) return web;
  const result = await loadWebConfig(configFile);
  if (!result.ok) {
    refuse(result.problems);
    return undefined;
  }
  for (const warning of result.file.warnings) complain(`warning: ${warning}`);
  return { ...web, webConfig: result.file };
}

interface ConfigSource {
  readonly configFile?: string | undefined;
  readonly checkConfig: boolean;
  readonly shard?: Shard;
}

async function loaded({ configFile, shard, checkConfig }: ConfigSource, otherwise?: Config): Promise<ConfigResult> {
  const read = (path: string): Promise<string> => readFile(path, 'utf8');
  const result = await loadConfig({
    configFile,
    env: process.env,
    readFile: read,
    checkFiles: checkConfig,
    ...(otherwise && { fallback: otherwise }),
  });
  if (!result.ok) return result;
  const { config, warnings } = clampToMemory(result.config, allowedMemory());
  const fitting = { ...result, config, warnings: [...result.warnings, ...warnings] };
  if (shard === undefined) return fitting;
  const mine = new Set(
    selectShard(
      config.targets.map(({ name }) => name),
      shard,
    ),
  );
  return { ...fitting, config: { ...config, targets: config.targets.filter(({ name }) => mine.has(name)) } };
}

/** Resolves with the signal that asks to stop; a second one stops at once, whatever is still under way. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        resolve(signal);
        process.once(signal, () => process.exit(1));
      });
    }
  });
}

/** A limit above the memory of the machine is none. */
function allowedMemory(): AllowedMemory {
  const constrained = process.constrainedMemory();
  const isLimited = constrained > 0 && constrained < totalmem();
  return { bytes: isLimited ? constrained : Infinity, heapBytes: getHeapStatistics().heap_size_limit };
}

function seeHelp(command: CommandName): string {
  return `see bridge-exporter ${command === 'daemon' ? '' : `${command} `}--help`;
}

/** Those a command can play; they are the simulator's, which is loaded for nothing else. */
async function scenariosFor(command: CommandName) {
  if (command !== 'simulate' && command !== 'demo') return [];
  const { scenarioRows } = await import('./simulator/simulate.js');
  return scenarioRows;
}

function printOneShot({ exposition, failures }: OneShot): ExitCode {
  print(exposition);
  for (const line of failures) complain(line);
  return failures.length === 0 ? 0 : 1;
}

function print(text: string): ExitCode {
  process.stdout.write(text);
  return 0;
}

function say(line: string): void {
  print(`${line}\n`);
}

function refuse(problems: readonly string[]): ExitCode {
  for (const problem of problems) complain(`bridge-exporter: ${problem}`);
  return 2;
}

function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** For what takes its time; silent where the log is. */
function progressOf({ level }: LogSettings): (line: string) => void {
  return level === 'silent' ? () => undefined : complain;
}

/** The exit code is set rather than forced, so that what was printed gets out. */
try {
  process.exitCode = await main();
} catch (error) {
  complain(`bridge-exporter: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
