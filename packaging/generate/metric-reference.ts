import { documents } from '../../src/documents.js';
import { pollFamilies, processFamilies } from '../../src/exposition/exporter-metrics.js';
import { failureReasons } from '../../src/http/failure-reasons.js';
import type { FamilyHeader } from '../../src/metrics/family.js';
import { problemDue, problemStart, problemUnjudged } from '../../src/problems/problem-families.js';
import { nodeQueries, nodeQueryFamilies } from '../../src/queries/node-queries.js';
import { markdownTable, withTables } from './tables.js';

export function metricReference(): string {
  return withTables('docs/metrics.md', [
    table(documents.module_state.families),
    table(documents.module_state.flow.cumulative),
    table(documents.external_contract.families),
    table(documents.rate_limiter_input.families),
    table([...documents.rate_limiter_input.flow.gauges, ...documents.rate_limiter_input.flow.cumulative]),
    queryTable(),
    table([problemStart, problemDue, problemUnjudged]),
    table(pollFamilies),
    processTable(),
  ]);
}

const nameCell = ({ name }: FamilyHeader): string => `\`${name}\``;
const labelsCell = ({ labels }: FamilyHeader): string => labels.map((label) => `\`${label}\``).join(', ');
const meaningCell = ({ help }: FamilyHeader): string => help;
const stabilityCell = ({ stability }: FamilyHeader): string => stability ?? '';

function table(families: readonly FamilyHeader[]): string {
  const rows = families.map((family) => [nameCell, labelsCell, meaningCell, stabilityCell].map((cell) => cell(family)));
  return markdownTable(['metric', 'labels', 'meaning', 'stability'], rows);
}

/** With the request of the query that the metric is derived from. */
function queryTable(): string {
  const rows = nodeQueryFamilies.map((family) => {
    const { path = '' } = nodeQueries.find(({ families }) => families.some(({ name }) => name === family.name)) ?? {};
    const paths = typeof path === 'string' ? [path] : Object.values(path);
    const request = paths.map((own) => `\`${own}\``).join(', ');
    return [nameCell(family), labelsCell(family), meaningCell(family), request, stabilityCell(family)];
  });
  return markdownTable(['metric', 'labels', 'meaning', 'request', 'stability'], rows);
}

function processTable(): string {
  const rows = processFamilies.map(({ name, help }) => [`\`${name}\``, help]);
  return markdownTable(['metric', 'meaning'], rows);
}

export function failureReference(): string {
  const rows = Object.entries(failureReasons).map(([reason, { description, remedy }]) => [
    `\`${reason}\``,
    description,
    remedy,
  ]);
  return withTables('docs/failures.md', [markdownTable(['Reason', 'Meaning', 'Remedy'], rows)]);
}
