#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { parseInvocation } from './cli.js';
import { startInlineCollector } from './collect/inline.js';
import { startThreadCollector } from './collect/thread.js';
import { configText, neutralConfig, type Config } from './config.js';
import type { Run, Shard } from './config/flags.js';
import { loadConfig } from './config/load.js';
import { startExporter } from './exporter.js';
import { createLog } from './log.js';
import { once, replay, type OneShot } from './one-shot.js';
import { selectShard } from './shard.js';
import { VERSION } from './version.js';

/** 0: asked to stop, or done. 1: a failure at run time. 2: bad usage or configuration. */
type ExitCode = 0 | 1 | 2;

type Of<Command extends Run['command']> = Extract<Run, { command: Command }>;

async function main(): Promise<ExitCode> {
  const invocation = parseInvocation(process.argv.slice(2), process.env);
  switch (invocation.command) {
    case 'help':
      return print(invocation.text);
    case 'version':
      return print(`bridge-exporter ${VERSION} (node ${process.versions.node})\n`);
    case 'usage-error':
      return refuse([...invocation.problems, 'see bridge-exporter --help']);
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
  const config = await configuration(run);
  if (config === undefined) return 2;
  if (run.checkConfig) return print(configText(config));
  const log = createLog(run.log);
  const stopped = stopSignal();
  const collector = startThreadCollector(heapMbFor(config));
  try {
    const exporter = await startExporter(config, collector, log, { ...run.web, nodeVersion: process.versions.node });
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
    return printOneShot(await once(config, collector));
  } finally {
    await collector.close();
  }
}

async function runReplay(run: Of<'replay'>): Promise<ExitCode> {
  const config = await configuration(run, neutralConfig);
  if (config === undefined) return 2;
  if (run.checkConfig) return print(configText(config));
  return printOneShot(await replay(config, run.recording));
}

async function runSimulate({ simulator: settings }: Of<'simulate'>): Promise<ExitCode> {
  const { scenarioProblem, simulate } = await import('./sim/start.js');
  const problem = scenarioProblem(settings);
  if (problem !== undefined) return refuse([problem]);
  const stopped = stopSignal();
  const simulator = await simulate(settings, say);
  await stopped;
  await simulator.close();
  return 0;
}

async function runDemo({ simulator: settings, web, log }: Of<'demo'>): Promise<ExitCode> {
  const [{ scenarioProblem }, { startDemo }] = await Promise.all([import('./sim/start.js'), import('./sim/demo.js')]);
  const problem = scenarioProblem(settings);
  if (problem !== undefined) return refuse([problem]);
  const stopped = stopSignal();
  const collector = startThreadCollector(heapMbFor(neutralConfig));
  const options = { ...web, nodeVersion: process.versions.node };
  try {
    const demo = await startDemo(settings, collector, createLog(log), options, say);
    await stopped;
    await demo.close();
  } finally {
    await collector.close();
  }
  return 0;
}

/** The configuration with the targets of this shard; `undefined` when it cannot be used, with all problems said. */
async function configuration(
  { configFile, shard }: { readonly configFile?: string | undefined; readonly shard?: Shard },
  otherwise?: Config,
): Promise<Config | undefined> {
  const read = (path: string): Promise<string> => readFile(path, 'utf8');
  const loaded = await loadConfig({ configFile, env: process.env, readFile: read, ...(otherwise && { otherwise }) });
  if (!loaded.ok) {
    refuse(loaded.problems);
    return undefined;
  }
  for (const warning of loaded.warnings) process.stderr.write(`warning: ${warning}\n`);
  const { config } = loaded;
  if (shard === undefined) return config;
  const mine = new Set(
    selectShard(
      config.targets.map(({ name }) => name),
      shard,
    ),
  );
  return { ...config, targets: config.targets.filter(({ name }) => mine.has(name)) };
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

/** Parsing takes four to five times the size of a body; eight leave room for what is derived from it. */
const HEAP_PER_BODY = 8;
const MIN_HEAP_MB = 64;

function heapMbFor({ poll }: Config): number {
  return Math.max(MIN_HEAP_MB, Math.ceil((HEAP_PER_BODY * poll.maxBodyBytes) / 2 ** 20));
}

function printOneShot({ exposition, failures }: OneShot): ExitCode {
  print(exposition);
  for (const failure of failures) process.stderr.write(`${failure}\n`);
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
  for (const problem of problems) process.stderr.write(`bridge-exporter: ${problem}\n`);
  return 2;
}

/** The exit code is set rather than forced, so that what was printed gets out. */
try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`bridge-exporter: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
