import { defaultConfig } from '../config/config.js';
import { groupBy } from '../facts/grouping.js';
import { severities } from '../problems/problem.js';
import { exporterRules, rules } from '../problems/rules.js';
import { judgeTargets, type TargetProblem } from '../engine/target-problems.js';
import { count, durationInWords } from '../text/format.js';
import { DAY_MS, MINUTE_MS } from '../units.js';
import type { CommandContext, ExitCode } from './context.js';
import type { BacktestFlags } from './flags.js';
import { configOrExitCode } from './configuration.js';
import { openRecording, STEP_MS } from './replay.js';
import { problemLine } from './once.js';

/* `backtest`: the alerts that would have fired in a recording, by the problems that the pages and the rules have. */

/** An alert from its first to its last step. */
interface Firing extends Pick<TargetProblem, 'alert' | 'severity' | 'target' | 'document' | 'subject'> {
  readonly fromMs: number;
  readonly lastMs: number;
  /** The cause that hides the alert at every step, so that Alertmanager never sends it. */
  readonly hiddenBy: string | null;
  /** As `once` prints it, at the last step. */
  readonly text: string;
}

export async function runBacktest(options: BacktestFlags, context: CommandContext): Promise<ExitCode> {
  const config = await configOrExitCode(context, options, defaultConfig);
  if (typeof config === 'number') return config;
  const { recording, format } = options;
  const steps: number[] = [];
  const firings = new Map<string, Firing[]>();
  const replay = openRecording({ ...options, recording }, config, context, DAY_MS);
  for await (const { timeMs, now, isStep, states } of replay.moments()) {
    if (!isStep) continue;
    steps.push(timeMs);
    for (const problem of judgeTargets(states, now).flatMap(({ problems }) => problems)) {
      if (problem.state === 'firing') addStep(firings, problem, timeMs);
    }
  }
  if (steps.length === 0) {
    context.printError(`bridge-exporter: ${recording}: no recorded poll in the range`);
    return 1;
  }
  const report = createReport(Array.from(firings.values()).flat(), steps, replay.notJudged());
  await context.write(format === 'json' ? `${JSON.stringify(report, undefined, 2)}\n` : formatReport(report));
  return replay.problems() === 0 ? 0 : 1;
}

/** An alert that comes back within the `keep_firing_for` of its rule has not ended. */
function addStep(firings: Map<string, Firing[]>, problem: TargetProblem, timeMs: number): void {
  const { alert, severity, target, document, subject, hiddenBy } = problem;
  const key = JSON.stringify([alert, severity, target, document, subject]);
  const past = firings.get(key) ?? [];
  const rule = rules.find(({ name }) => name === alert);
  const keptMs = STEP_MS + (rule?.keepFiringMinutes ?? 0) * MINUTE_MS;
  const last = past.at(-1);
  const now = { lastMs: timeMs, text: problemLine(problem) };
  if (last === undefined || timeMs - last.lastMs > keptMs) {
    firings.set(key, [...past, { alert, severity, target, document, subject, fromMs: timeMs, hiddenBy, ...now }]);
  } else {
    past[past.length - 1] = { ...last, ...now, hiddenBy: last.hiddenBy === null ? null : hiddenBy };
  }
}

const formatTime = (ms: number): string => new Date(ms).toISOString().replace(/:00\.000Z$/, 'Z');

function createReport(all: readonly Firing[], steps: readonly number[], notJudged: readonly string[]) {
  const [firstMs = 0, lastMs = 0] = [steps[0], steps.at(-1)];
  const firings = all
    .toSorted((a, b) => a.fromMs - b.fromMs)
    .map(({ fromMs, lastMs: untilMs, ...firing }) => ({
      ...firing,
      from: formatTime(fromMs),
      seconds: (untilMs - fromMs + STEP_MS) / 1000,
      firesAtEnd: untilMs === lastMs,
    }));
  // Without pauses of the recording.
  const weeks = (Math.max(steps.length - 1, 1) * STEP_MS) / (7 * DAY_MS);
  const byAlert = groupBy(firings, ({ alert, severity }) => `${severities.indexOf(severity)} ${alert} ${severity}`);
  const alerts = Array.from(byAlert)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, sameAlert]) => {
      const [, alert = '', severity = ''] = key.split(' ');
      return {
        alert,
        severity,
        times: sameAlert.length,
        hidden: sameAlert.filter(({ hiddenBy }) => hiddenBy !== null).length,
        timesPerWeek: Number((sameAlert.length / weeks).toFixed(1)),
        seconds: sameAlert.reduce((sum, { seconds }) => sum + seconds, 0),
      };
    });
  // Not judged: problems whose queries have no recorded answers, and alerts that only Prometheus evaluates.
  const others = exporterRules.map(({ name }) => name);
  const names = Array.from(new Set([...notJudged, ...others])).toSorted();
  return { from: formatTime(firstMs), to: formatTime(lastMs), alerts, firings, notJudged: names };
}

function formatReport({ from, to, alerts, firings, notJudged }: ReturnType<typeof createReport>): string {
  const totals = alerts.map(
    ({ severity, alert, times, hidden, timesPerWeek, seconds }) =>
      `${severity} ${alert}: ${count(times, 'time')}, ${hidden} hidden, ${timesPerWeek} a week, ${durationInWords(seconds)} in total`,
  );
  const lines = firings.map(({ alert, seconds, firesAtEnd, hiddenBy, text, ...firing }) => {
    const end = firesAtEnd ? ', still firing at the end' : '';
    const hidden = hiddenBy === null ? '' : `, hidden by ${hiddenBy}`;
    return `${firing.from} ${alert} for ${durationInWords(seconds)}${end}${hidden}\n  ${text}`;
  });
  return [
    `from ${from} to ${to} (${durationInWords((Date.parse(to) - Date.parse(from)) / 1000)})`,
    ...(lines.length === 0 ? ['no alert would have fired'] : [totals.join('\n'), lines.join('\n')]),
    `not judged by the recording: ${notJudged.join(', ')}\n`,
  ].join('\n\n');
}
