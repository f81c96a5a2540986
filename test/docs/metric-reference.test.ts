import { describe, expect, it } from 'vitest';
import { failureReasonNames, failureReasons } from '../../src/http/errors.js';
import { moduleStateDocument, rateLimiterInputDocument } from '../../src/documents.js';
import type { FamilyHeader } from '../../src/metrics/family.js';
import { sourcesOf } from '../../src/metrics/text-format.js';
import { createProcessMetrics } from '../../src/exposition/process-metrics.js';
import { ENDPOINT_LABELS, endpointFamilies } from '../../src/exposition/endpoint-metrics.js';

/*
 * The references people read are written from the code and checked in: `npm test -- -u` renews them.
 */
describe('the references', () => {
  it('of metrics', async () => {
    await expect(await metricReference()).toMatchFileSnapshot('../../docs/metrics.md');
  });

  it('of failure reasons', async () => {
    await expect(failureReference()).toMatchFileSnapshot('../../docs/failures.md');
  });
});

async function metricReference(): Promise<string> {
  return `# Metrics

Written from the code by \`npm test -- -u\`.

The chain families are gauges and show the last answer of the node, polled on a timer: a scrape never asks the node.
\`bridge_exporter_last_success_timestamp_seconds\` says how old that answer is; once it is older than \`poll.stale_after\`, the
families of the endpoint are absent.

A gauge is right or absent. When the node leaves out a field that a family reads, or sends something of another kind there, the
family is absent and no other; a wrong kind also counts in \`bridge_exporter_invalid_values_total\`. Over an empty list counts and
sums are 0, and minima, maxima and ratios absent. Amounts are in the smallest unit of their token.

A target has at most \`limits.max_series_per_family\` series of a family. Over that, counts and amounts keep the largest,
orchestrator families the most powerful, and timestamps, deadlines and nonces the lowest; counts add the rest up in one series whose
labels read \`other\`, and the others leave it out. \`bridge_exporter_series_dropped\` says how many are not shown by themselves.

## Stability

Every metric is \`stable\` or \`experimental\`; HELP of an experimental one ends in \`Stability: experimental.\`

- **Stable**: name, type, labels, unit and meaning stay as they are until the next major version. The closed sets of label values
  (\`kind\`, \`list\`, \`direction\`, \`observed\`, \`phase\`, \`endpoint\`, \`reason\`) may get new values in a minor version, and lose none.
- **Experimental**: may change or go in any release; the [changelog](../CHANGELOG.md) says so. Do not page on it. A new metric begins like
  this, and becomes stable in a minor version when it has proven useful.
- **Deprecated**: a stable metric that is to go, or to be renamed, says so first. From a minor version on its HELP begins with
  \`Deprecated since 1.4.0: use …\` and the changelog names it; it is still exposed, beside its successor, in that minor version and all
  that follow, and goes with the next major version, not earlier than three months later. Alerts and dashboards of this project move to the
  successor when the deprecation begins.
- **A mistake is corrected at once.** When a value contradicts its HELP, the value changes in a patch release, and the changelog says so.

What can be absent stays so: that a metric has no series when it cannot be right is part of its meaning, and no change.

The same holds for the names of alerts and recording rules, flags, environment variables, configuration keys, HTTP paths, exit
codes and failure reasons: all are stable. Thresholds and durations of alerts, panels of the dashboards, the JSON of \`/pending\`, and
the words of logs and pages are not promised. All this holds from 0.1.0 on: what is stable there goes in 1.0.0 at the earliest.

## Bridge

From \`GET /bridge/v1/module_state\`. Every family carries the label \`target\`.

${table(moduleStateDocument.families, [])}

## Cross-chain

From \`GET /chain/crosschain/rateLimiterInput\`. Every family carries the label \`target\`.

${table(rateLimiterInputDocument.families, [])}

## The exporter itself

Every family carries the labels ${ENDPOINT_LABELS.map((label) => `\`${label}\``).join(' and ')}; \`endpoint\` is
\`module_state\` or \`rate_limiter_input\`. Counters start at 0, gauges with the first poll; a value of
\`bridge_exporter_invalid_values_total\` and \`bridge_exporter_unknown_values_total\` starts when its field is first counted.

${table(endpointFamilies, ENDPOINT_LABELS)}

Without labels of an endpoint:

| metric | type | meaning | stability |
|---|---|---|---|
${await ownProcessRows()}

Besides these there are the usual \`process_*\` and \`nodejs_*\` metrics of a Node.js process. They are experimental: they come from
Node.js and the library prom-client, and change with them.
`;
}

function table(families: readonly FamilyHeader[], common: readonly string[]): string {
  const rows = families.map(({ name, type, labels, help, unit, reads, stability = 'stable' }) => {
    const own = labels.filter((label) => !common.includes(label)).map((label) => `\`${label}\``);
    const sources = sourcesOf(reads).map((source) =>
      /^[\w.[\]{}, ]+$/.test(source) && !/^(response|configuration|the) /.test(source) ? `\`${source}\`` : source,
    );
    const what = type === 'counter' ? `${help} Counter.` : help;
    return `| \`${name}\` | ${own.join(', ')} | ${what} | ${unit} | ${sources.join(', ')} | ${stability} |`;
  });
  return ['| metric | labels | meaning | unit | source | stability |', '|---|---|---|---|---|---|', ...rows].join('\n');
}

async function ownProcessRows(): Promise<string> {
  const text = await createProcessMetrics({ version: '0.0.0', nodeVersion: '20' }).render('text');
  return [...text.matchAll(/^# HELP (bridge_exporter_\S+) (.+)\n# TYPE \S+ (\S+)$/gm)]
    .map(([, name, help, type]) => `| \`${name}\` | ${type} | ${help} | stable |`)
    .join('\n');
}

function failureReference(): string {
  const rows = failureReasonNames.map(
    (reason) => `| \`${reason}\` | ${failureReasons[reason].description} | ${failureReasons[reason].remedy} |`,
  );
  return `# Failure reasons

Generated from the code (\`npm test -- -u\`). These are the values of the label \`reason\` of \`bridge_exporter_poll_failures_total\`.
The log and the status page show the reason with a message.

After a failed poll, the metrics of the last successful poll are exported until \`poll.stale_after\`. There is no retry: the next poll
is the retry.

| Reason | Meaning | Remedy |
|---|---|---|
${rows.join('\n')}

For a status other than 200, the reason does not depend on whether the body is complete.
`;
}
