import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBacktest, type RuleSet } from '../backtest/backtest.js';
import { compareFirings } from '../backtest/comparison.js';
import { requirePromtool } from '../backtest/promtool.js';
import { jsonReport, tableReport } from '../backtest/report.js';
import { readRuleFile } from '../backtest/rule-files.js';
import type { InvocationOf } from '../cli/flags.js';
import { defaultConfig } from '../config/config.js';
import { renderAt } from '../recorder/time-series.js';
import { readTextFile } from '../settings/small-file.js';
import { DAY_MS } from '../settings/units.js';
import { type CommandContext, type ExitCode, printProblems, seeHelp } from './context.js';
import { exporterFamilies, replayWithProgress, STEP_MS } from './replay-recording.js';
import { configOrExitCode } from './load-config.js';

const WINDOW_MS = 3 * DAY_MS;

/** `backtest`: the alerts that would have fired during a recording. Rejects if promtool is missing or rejects the rules. */
export async function runBacktest(flags: InvocationOf<'backtest'>, context: CommandContext): Promise<ExitCode> {
  const { directory, rules, compare, format } = flags.backtest;
  if (directory === undefined) {
    return printProblems(context, [
      '--recording: is missing — expected the directory of a recording',
      seeHelp('backtest'),
    ]);
  }
  if (compare && rules === undefined) {
    return printProblems(context, [
      '--compare: has no effect without --rules — expected rules to compare with the shipped ones',
      seeHelp('backtest'),
    ]);
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
  await requirePromtool();
  const backtest = createBacktest(ruleSets, { stepMs: STEP_MS, windowMs: WINDOW_MS });
  const exporterText = exporterFamilies(config, context);
  const { problems } = await replayWithProgress({ ...flags.backtest, directory }, config, context, {
    onStep: async (endpoints, timeMs) =>
      backtest.add(renderAt(endpoints, timeMs) + (await exporterText(timeMs)), timeMs),
  });
  const result = await backtest.finish();
  context.showProgress(undefined);
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

async function readRuleSet(paths: readonly string[]): Promise<RuleSet> {
  const files = paths.map(async (path) => {
    const text = await readTextFile(path);
    if (!text.ok) throw new Error(text.problem);
    return readRuleFile(resolve(path), text.value);
  });
  return { name: paths.join(', '), files: await Promise.all(files) };
}

/** Beside the program: in the packages it is one file, in the repository it has folders. */
function shippedRules(): readonly string[] | undefined {
  const candidates = ['../prometheus/alerts.yml', '../../prometheus/alerts.yml'];
  const file = candidates.map((path) => fileURLToPath(new URL(path, import.meta.url))).find((path) => existsSync(path));
  return file === undefined ? undefined : [file];
}
