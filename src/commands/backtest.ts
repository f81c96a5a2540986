import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBacktest, type BacktestResult, type RuleSet } from '../backtest/backtest.js';
import { compareFirings } from '../backtest/comparison.js';
import { jsonReport, tableReport } from '../backtest/report.js';
import { readRuleFile } from '../backtest/rule-files.js';
import type { InvocationOf } from '../cli/flags.js';
import { defaultConfig, type Config } from '../config/config.js';
import { readRecording } from '../recorder/read-recording.js';
import { replayPolls, WARM_UP_MS } from '../recorder/replay.js';
import { renderAt } from '../recorder/time-series.js';
import { describeReadError } from '../settings/small-file.js';
import { type CommandContext, type ExitCode, printProblems, seeHelp } from './context.js';
import { createProgress, exporterFamilies } from './replay-recording.js';
import { configOrExitCode } from './load-config.js';

/** The usual interval of scrapes and evaluations. */
const STEP_MS = 60_000;
const WINDOW_MS = 3 * 86_400_000;

/** `backtest`: the alerts that would have fired during a recording. Rejects if promtool is missing or rejects the rules. */
export async function runBacktest(flags: InvocationOf<'backtest'>, context: CommandContext): Promise<ExitCode> {
  const { directory, rules, compare, format } = flags.backtest;
  const problem = problemOf(flags.backtest);
  if (directory === undefined || problem !== undefined) {
    return printProblems(context, [problem ?? '--recording: is missing', seeHelp('backtest')]);
  }
  const config = await configOrExitCode(context, flags, defaultConfig);
  if (typeof config === 'number') return config;
  const shipped = shippedRules();
  const selected = rules ?? shipped;
  if (selected === undefined || (compare && shipped === undefined)) {
    return printProblems(context, [
      'the shipped rules, prometheus/alerts.yml, are not installed — expected --rules FILE',
    ]);
  }
  const sets = [selected, ...(compare && shipped !== undefined ? [shipped] : [])];
  const ruleSets = await Promise.all(sets.map(readRuleSet));
  const { result, problems } = await evaluateRecording({ ...flags.backtest, directory }, ruleSets, config, context);
  const [firings = [], ofShipped] = result.firings;
  if (result.range === undefined) {
    context.printError(`bridge-exporter: ${directory}: no recorded poll in this time`);
    return 1;
  }
  const report = {
    ...result.range,
    stepMs: STEP_MS,
    rules: selected,
    firings,
    comparison: ofShipped && compareFirings(ofShipped, firings),
  };
  await context.write(format === 'json' ? jsonReport(report) : tableReport(report));
  return problems === 0 ? 0 : 1;
}

function problemOf({ directory, rules, compare }: InvocationOf<'backtest'>['backtest']): string | undefined {
  if (directory === undefined) return '--recording: is missing — expected the directory of a recording';
  if (compare && rules === undefined)
    return '--compare: has no effect without --rules — expected rules to compare with the shipped ones';
  return undefined;
}

async function evaluateRecording(
  {
    directory,
    fromMs = -Infinity,
    toMs = Infinity,
    target,
  }: InvocationOf<'backtest'>['backtest'] & { directory: string },
  ruleSets: readonly RuleSet[],
  config: Config,
  context: CommandContext,
): Promise<{ readonly result: BacktestResult; readonly problems: number }> {
  const backtest = createBacktest(ruleSets, { stepMs: STEP_MS, windowMs: WINDOW_MS });
  const exporterText = await exporterFamilies(config, context);
  const progress = createProgress(context);
  let problems = 0;
  let polls = 0;
  const recording = readRecording(directory, {
    fromMs: fromMs - WARM_UP_MS,
    toMs,
    target,
    maxBodyBytes: config.poll.maxBodyBytes,
    onProblem: (message) => {
      problems += 1;
      context.printError(`bridge-exporter: ${message}`);
    },
  });
  await replayPolls(
    recording,
    config,
    { fromMs, toMs, stepMs: STEP_MS },
    {
      onPoll: () => {
        polls += 1;
      },
      onStep: async (endpoints, timeMs) => {
        progress(timeMs, polls);
        await backtest.add(renderAt(endpoints, timeMs) + exporterText(timeMs), timeMs);
      },
    },
  );
  const result = await backtest.finish();
  progress(undefined, polls);
  return { result, problems };
}

async function readRuleSet(paths: readonly string[]): Promise<RuleSet> {
  const files = paths.map(async (path) => {
    const text = await readFile(path, 'utf8').catch((cause: unknown) => {
      throw new Error(describeReadError(path, cause), { cause });
    });
    return readRuleFile(resolve(path), text);
  });
  return { name: paths.join(', '), files: await Promise.all(files) };
}

/** Beside the program: in the packages it is one file, in the repository it has folders. */
function shippedRules(): readonly string[] | undefined {
  const candidates = ['../prometheus/alerts.yml', '../../prometheus/alerts.yml'];
  const file = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url))).find((path) => existsSync(path));
  return file === undefined ? undefined : [file];
}
