import { groupBy } from '../facts/grouping.js';
import { alertTexts } from './alert-texts.js';
import { KEEP_FIRING_MINUTES } from './due.js';
import { OUTDATED_SECONDS, pollProblems, type PollProblem } from './polls.js';
import type { Problem, Severity } from './problem.js';
import { problems } from './problems.js';
import type { AgeKind } from './sentence.js';

/*
 * The alert rules, one for each name. The rule of a problem compares with now when its alert is due: limit and
 * hierarchy are judged by the exporter (due.ts), and the severity is a label of the series.
 */

/** What alerts.yml, the chart and the mixin fill in. */
export interface Filled {
  /** Matchers of all series, with a comma after each, or nothing. Texts query by the labels of the alert instead. */
  readonly selector: string;
  /** The label that distinguishes clusters in one store. */
  readonly cluster: string;
}

/** A metric with matchers. */
function selectSeries({ selector }: Filled, name: string, ...matchers: readonly string[]): string {
  const all = selector + matchers.join(',');
  return all === '' ? name : `${name}{${all}}`;
}

/** A query in a template, with labels of the alert. */
export function printQuery(query: string, ...labels: readonly string[]): string {
  const values = labels.map((label) => `$labels.${label}`).join(' ');
  return `printf "${query.replaceAll('"', '\\"')}" ${values} | query`;
}

export interface Rule {
  readonly name: string;
  readonly group: 'bridge-exporter' | 'bridge' | 'contract' | 'crosschain' | 'bridge-watchdog';
  readonly dashboard: string;
  /** Absent if it is a label of the series; a template if it depends on other exporters. */
  readonly severity?: Severity | 'none' | ((filled: Filled) => string);
  readonly expr: (filled: Filled) => string;
  /** `for`: tolerates short failures. */
  readonly forMinutes: number;
  /** `keep_firing_for`: bridges gaps in the data, such as a restart. */
  readonly keepFiringMinutes: number;
  readonly title: string;
  /** What is wrong now, as a template. Absent for a rule of problems: their series have the sentence. */
  readonly sentence?: (filled: Filled) => string;
  /** What that means, whatever the severity. */
  readonly meaning: string;
  readonly action?: string;
  /** The problems with this name; absent for a rule that Prometheus judges. */
  readonly problems?: readonly (Problem | PollProblem)[];
  readonly age?: AgeKind;
}

type ExporterRule = Omit<Rule, 'group' | 'dashboard' | 'keepFiringMinutes' | 'problems'> &
  Partial<Pick<Rule, 'keepFiringMinutes'>>;

const EXPORTER_SENTENCE = 'Exporter {{ $labels.instance }}';

