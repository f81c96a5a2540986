import { describe, expect, it } from 'vitest';
import { documents } from '../../src/documents.js';
import { ENDPOINT_LABELS, pollFamilies } from '../../src/exposition/poll-metrics.js';
import { createProcessMetrics } from '../../src/exposition/process-metrics.js';
import { clock } from '../../src/clock.js';
import { failureReasonNames, failureReasons, remedyOf } from '../../src/http/failure-reasons.js';
import type { FamilyHeader } from '../../src/metrics/family.js';
import { nodeQueries, nodeQueryFamilies } from '../../src/sources/node-queries.js';
import { recordReads } from '../metrics/recorded-reads.js';

/*
 * The references generated from the code. `npm test -- -u` updates them.
 */
describe('docs/metrics.md', () => {
  it('lists all metrics', async () => {
    await expect(await metricReference()).toMatchFileSnapshot('../../docs/metrics.md');
  });
});

describe('docs/failures.md', () => {
  it('lists all failure reasons', async () => {
    await expect(failureReference()).toMatchFileSnapshot('../../docs/failures.md');
  });
});

async function metricReference(): Promise<string> {
  return `# Metrics

Generated from the code by \`npm test -- -u\`.

Most chain metrics are gauges. They show the response of the last successful poll; a scrape never sends a request to the node.
\`bridge_exporter_last_success_timestamp_seconds\` is the time of that poll. When it is older than \`poll.stale_after\`, the chain metrics of
the endpoint are absent.

A gauge is either correct or absent. If a field that a metric reads is missing or has the wrong type, this metric is absent, and no other. A
wrong type is also counted in \`bridge_exporter_invalid_values_total\`, and \`bridge_exporter_family_withdrawn\` names the metric. For an empty list, counts and sums are 0, and minima, maxima and
ratios are absent. Amounts are in smallest units of the token.

A metric has at most \`limits.max_series_per_family\` series per target. Above this limit, counts and amounts keep the series with the largest
values, orchestrator metrics those with the most power, and timestamps, deadlines and nonces the lowest, or the highest if the name says so.
Counts sum up the remaining series in one whose labels have the value \`other\`; all other metrics drop them. \`bridge_exporter_series_dropped\`
is the number of these series.

## Stability

Every metric is \`stable\` or \`experimental\`. HELP of an experimental metric begins with \`[EXPERIMENTAL]\`.

- **Stable**: name, type, labels, unit and meaning do not change before the next major version. The sets of label values
  (\`kind\`, \`list\`, \`direction\`, \`observed\`, \`phase\`, \`document\`, \`reason\`) can be extended in a minor version, and do not shrink.
- **Experimental**: can be changed or removed in any release, as noted in the [changelog](../CHANGELOG.md). Do not use it in critical alerts. A
  new metric is experimental, and becomes stable in a minor version when it has proven useful.
- **Deprecated**: a stable metric is deprecated in a minor version before it is renamed or removed. Its HELP begins with
  \`Deprecated since 1.4.0: use …\`, and the changelog mentions it. It is removed with the next major version, but not within three months.
  Until then, it is exported together with its successor. The alerts and dashboards of this project change to the successor at once.
- **Errors are corrected at once**: when a value contradicts its HELP, the value changes in a patch release, and the changelog mentions it.

The conditions under which a metric is absent are part of its meaning.

The same rules apply to the names of alerts and recording rules, flags, environment variables, configuration keys, HTTP paths, exit codes and
failure reasons: all are stable. Thresholds and durations of alerts, panels of the dashboards, the JSON of \`/pending\`, and the texts of logs
and pages can change at any time. These rules apply from 0.2.0 on, the first release: what is stable there is not removed before 1.0.0.

## Bridge

From \`GET /bridge/v1/module_state\`. Every metric has the label \`target\`.

${table(documents.module_state.families, sourceColumn)}

### Flow

What happened between two successive documents of the endpoint. These metrics count from the start of the process, and are exported also while
the chain series are withdrawn. A token has series from the first document that names it. When there are more tokens than the limit allows, those that
come later share the series \`other\`. Durations are classic histograms: the text format has no native ones. Batches created, transfers requested and
events observed are counted by \`bridge_last_outgoing_batch_id\`, \`bridge_last_outgoing_pool_id\` and \`bridge_last_observed_nonce\`. Nothing is counted between
two documents that cannot be compared, which \`bridge_flow_gaps_total\` counts by reason:

| reason | meaning |
|---|---|
| \`regression\` | a height, or an id of the hub, went back, or has not reached again what was counted before |
| \`contract\` | the bridge has another contract |
| \`list\` | a field that the flow reads is missing or invalid |
| \`stale\` | more than \`poll.stale_after\` between the documents |
| \`inconsistent\` | more batches disappeared than events were observed, a batch or a transfer came back or has a number above those of the hub, or one was executed whose transfers are left, or more than 100,000 ids came in one step; the next document is not compared with that one |
| \`unseen\` | a batch or a transfer was created and removed between the documents, or the claim of an observed event was in neither; all that is certain is counted |

${table(documents.module_state.flow.families)}

## Contract

From the contract of the bridge on the external chain, where \`external\` is configured: JSON-RPC, see [External contract](external-contract.md).
Every metric has the label \`target\`.

${table(documents.external_contract.families)}

## Cross-chain

From \`GET /chain/crosschain/rateLimiterInput\`. Every metric has the label \`target\`.

${table(documents.rate_limiter_input.families, sourceColumn)}

### Flow of cross-chain transactions

Transactions that have left the lists between two successive documents, as in [Flow](#flow) of the bridge. A document does not say why one is gone, so
the same node is asked for it, at most ten after each poll (\`cctx_queries\`), and it counts with the next document: with an outcome, or not at all
when it is still pending after \`poll.stale_after\` and only no longer listed. The outcome is \`unknown\` when there is no answer within \`poll.stale_after\`, when more than 100
wait for one, and without queries. One that was created and finished between two documents is in none of them. A chain has series from the first document with one of its
transactions. Gaps are counted by reason:

| reason | meaning |
|---|---|
| \`regression\` | the height went back; what was counted before is not counted again |
| \`list\` | a list, an index, a chain id, \`height\` or \`total_pending\` is missing or invalid |
| \`stale\` | more than \`poll.stale_after\` between the documents |
| \`truncated\` | the node has left some out of its list |
| \`key\` | the signers have another key, and those of the old one are not listed any more; those of the new one count |
| \`unseen\` | a nonce between two listed ones of a chain was never listed; all others count |

${table(documents.rate_limiter_input.flow.families)}

## Other queries of the node

After a successful poll, the same node is asked a few small questions, each at most once a minute, four requests at a time of all targets together.
\`node_queries: off\` of an endpoint switches them off. They never affect a poll: a node that refuses a path, or does not respond, costs only the
metrics of the query. A query that fails is sent again within minutes. One that was never answered and refused five times, while the document was
served, is sent every hour. An answer older than \`poll.stale_after\` is withdrawn. Every metric has the label \`target\`. The
[outcomes of cross-chain transactions](#flow-of-cross-chain-transactions) are asked for in the same way, but after each poll and with the setting
\`cctx_queries\`.

${table(nodeQueryFamilies, queryColumn)}

## Exporter

Every metric has the labels ${ENDPOINT_LABELS.map((label) => `\`${label}\``).join(' and ')}; \`document\` is
\`module_state\`, \`external_contract\` or \`rate_limiter_input\`. Counters start at 0, and gauges are absent before the first poll. A series of
\`bridge_exporter_invalid_values_total\` or \`bridge_exporter_unknown_values_total\` starts when its field is first counted.

${table(pollFamilies)}

These metrics have no labels of an endpoint:

| metric | type | meaning | stability |
|---|---|---|---|
${await exporterProcessRows()}

The exporter also exports the usual \`process_*\` and \`nodejs_*\` metrics of a Node.js process. They are experimental, because they depend on
Node.js and the library prom-client.
`;
}

