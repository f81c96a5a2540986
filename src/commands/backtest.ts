import type { BacktestOptions, ConfigOptions, LogOptions } from '../cli/options.js';
import { defaultConfig } from '../config/config.js';
import { groupBy } from '../facts/grouping.js';
import { exporterRules } from '../problems/exporter-rules.js';
import { severities } from '../problems/problem.js';
import { rules } from '../problems/rules.js';
import { verdictsOf, type Verdict } from '../problems/verdicts.js';
import type { ReplayedEndpoint } from '../recorder/replayed-endpoint.js';
import { DAY_MS, MINUTE_MS } from '../settings/units.js';
import { duration } from '../text/format.js';
import type { CommandContext, ExitCode } from './context.js';
import { configOrExitCode } from './load-config.js';
import { replayWithProgress, STEP_MS } from './replay-recording.js';

/* `backtest`: the alerts that would have fired in a recording, by the problems that the pages and the rules have. */

/** Alerts of `verdictsOf` that are no problems of a document. */
const JUDGED_BY_POLLS: ReadonlySet<string> = new Set([
  'BridgeEndpointDown',
  'BridgeEndpointMisconfigured',
  'BridgeProblemUnjudged',
  'BridgeResponseNearLimit',
  'BridgeSnapshotStale',
]);

/** One notification: an alert from its first step to its last one. */
interface Firing extends Pick<Verdict, 'alert' | 'severity' | 'target' | 'document' | 'subject'> {
  readonly fromMs: number;
  readonly lastMs: number;
  /** The cause that hid it at every step; Alertmanager sends nothing. */
  readonly inhibitedBy: string | null;
}

interface Judged {
  readonly firings: readonly Firing[];
  readonly firstMs: number;
  readonly lastMs: number;
  readonly notJudged: readonly string[];
}

export async function runBacktest(
  options: BacktestOptions & ConfigOptions & LogOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const config = await configOrExitCode(context, options, defaultConfig);
  if (typeof config === 'number') return config;
  const { recording = '', from, to, format } = options;
  const steps: number[] = [];
  const current = new Map<string, Firing>();
  const ended: Firing[] = [];
  const notJudged = new Map<string, readonly string[]>();
  const onStep = (endpoints: readonly ReplayedEndpoint[], timeMs: number): void => {
    steps.push(timeMs);
    const states = endpoints.map(({ state, repeated = state }) => repeated);
    for (const { target, verdicts, notJudgedHere } of verdictsOf(states, {
      epochSeconds: timeMs / 1000,
      monotonicMs: timeMs,
    })) {
      notJudged.set(target, notJudgedHere);
      for (const verdict of verdicts) {
        if (verdict.state !== 'firing') continue;
        const { alert, severity, document, subject, inhibitedBy } = verdict;
        const key = JSON.stringify([alert, severity, target, document, subject]);
        const last = current.get(key);
        const known = last !== undefined && timeMs - last.lastMs <= STEP_MS + keptFiringMs(verdict) ? last : undefined;
        if (last !== undefined && known === undefined) ended.push(last);
        current.set(key, {
          ...(known ?? { alert, severity, target, document, subject, fromMs: timeMs }),
          lastMs: timeMs,
          inhibitedBy: known === undefined || known.inhibitedBy !== null ? inhibitedBy : null,
        });
      }
    }
  };
  const range = { recording, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const replayOptions = { warmUpMs: DAY_MS, hasOneClock: true };
  const { problems } = await replayWithProgress(
    range,
    config,
    context,
    { onPoll: () => undefined, onStep },
    replayOptions,
  );
  const [firstMs, lastMs] = [steps[0], steps.at(-1)];
  if (firstMs === undefined || lastMs === undefined) {
    context.printError(`bridge-exporter: ${recording}: no recorded poll in the range`);
    return 1;
  }
  const firings = [...ended, ...current.values()].toSorted((a, b) => a.fromMs - b.fromMs);
  const judged = { firings, firstMs, lastMs, notJudged: notJudgedIn(Array.from(notJudged.values()).flat()) };
  await context.write(format === 'json' ? `${JSON.stringify(asJson(judged), undefined, 2)}\n` : asTable(judged));
  return problems === 0 ? 0 : 1;
}

/** `keep_firing_for`: an alert that comes back within it has not ended. */
function keptFiringMs({ alert, severity }: Verdict): number {
  const rule = rules.find((own) => own.name === alert && own.severity === severity);
  return (rule?.keepFiringMinutes ?? 0) * MINUTE_MS;
}

/** What the recording does not have the fields for, and what Prometheus judges alone. */
function notJudgedIn(problems: readonly string[]): readonly string[] {
  const others = exporterRules.map(({ name }) => name).filter((name) => !JUDGED_BY_POLLS.has(name));
  return Array.from(new Set([...problems, ...others])).toSorted();
}

/** How often an alert fires, worst first. */
function totalsOf({ firings, firstMs, lastMs }: Judged) {
  const weeks = Math.max(lastMs - firstMs, STEP_MS) / (7 * DAY_MS);
  const totals = groupBy(firings, ({ alert, severity }) => `${severities.indexOf(severity)} ${alert}`);
  return Array.from(totals)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, own]) => {
      const [first] = own;
      const seconds = own.reduce((sum, firing) => sum + secondsOf(firing), 0);
      const inhibited = own.filter(({ inhibitedBy }) => inhibitedBy !== null).length;
      if (first === undefined) return [];
      const { alert, severity } = first;
      return [
        {
          alert,
          severity,
          times: own.length,
          inhibited,
          timesPerWeek: Number((own.length / weeks).toFixed(1)),
          seconds,
        },
      ];
    });
}

