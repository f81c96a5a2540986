import { msBetween } from '../clock.js';
import { MINUTE_MS } from '../settings/units.js';
import { count, list } from '../text/format.js';
import { endpointAlert } from './alert.js';
import { parenthesized, promDuration } from './promql.js';
import { parts, withDetails, withList } from './sentences.js';
import { fieldsOf, type Finding, type PollView } from './view.js';

/* Alerts on families that are withdrawn, because the document lacks a field or has an invalid value. */

/** Nodes behind a load balancer take turns: a family that only some of their documents lack is withdrawn now and then. */
const WITHDRAWN_MINUTES = 5;

/** A regular expression for these names, with each prefix written once. */
function pattern(families: readonly string[]): string {
  return ['bridge_', 'crosschain_']
    .map((prefix) => ({ prefix, own: families.filter((name) => name.startsWith(prefix)) }))
    .filter(({ own }) => own.length > 0)
    .map(({ prefix, own }) => `${prefix}(${own.map((name) => name.slice(prefix.length)).join('|')})`)
    .join('|');
}

/** "missing: state.batches; invalid values of state.valsets": the fields of the last document, without those of rows that are missing. */
function unreadableFields({ state: { success } }: PollView<never>): string {
  const { missing = [], invalid = new Map() } = success?.snapshot.problems ?? {};
  const depthOf = (path: string): number => path.split('.').length;
  // A list is more than a parameter.
  const absent = Array.from(missing).toSorted((a, b) => depthOf(a) - depthOf(b));
  const wrong = Array.from(invalid.keys());
  return parts(
    absent.length === 0 ? '' : `missing: ${list(absent)}`,
    wrong.length === 0 ? '' : `invalid values of ${list(wrong)}`,
  );
}

/** `read` is the families that other alerts read. */
export function withdrawnAlerts(read: ReadonlySet<string>) {
  const names = pattern(Array.from(read).toSorted());
  const range = promDuration(WITHDRAWN_MINUTES);
  const withdrawnNow = `max_over_time(bridge_exporter_family_withdrawn[${range}]) > 0`;
  const hadValues = parenthesized(`count_over_time(bridge_exporter_family_withdrawn[1d])
< ignoring (family) group_left () count_over_time(bridge_exporter_last_success_timestamp_seconds[1d])`);

  /** Harmless are those that no alert reads and that have been withdrawn since the first poll: the node does not have the field. */
  const withdrawn = ({ history, now }: PollView<never>, isHarmless: boolean): readonly Finding[] =>
    Array.from(history.withdrawnAt)
      .filter(([, at]) => msBetween(at, now) < WITHDRAWN_MINUTES * MINUTE_MS)
      .filter(([family]) => isHarmless === (!read.has(family) && history.alwaysWithdrawn.has(family)))
      .map(([family]) => ({ labels: { family }, value: 1 }));

  return [
    endpointAlert({
      name: 'BridgeExporterInvalidValues',
      severity: 'warning',
      comment: `The last successful poll could not derive a metric. The range includes metrics that are withdrawn in some polls only.
The first operand has the metrics that alerts read. Others are included when they have had a value in the last day: the counts of samples are
equal when a metric has been withdrawn in every scrape with a successful poll.`,
      when: 'A field is missing or has invalid values, so that a metric that alerts read, or that had a value before, is absent.',
      expr: `max_over_time(bridge_exporter_family_withdrawn{family=~"${names}"}[${range}]) > 0
or ${parenthesized(`${withdrawnNow}\nand\n${hadValues}`)}`,
      forMinutes: 10,
      keepFiringMinutes: 5,
      find: (view) => withdrawn(view, false),
      summary: 'part of {{ $labels.document }} cannot be used.',
      description:
        '{{ $labels.family }} of {{ $labels.target }} is missing, at least in part, although polls succeed: a field that the metric reads is missing in {{ $labels.document }} or has the wrong type. Alerts on the metric cannot fire.',
      action:
        'Compare the fields of the metric in docs/metrics.md with the response of the node; bridge_exporter_invalid_values_total names those with a wrong type.',
      sentence: (findings, view) =>
        withDetails(
          `part of ${view.state.document} has been unusable for ${findings.duration}`,
          unreadableFields(view),
          `without values: ${list(fieldsOf(findings, 'family'))}`,
        ),
    }),
    endpointAlert({
      name: 'BridgeExporterInvalidValues',
      severity: 'info',
      comment: 'The rest: no alert reads the metric, and the node has not had the field since the first poll.',
      when: 'A metric that no alert reads has been absent since the first poll, because a field is missing or has invalid values.',
      expr: `max_over_time(bridge_exporter_family_withdrawn{family!~"${names}"}[${range}]) > 0
unless
${hadValues}`,
      forMinutes: 10,
      keepFiringMinutes: 5,
      find: (view) => withdrawn(view, true),
      summary: 'part of {{ $labels.document }} is not there.',
      description:
        '{{ $labels.family }} of {{ $labels.target }} has been missing since the first poll: {{ $labels.document }} does not have a field that the metric reads, or with another type. No alert reads the metric.',
      action: 'Check whether a newer version of the exporter knows the fields of this node.',
      sentence: (findings, view) => {
        const families = fieldsOf(findings, 'family');
        return withList(
          `${view.state.document} has lacked the fields of ${count(families.length, 'metric')} for ${findings.duration}`,
          list(families),
          unreadableFields(view),
        );
      },
    }),
  ];
}