const typeNames = { counter: 'Counter', histogram: 'Histogram' } as const;

interface MetricColumn {
  readonly title: string;
  readonly cell: (family: FamilyHeader) => string;
}

function table(families: readonly FamilyHeader[], ...extraColumns: readonly MetricColumn[]): string {
  const columns: readonly MetricColumn[] = [
    { title: 'metric', cell: ({ name }) => `\`${name}\`` },
    { title: 'labels', cell: ({ labels }) => labels.map((label) => `\`${label}\``).join(', ') },
    { title: 'meaning', cell: ({ type, help }) => (type === 'gauge' ? help : `${help} ${typeNames[type]}.`) },
    { title: 'unit', cell: ({ unit }) => unit },
    ...extraColumns,
    { title: 'stability', cell: ({ stability = 'stable' }) => stability },
  ];
  const rows = families.map((family) => `| ${columns.map(({ cell }) => cell(family)).join(' | ')} |`);
  const titles = columns.map(({ title }) => title);
  return [`| ${titles.join(' | ')} |`, `|${titles.map(() => '---|').join('')}`, ...rows].join('\n');
}

const readsByFamily = new Map(recordReads().map((reads) => [reads.family, reads]));

const sourceColumn: MetricColumn = {
  title: 'source',
  cell: ({ name }) => {
    const { fields = [], others = [] } = readsByFamily.get(name) ?? {};
    const isOfPoll = (path: string): boolean => /^(?:at|height|previous)\b/.test(path);
    const settings = others.filter((path) => !isOfPoll(path)).map(nameInConfiguration);
    return [
      ...groupByList(fields).map((source) => `\`${source}\``),
      ...(others.includes('height') ? ['header `Grpc-Metadata-X-Cosmos-Block-Height`'] : []),
      ...(others.some((path) => path.startsWith('previous')) ? ['earlier documents'] : []),
      ...(others.some((path) => /^at\b/.test(path)) ? ['time of the poll'] : []),
      ...groupByList(settings).map((setting) => `setting \`${setting}\``),
    ].join(', ');
  },
};