const secondsOf = ({ fromMs, lastMs }: Firing): number => (lastMs - fromMs + STEP_MS) / 1000;
const timeOf = (ms: number): string => new Date(ms).toISOString().replace(/:00\.000Z$/, 'Z');

function asJson(judged: Judged) {
  const { firings, firstMs, lastMs, notJudged } = judged;
  return {
    from: timeOf(firstMs),
    to: timeOf(lastMs),
    alerts: totalsOf(judged),
    firings: firings.map(({ fromMs, lastMs: untilMs, ...firing }) => ({
      ...firing,
      from: timeOf(fromMs),
      seconds: secondsOf({ ...firing, fromMs, lastMs: untilMs }),
      firesAtEnd: untilMs === lastMs,
    })),
    notJudged,
  };
}

function asTable(judged: Judged): string {
  const { firings, firstMs, lastMs, notJudged } = judged;
  const totals = totalsOf(judged).map(({ severity, alert, times, inhibited, timesPerWeek, seconds }) => [
    severity,
    alert,
    String(times),
    String(inhibited),
    String(timesPerWeek),
    duration(seconds),
  ]);
  const rows = firings.map(({ fromMs, lastMs: untilMs, ...firing }) => [
    timeOf(fromMs),
    `${duration(secondsOf({ ...firing, fromMs, lastMs: untilMs }))}${untilMs === lastMs ? ', at the end still' : ''}`,
    firing.severity,
    firing.alert,
    [firing.target, ...Object.entries(firing.subject).map(([label, value]) => `${label}=${value}`)].join(' '),
    firing.inhibitedBy === null ? '' : `inhibited by ${firing.inhibitedBy}`,
  ]);
  return [
    `from ${timeOf(firstMs)} to ${timeOf(lastMs)} (${duration((lastMs - firstMs) / 1000)})\n`,
    totals.length === 0
      ? 'no alert would have fired\n'
      : columns([['severity', 'alert', 'times', 'inhibited', 'a week', 'in total'], ...totals]),
    ...(rows.length === 0 ? [] : [columns([['since', 'for', 'severity', 'alert', 'about', ''], ...rows])]),
    `not judged by the recording: ${notJudged.join(', ')}\n`,
  ].join('\n');
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