/** What an exporter cannot judge of itself, in at most three lines of PromQL that look at the present. */
export const exporterRules: readonly ExporterRule[] = [
  {
    name: 'BridgeExporterAbsent',
    severity: 'critical',
    // Without `up`, because a job can be renamed or lose its targets. If there was no exporter within a day, it fires
    // once, without a label.
    expr: (filled) => {
      const [info, day] = [selectSeries(filled, 'bridge_exporter_build_info'), '[1d]'];
      const { cluster } = filled;
      return `(group by (${cluster}) (last_over_time(${info}${day})) unless group by (${cluster}) (${info}))
or absent(last_over_time(${info}${day}))`;
    },
    forMinutes: 10,
    title: 'No bridge-exporter is scraped.',
    meaning:
      'The cluster lost its last exporter within a day, or no exporter was scraped for a day. No other alert of the bridge can fire.',
    action: 'Check that the exporter runs and that its scrape job has targets.',
  },
  {
    name: 'BridgeExporterDown',
    // Critical unless another exporter has the same hash, so that it polls the same.
    severity: (filled) => {
      const { cluster } = filled;
      const hash = (...matchers: readonly string[]) =>
        selectSeries(filled, 'bridge_exporter_targets_hash', ...matchers);
      const own = hash('job=%[1]q', 'instance=%[2]q', `${cluster}=%[3]q`);
      const query = `count_values("hash", last_over_time(${own}[1d])) unless on (hash) count_values("hash", ${hash(`${cluster}=%[3]q`)})`;
      return `{{ with ${printQuery(query, 'job', 'instance', cluster)} }}critical{{ else }}warning{{ end }}`;
    },
    // Only while another exporter is scraped: otherwise BridgeExporterAbsent fires.
    expr: (filled) => {
      const info = selectSeries(filled, 'bridge_exporter_build_info');
      return `up == 0 and on (${filled.cluster}, namespace, job, instance) last_over_time(${info}[1d])
  and on (${filled.cluster}) ${info}`;
    },
    forMinutes: 10,
    title: 'A bridge-exporter cannot be scraped.',
    sentence: (filled) => {
      const { cluster } = filled;
      const polled = (...matchers: readonly string[]) =>
        selectSeries(filled, 'bridge_exporter_endpoint_hash', ...matchers);
      const own = polled('job=%[1]q', 'instance=%[2]q', `${cluster}=%[3]q`);
      const query = `group by (target) (count_values by (target) ("hash", last_over_time(${own}[1d])) unless on (target, hash) count_values by (target) ("hash", ${polled(`${cluster}=%[3]q`)}))`;
      return `${EXPORTER_SENTENCE} cannot be scraped{{ with ${printQuery(query, 'job', 'instance', cluster)} }}, and no other exporter polls{{ range . }} {{ .Labels.target }}{{ end }}{{ end }}`;
    },
    meaning:
      'The alert is critical if no other exporter polls the same targets. If another one does, only redundancy is lost.',
    action: 'Check that the exporter runs, and that Prometheus reaches it.',
  },
  {
    name: 'BridgeExporterTargetAmbiguous',
    severity: 'warning',
    // Only exporters that have polled successfully: others may not know the bridge yet.
    expr: (filled) => {
      const endpoint = `${filled.cluster}, target, document`;
      return `count by (${endpoint}) (count_values by (${endpoint}) ("hash",
  ${selectSeries(filled, 'bridge_exporter_endpoint_hash')} and ${selectSeries(filled, 'bridge_exporter_last_success_timestamp_seconds')})) > 1`;
    },
    forMinutes: 10,
    title: 'Exporters poll different bridges under one name.',
    sentence: () =>
      '{{ $labels.target }}: exporters poll {{ $labels.document }} of {{ $value }} bridges under this name',
    meaning: 'The data of one bridge can hide that another one is no longer polled.',
    action: 'Give the target of one exporter another name.',
  },
  {
    name: 'BridgeExporterShardMissing',
    severity: 'critical',
    expr: (filled) => {
      const job = `${filled.cluster}, namespace, job`;
      return `count by (${job}) (group by (${job}, shard) (${selectSeries(filled, 'bridge_exporter_shard_info')}))
  < max by (${job}) (${selectSeries(filled, 'bridge_exporter_shards')})`;
    },
    forMinutes: 5,
    title: 'A shard of bridge-exporter is not scraped.',
    sentence: () => 'Only {{ $value }} shards of bridge-exporter are scraped in job {{ $labels.job }}',
    meaning: 'Targets of the missing shards have no series, so no other alert fires for them.',
    action: 'Check that all shards run with the same --targets.shard count and are scraped.',
  },
  {
    name: 'BridgeExporterConfigReloadFailed',
    severity: 'warning',
    expr: (filled) => `${selectSeries(filled, 'bridge_exporter_config_last_reload_successful')} == 0`,
    forMinutes: 5,
    title: 'A configuration could not be loaded.',
    sentence: () => `${EXPORTER_SENTENCE} could not load its configuration`,
    meaning: 'The previous configuration stays active.',
    action: 'Correct the errors that the log or --config.check reports, and reload.',
  },
  {
    name: 'BridgeExporterRecorderFailing',
    severity: 'warning',
    expr: (filled) => `${selectSeries(filled, 'bridge_exporter_recorder_last_write_successful')} == 0`,
    forMinutes: 10,
    title: 'Responses cannot be recorded.',
    sentence: () => `${EXPORTER_SENTENCE} cannot record responses`,
    meaning: 'Polls and metrics are not affected; the recording has a gap.',
    action: 'Read the reason in the log: the disk is full, slow, read-only or not mounted.',
  },
  {
    name: 'BridgeEndpointNotPolled',
    severity: 'critical',
    expr: (filled) =>
      `time() - ${selectSeries(filled, 'bridge_exporter_last_attempt_timestamp_seconds', 'document!="external_contract"')} > ${OUTDATED_SECONDS}`,
    forMinutes: 0,
    keepFiringMinutes: KEEP_FIRING_MINUTES,
    title: 'An exporter has not polled for 10 minutes.',
    sentence: () =>
      '{{ $labels.target }}: exporter {{ $labels.instance }} has not polled {{ $labels.document }} for {{ $value | humanizeDuration }}',
    meaning: 'The exporter is scraped, but its polls hang or are far too slow.',
    action: 'Save the log of the exporter, then restart it. Until then, it does not monitor this part of the bridge.',
  },
];

