import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { check, type Checked } from '../support/tools.js';
import type { Recorded } from './recording.js';

export const RULES = new URL('../../prometheus/alerts.yml', import.meta.url).pathname;

export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string | number;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

export const ruleFile = parse(readFileSync(RULES, 'utf8')) as RuleFile;
export const rules = ruleFile.groups.flatMap((group) => group.rules);
export const alerts = rules.filter((rule): rule is Rule & { alert: string } => rule.alert !== undefined);

/** What the rules read; a name in a regular expression may be more than one. */
export const usedNames: ReadonlySet<string> = new Set(
  rules.flatMap(({ expr }) => namesIn(String(expr)).filter((name) => !name.includes(':'))),
);

/** Names of metrics in a PromQL expression, also those that a matcher of `__name__` spells out. */
export function namesIn(expression: string): string[] {
  const spelled = expression.replace(/__name__=~"(\w+)\(([\w|]+)\)"/g, (_all, prefix: string, ends: string) =>
    ends
      .split('|')
      .map((end) => `${prefix}${end}`)
      .join(' '),
  );
  return (
    spelled.match(
      /\b(?:bridge|crosschain|process|nodejs)_\w+\b|\b(?:default|endpoint|target|orchestrator|chain):\w+:\w+/g,
    ) ?? []
  );
}

/** A time in which an alert with the same labels fired, in minutes since the beginning of the recording. */
export interface Firing {
  readonly alert: string;
  readonly severity: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly from: number;
  readonly until: number;
  /** How often it began to fire. */
  readonly times: number;
}

/** Recordings of other exporters at the same time, by their label `instance`. */
export type Others = Readonly<Record<string, Recorded>>;

/** Runs the alerts over a recording in promtool, which is Prometheus' own rule engine, and reads off all that fired. */
export function firings(recorded: Recorded, others: Others = {}): Firing[] {
  const step = recorded.sampleSeconds;
  const end = (recorded.samples - 1) * step;
  const firing = 'ALERTS{alertstate="firing"}';
  const range = `[${end + 1}s:${step}s]`;
  const queries = {
    from: `min_over_time(timestamp(${firing})${range})`,
    until: `max_over_time(timestamp(${firing})${range})`,
    // A beginning is a sample with none before it.
    times: `count_over_time((${firing} unless ${firing} offset ${step}s)${range})`,
  };
  // promtool tells what a query gives when it is made to expect nothing.
  const tests = Object.values(queries).map((expr) => ({ expr, eval_time: `${end}s`, exp_samples: [] }));
  const { output } = runTests(recorded, { promql_expr_test: tests }, others);
  const given = new Map(
    Array.from(
      output.matchAll(/expr: "((?:[^"\\]|\\.)*)", time: .*\n\s+exp: nil\n\s+got: (.*)\n/g),
      ([, expr, got]) => [JSON.parse(`"${expr}"`) as string, samplesOf(got ?? '')],
    ),
  );
  const results = Object.values(queries).map((query) => given.get(query));
  const [from, until, times] = results;
  // The watchdog always fires, so an answer without anything is a failure of the query.
  if (!from || !until || !times) throw new Error(`promtool does not tell what fired: ${output.slice(0, 4000)}`);
  return Array.from(from, ([key, { labels, value }]) => {
    const { alertname: alert = '', severity = '', alertstate: _firing, ...own } = labels;
    const last = until.get(key)?.value ?? NaN;
    return { alert, severity, labels: own, from: value / 60, until: last / 60, times: times.get(key)?.value ?? NaN };
  });
}

/** The text of the labels and annotations of every alert that fires at these minutes. */
export function shownAt(
  recorded: Recorded,
  asked: readonly { readonly alert: string; readonly minute: number }[],
): string {
  const tests = asked.map(({ alert, minute }) => ({ alertname: alert, eval_time: `${minute * 60}s`, exp_alerts: [] }));
  return runTests(recorded, { alert_rule_test: tests }).output;
}

function runTests(recorded: Recorded, tests: Readonly<Record<string, unknown>>, others: Others = {}): Checked {
  const interval = `${recorded.sampleSeconds}s`;
  const instances = { 'localhost:10917': recorded, ...others };
  const input_series = Object.entries(instances).flatMap(([instance, { series, samples }]) => {
    // Labels that a scrape adds.
    const scraped = `job="bridge",instance="${instance}"`;
    return Array.from(series, ([key, values]) => ({
      series: key.endsWith('}') ? `${key.slice(0, -1)},${scraped}}` : `${key}{${scraped}}`,
      values: Array.from({ length: samples }, (_, at) => valueAt(values, at)).join(' '),
    }));
  });
  const file = {
    rule_files: [RULES],
    evaluation_interval: interval,
    group_eval_order: ruleFile.groups.map(({ name }) => name),
    tests: [{ interval, input_series, ...tests }],
  };
  const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
  try {
    const path = join(folder, 'test.yml');
    // JSON is YAML.
    writeFileSync(path, JSON.stringify(file));
    return check('promtool', ['test', 'rules', path], '');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A series that is not in a scrape is stale at once; without the marker its last value would hold for 5 minutes. */
function valueAt(values: readonly (number | undefined)[], at: number): string {
  const value = values[at];
  if (value !== undefined) return String(value);
  return values[at - 1] === undefined ? '_' : 'stale';
}

interface Sampled {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** `{a="b", c="d"} 1E+00, {…} 2E+00`, by the labels as written. */
function samplesOf(got: string): ReadonlyMap<string, Sampled> {
  const samples = new Map<string, Sampled>();
  for (const [, written = '', value] of got.matchAll(/\{((?:\w+="(?:[^"\\]|\\.)*"(?:, )?)*)\} (\S+?)(?:, |$)/g)) {
    const pairs = Array.from(written.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g), ([, name, text]) => [
      name,
      JSON.parse(text ?? '""') as string,
    ]);
    samples.set(written, { labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) });
  }
  return samples;
}
