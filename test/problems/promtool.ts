import { ruleGroups, rules } from '../support/alert-rules.js';
import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { runTool, type ToolResult } from '../support/tools.js';
import type { Recording } from './recording.js';

export const RULES = projectPath('prometheus/alerts.yml');

/** The promtool of Prometheus 3, which CI builds. Its ranges exclude the sample at their start, unlike those of Prometheus 2. */
export const NEWEST_PROMTOOL = 'promtool-newest';

const folder = createTempFolder();

/** The metrics that the rules read, without recording rules. */
export const metricsInRules: ReadonlySet<string> = new Set([
  'up',
  ...rules.flatMap(({ expr, annotations = {} }) =>
    [String(expr), ...Object.values(annotations)].flatMap(metricNamesIn),
  ),
]);

/** The metric names in a PromQL expression. */
export function metricNamesIn(expression: string): string[] {
  return expression.match(/\b(?:bridge|crosschain|process|nodejs)_\w+\b/g) ?? [];
}

/** An alert with one set of labels. Times are minutes since the beginning of the recording. */
export interface Firing {
  readonly alert: string;
  readonly severity: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly from: number;
  readonly until: number;
  /** Whether it fired at each evaluation from its first minute to its last. */
  readonly isWithoutGap: boolean;
}

/** Simultaneous recordings of other exporters, by the value of their label `instance`. */
export type OtherExporters = Readonly<Record<string, Recording>>;

/** How Prometheus scrapes the exporters and evaluates the rules. */
export interface Setup {
  /** Labels of the target besides `job` and `instance`. With several sets, every series exists with each of them. */
  readonly targetLabels: readonly Readonly<Record<string, string>>[];
  /** The labels that a second evaluation of all rules adds to its series. */
  readonly secondEvaluation?: Readonly<Record<string, string>>;
  /** The program that evaluates the rules: promtool by default. */
  readonly promtool?: string;
}

const DIRECT: Setup = { targetLabels: [{}] };

/** promtool limits the number of samples of a query, here those of the alerts that fire. */
const MAX_RANGE_SAMPLES = 240;

/** The value of the label `instance` of the recorded exporter. */
export const INSTANCE = 'localhost:10917';

/** An alert at a minute. */
export interface AlertAtMinute {
  readonly alert: string;
  readonly minute: number;
}

/** The alerts that fired during a recording. */
export function runAlerts(recording: Recording, others: OtherExporters = {}, setup: Setup = DIRECT): Firing[] {
  return evaluateAlerts(recording, [], others, setup).firings;
}

/**
 * Evaluates the alert rules over a recording in promtool, the rule engine of Prometheus. Returns all alerts that fired, and the labels and
 * annotations of these alerts at these minutes, as promtool prints them.
 */
export function evaluateAlerts(
  recording: Recording,
  alertsAtMinutes: readonly AlertAtMinute[],
  others: OtherExporters = {},
  setup: Setup = DIRECT,
): { readonly firings: Firing[]; readonly texts: string } {
  const step = recording.sampleSeconds;
  const copies = setup.targetLabels.length * (setup.secondEvaluation === undefined ? 1 : 2);
  const maxSamples = Math.floor(MAX_RANGE_SAMPLES / copies);
  const firing = 'ALERTS{alertstate="firing"}';
  const ranges = Array.from({ length: Math.ceil(recording.samples / maxSamples) }, (_, index) => {
    const first = index * maxSamples;
    const last = Math.min(first + maxSamples, recording.samples) - 1;
    return { endSeconds: last * step, range: `[${(last - first) * step + 1}s:${step}s]` };
  });
  const functions = {
    from: (range: string) => `min_over_time(timestamp(${firing})${range})`,
    until: (range: string) => `max_over_time(timestamp(${firing})${range})`,
    samples: (range: string) => `count_over_time(${firing}${range})`,
  };
  // promtool prints the result of a query when it differs from the expected one, here none.
  const tests = ranges.flatMap(({ endSeconds, range }) =>
    Object.values(functions).map((query) => ({ expr: query(range), eval_time: `${endSeconds}s`, exp_samples: [] })),
  );
  const { output } = runTests(
    recording,
    { promql_expr_test: tests, alert_rule_test: alertsAtMinutes.map(alertTest) },
    others,
    setup,
  );
  if (output.includes('too many samples')) throw new Error('promtool cannot query this range of the recording');
  const results = Array.from(
    output.matchAll(/expr: "((?:[^"\\]|\\.)*)", time: .*\n\s+exp: nil\n\s+got: (.*)\n/g),
    ([, expr, got]) => ({ expr: JSON.parse(`"${expr}"`) as string, samples: parseSamples(got ?? '') }),
  );
  const merged = (query: string, merge: (left: number, right: number) => number): ReadonlyMap<string, Sample> => {
    const samples = new Map<string, Sample>();
    for (const [key, sample] of results
      .filter(({ expr }) => expr.startsWith(query))
      .flatMap((own) => [...own.samples])) {
      const known = samples.get(key);
      samples.set(key, known === undefined ? sample : { ...sample, value: merge(known.value, sample.value) });
    }
    return samples;
  };
  const from = merged('min_over_time', Math.min);
  const until = merged('max_over_time', Math.max);
  const samples = merged('count_over_time', (left, right) => left + right);
  // The watchdog always fires, so an empty result is an error.
  if (from.size === 0) throw new Error(`promtool did not print the alerts: ${output.slice(0, 4000)}`);
  const firings = Array.from(from, ([key, { labels, value }]) => {
    const { alertname: alert = '', severity = '', alertstate: _firing, ...rest } = labels;
    const last = until.get(key)?.value ?? NaN;
    const isWithoutGap = samples.get(key)?.value === (last - value) / step + 1;
    return { alert, severity, labels: rest, from: value / 60, until: last / 60, isWithoutGap };
  });
  return { firings, texts: output };
}

