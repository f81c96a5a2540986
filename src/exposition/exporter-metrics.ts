import type { Shard } from '../config/config.js';
import type { EndpointState } from '../engine/endpoint-state.js';
import { endpointHash } from '../engine/jobs.js';
import { counter, families, gauge, gauges, labeledCounter, labeledGauge } from '../metrics/family.js';
import {
  formatHeader,
  formatTargetLabels,
  renderFamilies,
  type Format,
  type RenderedFamily,
} from '../metrics/text-format.js';
import type { RecorderStatus } from '../recorder/recorder.js';
import { wallSeconds, type Instant } from '../clock.js';

/* Metrics of the exporter itself: of the polls of each endpoint, and of the process. */

/** The first labels of each of these families. */
export const ENDPOINT_LABELS = ['target', 'document'] as const;

/** Metric families about the polls of an endpoint, derived from the state of the endpoint. */
export const pollFamilies = families<EndpointState>({
  bridge_exporter_up: gauge({
    help: 'Whether the last poll succeeded.',
    value: ({ lastPoll }) => lastPoll && (lastPoll.ok ? 1 : 0),
  }),
  bridge_exporter_endpoint_info: labeledGauge({
    help: 'Dialect and path of the last successful poll, as labels.',
    // One series: the dialect and its path.
    labels: ['dialect', 'path'],
    derive: ({ lastSuccess }) =>
      lastSuccess?.servedPath === undefined ? [] : [{ labels: { ...lastSuccess.servedPath }, value: 1 }],
  }),
  bridge_exporter_endpoint_hash: gauge({
    help: 'Hash of the target name, the document, and the identity of the bridge once that is known.',
    value: (state) => (state.lastPoll === undefined ? undefined : endpointHash(state)),
  }),
  bridge_exporter_last_attempt_timestamp_seconds: gauge({
    help: 'Time when the last poll ended, successful or not.',
    isInstant: true,
    value: ({ lastPoll }) => lastPoll?.at,
  }),
  bridge_exporter_last_success_timestamp_seconds: gauge({
    help: 'Time when the last successful poll ended.',
    isInstant: true,
    value: ({ lastSuccess }) => lastSuccess?.at,
  }),
  bridge_exporter_polls_total: counter({
    help: 'Total number of finished polls.',
    value: ({ polls }) => polls,
  }),
  bridge_exporter_poll_failures_total: labeledCounter({
    help: 'Total number of failed polls by reason.',
    // The closed list of reasons.
    labels: ['reason'],
    derive: ({ failures }) => Object.entries(failures).map(([reason, value]) => ({ labels: { reason }, value })),
  }),
  bridge_exporter_poll_duration_seconds: labeledGauge({
    help: 'Duration of each finished phase of the last poll.',
    // `fetch`, `decode` and `derive`.
    labels: ['phase'],
    derive: ({ lastPoll }) =>
      Object.entries(lastPoll?.phaseSeconds ?? {}).map(([phase, value]) => ({ labels: { phase }, value })),
  }),
  bridge_exporter_response_size_bytes: gauge({
    help: 'Decoded size of the response body of the last poll; absent without a complete response of status 200.',
    value: ({ lastPoll }) => lastPoll?.bodyBytes,
  }),
  bridge_exporter_response_size_limit_bytes: gauge({
    help: 'Maximum decoded size of a response body (poll.max_body_size).',
    value: ({ lastPoll, maxBodyBytes }) => lastPoll && maxBodyBytes,
  }),
  bridge_exporter_invalid_values_total: labeledCounter({
    help: 'Total number of values of the wrong type, by field; families that read the field are withdrawn.',
    // Fields of the spec that families read.
    labels: ['field'],
    derive: ({ invalidValues }) => Array.from(invalidValues, ([field, value]) => ({ labels: { field }, value })),
  }),
  bridge_exporter_unknown_values_total: labeledCounter({
    help: 'Total number of unknown enum values, by field; they are exported as other.',
    // Enum fields of the spec that families read.
    labels: ['field'],
    derive: ({ unknownValues }) => Array.from(unknownValues, ([field, value]) => ({ labels: { field }, value })),
  }),
  bridge_exporter_series_dropped: labeledGauge({
    help: 'Number of series over limits.max_series_per_family, omitted or aggregated as other, by family; absent for families without dropped series.',
    // Labeled families.
    labels: ['family'],
    derive: ({ lastSuccess }) =>
      (lastSuccess?.snapshot.renderedFamilies ?? []).map(({ name, dropped }) => ({
        labels: { family: name },
        value: dropped,
      })),
  }),
  bridge_exporter_family_withdrawn: labeledGauge({
    help: 'Whether series of a family are missing because a field of the last document was missing or invalid; absent otherwise.',
    // Families of documents.
    labels: ['family'],
    derive: ({ lastSuccess }) =>
      (lastSuccess?.snapshot.renderedFamilies ?? []).flatMap(({ name, withdrawn }) =>
        withdrawn ? [{ labels: { family: name }, value: 1 }] : [],
      ),
  }),
  bridge_exporter_node_query_failures_total: labeledCounter({
    help: 'Total number of failed node queries, by query; queries that the node does not serve are not counted.',
    stability: 'experimental',
    // The closed list of queries.
    labels: ['query'],
    derive: ({ queries }) => Array.from(queries, ([query, { failures }]) => ({ labels: { query }, value: failures })),
  }),
  bridge_exporter_node_up: labeledGauge({
    help: 'Whether a node has not failed, or has answered probes for ten minutes since its failure; absent for an endpoint with one node.',
    // The nodes of the configuration.
    labels: ['source'],
    derive: ({ nodes }) =>
      severalNodes(nodes).map(({ source, trouble }) => ({
        labels: { source },
        value: trouble?.isDown === true ? 0 : 1,
      })),
  }),
  bridge_exporter_node_active: labeledGauge({
    help: 'Whether a node is in use; absent for an endpoint with one node.',
    // The nodes of the configuration.
    labels: ['source'],
    derive: ({ nodes }) =>
      severalNodes(nodes).map(({ source, isInUse }) => ({ labels: { source }, value: isInUse ? 1 : 0 })),
  }),
  bridge_exporter_node_switches_total: counter({
    help: 'Total number of switches to another node; absent for an endpoint with one node.',
    value: ({ nodes, nodeSwitches }) => (severalNodes(nodes).length === 0 ? undefined : nodeSwitches),
  }),
  bridge_exporter_snapshot_regressions_total: counter({
    help: 'Total number of documents with a lower hub height than the last accepted document.',
    value: ({ regressions }) => regressions,
  }),
});