/** The request of the query that the metric is derived from. */
const queryColumn: MetricColumn = {
  title: 'request',
  cell: ({ name }) =>
    nodeQueries
      .filter(({ families }) => families.some((family) => family.name === name))
      .flatMap(({ path }) => (typeof path === 'string' ? [path] : Object.values(path)))
      .map((path) => `\`${path}\``)
      .join(', '),
};

/** `settings.hubChainIds` is `hub_chain_ids` in the configuration. */
function nameInConfiguration(path: string): string {
  return path
    .replace(/^settings\./, '')
    .replace(/Ms$/, '')
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Groups the fields of a list: `state.valsets[].{nonce, height}`. */
function groupByList(paths: readonly string[]): string[] {
  const fieldsByList = new Map<string, string[]>();
  for (const path of paths) {
    const [list = path, ...fields] = path.split('[].');
    fieldsByList.set(list, [...(fieldsByList.get(list) ?? []), ...(fields.length > 0 ? [fields.join('[].')] : [])]);
  }
  return Array.from(fieldsByList, ([list, fields]) => {
    if (fields.length === 0) return list;
    return fields.length === 1 ? `${list}[].${fields.join('')}` : `${list}[].{${fields.join(', ')}}`;
  });
}

async function exporterProcessRows(): Promise<string> {
  const text = await createProcessMetrics(
    { version: '0.0.0', revision: 'abc', nodeVersion: '20' },
    { index: 1, count: 1 },
    () => ({ recorded: 0, failed: 0, bytes: 0 }),
  ).render('text', clock());
  return [...text.matchAll(/^# HELP (bridge_exporter_\S+) (.+)\n# TYPE \S+ (\S+)$/gm)]
    .map(([, name, help, type]) => `| \`${name}\` | ${type} | ${help} | stable |`)
    .join('\n');
}

function failureReference(): string {
  const rows = failureReasonNames.map((reason) => {
    const remedy = remedyOf(reason, 'module_state');
    const addition = remedyOf(reason, 'rate_limiter_input').slice(remedy.length);
    const ofCrosschain = addition === '' ? '' : ` Of a cross-chain document:${addition}`;
    return `| \`${reason}\` | ${failureReasons[reason].description} | ${remedy}${ofCrosschain} |`;
  });
  return `# Failure reasons

Generated from the code (\`npm test -- -u\`). These are the values of the label \`reason\` of \`bridge_exporter_poll_failures_total\`.
The log and the status page show the reason with a message.

After a failed poll, the metrics of the last successful poll are exported until \`poll.stale_after\`. A failed poll is not
retried before the next one.

| Reason | Meaning | Remedy |
|---|---|---|
${rows.join('\n')}

A status other than 200 determines the reason, even if the body is incomplete.
`;
}
