import type { EndpointState } from '../poll/endpoint-state.js';
import type { FamilyHeader, Sample } from '../metrics/family.js';
import { escapeLabelValue, formatSeries } from '../metrics/text-format.js';

/** A family about the exporter's own work at one endpoint, derived from its state like a chain family from a document. */
interface EndpointFamily extends FamilyHeader {
  readonly derive: (state: EndpointState) => readonly Sample[];
}

/** Labels that every one of these families starts with. */
export const ENDPOINT_LABELS = ['target', 'endpoint'] as const;

const POLLS = ['the exporter itself'];

function single(
  family: Pick<FamilyHeader, 'name' | 'help' | 'unit'> & {
    readonly type: FamilyHeader['type'];
    readonly value: (state: EndpointState) => number | undefined;
  },
): EndpointFamily {
  const { value, ...header } = family;
  return { ...header, labels: [], reads: POLLS, derive: (state) => [{ labels: [], value: value(state) }] };
}

function counts(counted: Iterable<readonly [string, number]>): Sample[] {
  return Array.from(counted, ([label, value]) => ({ labels: [label], value }));
}

export const endpointFamilies: readonly EndpointFamily[] = [
  single({
    name: 'bridge_exporter_up',
    type: 'gauge',
    help: 'Whether the last poll succeeded.',
    unit: '1 for yes, 0 for no',
    value: ({ last }) => last && (last.ok ? 1 : 0),
  }),
  single({
    name: 'bridge_exporter_last_attempt_timestamp_seconds',
    type: 'gauge',
    help: 'When the last poll ended, whatever came of it.',
    unit: 'seconds since 1970',
    value: ({ last }) => last?.at.epochSeconds,
  }),
  single({
    name: 'bridge_exporter_last_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the last successful poll ended; the chain series of the endpoint are of this moment.',
    unit: 'seconds since 1970',
    value: ({ success }) => success?.at.epochSeconds,
  }),
  single({
    name: 'bridge_exporter_polls_total',
    type: 'counter',
    help: 'Polls that ended.',
    unit: 'polls',
    value: ({ polls }) => polls,
  }),
  {
    name: 'bridge_exporter_poll_failures_total',
    type: 'counter',
    help: 'Polls that failed, by reason.',
    unit: 'polls',
    reads: POLLS,
    // The closed list of reasons.
    labels: ['reason'],
    derive: ({ failures }) => counts(Object.entries(failures)),
  },
  {
    name: 'bridge_exporter_poll_duration_seconds',
    type: 'gauge',
    help: 'How long each phase of the last poll took; a phase that was not finished is absent.',
    unit: 'seconds',
    reads: POLLS,
    // Three phases.
    labels: ['phase'],
    derive: ({ last }) => counts(Object.entries(last?.seconds ?? {})),
  },
  single({
    name: 'bridge_exporter_response_size_bytes',
    type: 'gauge',
    help: 'Decoded size of the last body that came whole.',
    unit: 'bytes',
    value: ({ last }) => last?.bodyBytes,
  }),
  single({
    name: 'bridge_exporter_response_size_limit_bytes',
    type: 'gauge',
    help: 'Decoded size over which a body is refused (poll.max_body_size).',
    unit: 'bytes',
    value: ({ last, maxBodyBytes }) => last && maxBodyBytes,
  }),
  {
    name: 'bridge_exporter_invalid_values_total',
    type: 'counter',
    help: 'Values of the wrong kind in accepted documents, by field; what reads them is absent.',
    unit: 'values',
    reads: POLLS,
    // Fields of the spec that are read.
    labels: ['field'],
    derive: ({ invalidValues }) => counts(invalidValues),
  },
  {
    name: 'bridge_exporter_unknown_values_total',
    type: 'counter',
    help: 'Enum values of accepted documents that the exporter does not know, by field; they show as other.',
    unit: 'values',
    reads: POLLS,
    // Enum fields of the spec that are read.
    labels: ['field'],
    derive: ({ unknownValues }) => counts(unknownValues),
  },
  {
    name: 'bridge_exporter_series_dropped',
    type: 'gauge',
    help: 'Series over limits.max_series_per_family in the last accepted document, left out or added up in other.',
    unit: 'series',
    reads: POLLS,
    // Labelled families.
    labels: ['family'],
    derive: ({ success }) => {
      const labelled = success?.snapshot.families.filter(({ dropped }) => dropped !== undefined) ?? [];
      return labelled.map(({ name, dropped }) => ({ labels: [name], value: dropped }));
    },
  },
  single({
    name: 'bridge_exporter_snapshot_regressions_total',
    type: 'counter',
    help: 'Answers of a lower hub height than the one before: two are refused, the third in a row is accepted.',
    unit: 'answers',
    value: ({ regressions }) => regressions,
  }),
];

/** The lines of one endpoint, by family; counters from the start, gauges from the first poll. */
export function endpointLines(state: EndpointState): { readonly name: string; readonly lines: string }[] {
  const fixedLabels = `target="${escapeLabelValue(state.target)}",endpoint="${state.endpoint}"`;
  return endpointFamilies.map((family) => ({
    name: family.name,
    lines: family
      .derive(state)
      .map(({ labels, value }) => (value === undefined ? '' : formatSeries(family, fixedLabels, { labels, value })))
      .join(''),
  }));
}