/** The nodes of an endpoint with several; none in a replay, which knows only the node of each recorded poll. */
function severalNodes(nodes: EndpointState['nodes'] = []): NonNullable<EndpointState['nodes']> {
  return nodes.length > 1 ? nodes : [];
}

/** The metrics of the polls of an endpoint. Counters exist from the start, gauges from the first poll. */
export function renderedPollFamilies(state: EndpointState): readonly RenderedFamily[] {
  const fixedLabels = `${formatTargetLabels(state.target, state.targetLabels)},document="${state.document}"`;
  return renderFamilies(pollFamilies, state, fixedLabels, Infinity);
}

/** Labels of `bridge_exporter_build_info`. */
export interface BuildInfo {
  readonly version: string;
  /** Commit that was built, or `unknown`. */
  readonly revision: string;
  readonly nodeVersion: string;
}

/** The active configuration. */
interface ConfigFacts {
  readonly hash: number;
  readonly loadedAt: Instant;
  /** Number of targets that this process polls. */
  readonly targets: number;
}

export interface ProcessState {
  readonly build: BuildInfo;
  readonly shard: Shard;
  readonly config: ConfigFacts;
  /** Whether the last reload has failed. */
  readonly isConfigRejected: boolean;
  readonly clockOffset: number;
  readonly targetsHash: () => number;
  /** `undefined` when nothing is recorded. */
  readonly recorder: RecorderStatus | undefined;
}

export const processFamilies = families<ProcessState>({
  bridge_exporter_build_info: labeledGauge({
    help: 'Version and revision of the exporter and version of Node.js, as labels.',
    // One series per process.
    labels: ['version', 'revision', 'nodejs'],
    derive: ({ build: { version, revision, nodeVersion } }) => [
      { labels: { version, revision, nodejs: nodeVersion }, value: 1 },
    ],
  }),
  bridge_exporter_shard_info: labeledGauge({
    help: 'Index of the shard of this process, from 1, as a label.',
    // One series per process.
    labels: ['shard'],
    derive: ({ shard }) => [{ labels: { shard: String(shard.index) }, value: 1 }],
  }),
  // prettier-ignore
  ...gauges<ProcessState>([
    ['bridge_exporter_shards', ({ shard }) => shard.count, 'Configured number of shards.'],
    ['bridge_exporter_targets', ({ config }) => config.targets, 'Number of targets that this process polls.'],
    ['bridge_exporter_targets_hash', ({ targetsHash }) => targetsHash(),
      'Hash of the endpoints that this process polls, to find exporters with the same endpoints.'],
    ['bridge_exporter_config_last_reload_successful', ({ isConfigRejected }) => (isConfigRejected ? 0 : 1),
      'Whether the last reload of the configuration succeeded.'],
    ['bridge_exporter_config_last_reload_success_timestamp_seconds', ({ config, clockOffset }) => wallSeconds(config.loadedAt, { clockOffset }),
      'Time of the last successful load of the configuration.'],
    ['bridge_exporter_config_hash', ({ config }) => config.hash, 'Hash of the active configuration without its secrets, to compare instances.'],
  ]),
  bridge_exporter_recorder_last_write_successful: gauge({
    help: 'Whether the last write of the recorder succeeded.',
    // Absent before the first attempt.
    value: ({ recorder }) =>
      recorder === undefined || recorder.recorded + recorder.failed === 0
        ? undefined
        : Number(recorder.failure === undefined),
  }),
  bridge_exporter_recordings_total: counter({
    help: 'Total number of polls that the recorder has written.',
    value: ({ recorder }) => recorder?.recorded,
  }),
  bridge_exporter_recording_failures_total: counter({
    help: 'Total number of polls that the recorder could not write.',
    value: ({ recorder }) => recorder?.failed,
  }),
  bridge_exporter_recordings_size_bytes: gauge({
    help: 'Size of all recorded polls in the directory of the recorder.',
    value: ({ recorder }) => recorder?.bytes,
  }),
});

export function renderProcess(state: ProcessState, format: Format): string {
  return processFamilies
    .flatMap((family) =>
      renderFamilies([family], state, '', Infinity).map(({ text }) => formatHeader(family, format) + text),
    )
    .join('');
}
