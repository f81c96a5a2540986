import { msBetween } from '../clock.js';
import { MINUTE_MS } from '../config/units.js';
import { list } from '../text/format.js';
import { endpointAlert } from './alert.js';
import { parenthesized, promDuration } from './promql.js';
import { parts, withDetails } from './sentences.js';
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

  /** Without those that no alert reads and that have been withdrawn since the first poll: the node does not have the field. */
  const withdrawn = ({ history, now }: PollView<never>): readonly Finding[] =>
    Array.from(history.withdrawnAt)
      .filter(([, at]) => msBetween(at, now) < WITHDRAWN_MINUTES * MINUTE_MS)
      .filter(([family]) => read.has(family) || !history.alwaysWithdrawn.has(family))
      .map(([family]) => ({ labels: { family }, value: 1 }));

  return [
    endpointAlert({
      name: 'BridgeExporterInvalidValues',
      severity: 'warning',
      // The first operand has the metrics that alerts read. Others are included when they have had a value in the last day: the counts of samples
      // are equal when a metric has been withdrawn in every scrape with a successful poll.
      description:
        'A field is missing or has invalid values, so that a metric that alerts read, or that had a value before, is absent at least in part, although polls succeed. Alerts on the metric cannot fire.',
      expr: `max_over_time(bridge_exporter_family_withdrawn{family=~"${names}"}[${range}]) > 0
or ${parenthesized(`${withdrawnNow}\nand\n${hadValues}`)}`,
      forMinutes: 10,
      keepFiringMinutes: 5,
      find: withdrawn,
      summary: '{{ $labels.family }} has no value, because part of {{ $labels.document }} cannot be used.',
      action:
        'Compare the fields that the status page names with the response of the node; bridge_exporter_invalid_values_total counts those with a wrong type.',
      sentence: (findings, view) =>
        withDetails(
          `part of ${view.state.document} has been unusable for ${findings.duration}`,
          unreadableFields(view),
          `without values: ${list(fieldsOf(findings, 'family'))}`,
        ),
    }),
  ];
}