const watchdog: Rule = {
  name: 'BridgeWatchdog',
  group: 'bridge-watchdog',
  dashboard: 'bridge-exporter',
  severity: 'none',
  expr: () => 'vector(1)',
  forMinutes: 0,
  keepFiringMinutes: 0,
  title: 'Alerting works end to end.',
  meaning: 'This alert always fires.',
  action: 'Route this alert to a service that raises an alarm when it stops arriving.',
};

const groups = {
  module_state: 'bridge',
  external_contract: 'contract',
  rate_limiter_input: 'crosschain',
} as const;

/**
 * No alert while another exporter of the target polls the document: failing polls of this one are BridgeEndpointDown.
 * An exporter whose own alert is due, such as by a shorter limit, does not count as one that polls.
 */
const unlessPolledByAnother = (
  filled: Filled,
  isDue: string,
): string => `unless on (${filled.cluster}, target, document) (time() - ${selectSeries(filled, 'bridge_exporter_last_success_timestamp_seconds')} <= ${OUTDATED_SECONDS}
  unless on (${filled.cluster}, namespace, job, instance, target, document) ${isDue})`;

/** The rules of problems, one for each name. */
function problemRules<Each extends Problem | PollProblem>(
  all: readonly Each[],
  place: (first: Each) => Pick<Rule, 'group' | 'dashboard'>,
): readonly Rule[] {
  const byName = groupBy(all, ({ name }) => name as keyof typeof alertTexts);
  return Array.from(byName).flatMap(([name, own]) => {
    const [title, meaning] = alertTexts[name];
    return own.slice(0, 1).map((first) => ({
      name,
      ...place(first),
      expr: (filled) => {
        const due = selectSeries(filled, 'bridge_problem_due_timestamp_seconds', `problem="${name}"`);
        const isDue = `time() - ${due} >= 0`;
        return name === 'BridgeSnapshotStale' ? `${isDue}\n${unlessPolledByAnother(filled, isDue)}` : isDue;
      },
      forMinutes: 0,
      keepFiringMinutes: KEEP_FIRING_MINUTES,
      title,
      meaning,
      problems: own,
      ...(first.age && { age: first.age }),
    }));
  });
}

const exporterGroup = { group: 'bridge-exporter', dashboard: 'bridge-exporter' } as const;

/** All rules, in the order of prometheus/alerts.yml. */
export const rules: readonly Rule[] = [
  ...exporterRules.map((rule) => ({ keepFiringMinutes: 5, ...rule, ...exporterGroup })),
  ...problemRules(pollProblems, () => exporterGroup),
  ...problemRules(problems, ({ document, dashboard }) => ({ group: groups[document], dashboard })),
  watchdog,
];