const alertTest = ({ alert, minute }: AlertAtMinute) => ({
  alertname: alert,
  eval_time: `${minute * 60}s`,
  exp_alerts: [],
});

function runTests(
  recording: Recording,
  tests: Readonly<Record<string, unknown>>,
  others: OtherExporters = {},
  { targetLabels, secondEvaluation, promtool = 'promtool' }: Setup = DIRECT,
): ToolResult {
  const interval = `${recording.sampleSeconds}s`;
  const instances = { [INSTANCE]: recording, ...others };
  const input_series = targetLabels.flatMap((labels) =>
    Object.entries(instances).flatMap(([instance, { series, samples }]) => {
      // Prometheus adds these labels when it scrapes.
      const scraped = Object.entries({ job: 'bridge', instance, ...labels }).map(
        ([name, value]) => `${name}="${value}"`,
      );
      return Array.from(series, ([key, values]) => ({
        series: key.endsWith('}') ? `${key.slice(0, -1)},${scraped.join(',')}}` : `${key}{${scraped.join(',')}}`,
        values: Array.from({ length: samples }, (_, sample) => notationOf(values, sample)).join(' '),
      }));
    }),
  );
  const file = {
    rule_files: [RULES, ...(secondEvaluation === undefined ? [] : [secondRules(secondEvaluation)])],
    evaluation_interval: interval,
    group_eval_order: ruleGroups.flatMap(({ name }) =>
      secondEvaluation === undefined ? [name] : [name, secondGroup(name)],
    ),
    tests: [{ interval, input_series, ...tests }],
  };
  // JSON is YAML.
  return runTool(promtool, ['test', 'rules', folder.write('test.yml', JSON.stringify(file))]);
}

const secondGroup = (name: string): string => `${name} of the second evaluation`;

/** A copy of the rules whose series and alerts have additional labels, such as those of a second rule evaluator. */
function secondRules(labels: Readonly<Record<string, string>>): string {
  const groups = ruleGroups.map((group) => ({
    ...group,
    name: secondGroup(group.name),
    rules: group.rules.map((rule) => ({ ...rule, labels: { ...rule.labels, ...labels } })),
  }));
  return folder.write('second-rules.yml', JSON.stringify({ groups }));
}

/** A sample in promtool's notation. A series that disappears gets a staleness marker, like in a scrape. */
function notationOf(values: readonly (number | undefined)[], sample: number): string {
  const value = values[sample];
  if (value !== undefined) return String(value);
  return values[sample - 1] === undefined ? '_' : 'stale';
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Parses `{a="b", c="d"} 1E+00, {…} 2E+00`. The keys are the labels as text. */
function parseSamples(output: string): ReadonlyMap<string, Sample> {
  const samples = new Map<string, Sample>();
  for (const [, labels = '', value] of output.matchAll(/\{((?:\w+="(?:[^"\\]|\\.)*"(?:, )?)*)\} (\S+?)(?:, |$)/g)) {
    const pairs = Array.from(labels.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g), ([, name, text]) => [
      name,
      JSON.parse(text ?? '""') as string,
    ]);
    samples.set(labels, { labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) });
  }
  return samples;
}
