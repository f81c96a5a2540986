import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rules } from '../support/alert-rules.js';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { specFields } from '../../packaging/generate/spec-fields.js';
import { dashboardFiles, queriesOf, substituteVariables } from './dashboard-files.js';
import { exportedMetrics, prometheusMetrics, type MetricInfo } from '../support/exported-metrics.js';
import { parsePromql, type ParsedPromql } from './promql.js';

/*
 * Dashboards, rules and documentation use only metrics and labels that the exporter exports.
 */

const metrics = await exportedMetrics();
const queries = dashboardFiles
  .flatMap(queriesOf)
  .map((query) => ({ ...query, parsed: parsePromql(substituteVariables(query.expr)) }));
const ruleExprs = rules.map(({ alert, expr }) => ({
  where: alert,
  parsed: parsePromql(String(expr)),
}));

function labelsOf(metric: string): string[] {
  return [...(metrics.get(metric)?.labels ?? prometheusMetrics.get(metric)?.labels ?? [])];
}

/** Unknown metrics, labels that a metric does not have, and functions applied to the wrong metric type. */
function findMistakes({ selectors, groupings, createdLabels, calls }: ParsedPromql): string[] {
  const typeOf = (metric: string): string | undefined => metrics.get(metric)?.type;
  const infoOf = (metric: string): MetricInfo | undefined => metrics.get(metric) ?? prometheusMetrics.get(metric);
  const inSelectors = selectors.flatMap(({ metric, matchers }) => {
    if (metric === '') return namesMatched(matchers).length === 0 ? ['a selector that matches no metric'] : [];
    const labels = infoOf(metric)?.labels;
    if (labels === undefined) return [`no metric ${metric}`];
    return matchers.filter(({ label }) => !labels.has(label)).map(({ label }) => `no label ${label} of ${metric}`);
  });
  const inGroupings = groupings.flatMap(({ labels, metrics: operands }) => {
    // Metrics selected by a regular expression can have any label.
    if (operands.includes('')) return [];
    const all = new Set([...operands.flatMap((metric) => [...(infoOf(metric)?.labels ?? [])]), ...createdLabels]);
    return labels.filter((label) => !all.has(label)).map((label) => `no label ${label} of ${operands.join(', ')}`);
  });
  const inCalls = calls.flatMap(({ name, metrics: operands }) => {
    const requiredType = /^(rate|irate|increase)$/.test(name) ? 'counter' : /^i?delta|deriv$/.test(name) ? 'gauge' : '';
    const wrong = requiredType === '' ? [] : operands.filter((metric) => typeOf(metric) !== requiredType);
    return wrong.map((metric) => `${name}() of ${metric}, which is not a ${requiredType}`);
  });
  return [...inSelectors, ...inGroupings, ...inCalls];
}

/** The metrics that the matchers for `__name__` select. */
function namesMatched(matchers: ParsedPromql['selectors'][number]['matchers']): string[] {
  const patterns = matchers
    .filter(({ label }) => label === '__name__')
    .map(({ value }) => new RegExp(`^(?:${value})$`));
  return [...metrics.keys()].filter((name) => patterns.length > 0 && patterns.every((pattern) => pattern.test(name)));
}

describe('the dashboards', () => {
  it.each(queries)('use existing metrics and labels in $where', ({ parsed, shownLabels }) => {
    const ofMetrics = parsed.selectors.flatMap(({ metric }) => labelsOf(metric));
    const labels = new Set([...ofMetrics, ...parsed.createdLabels].filter((label) => label !== '__name__'));
    expect(findMistakes(parsed)).toEqual([]);
    expect(shownLabels.filter((label) => !labels.has(label))).toEqual([]);
  });
});

describe('the alert rules', () => {
  it('use existing metrics and labels', () => {
    const found = ruleExprs.map(({ where, parsed }) => ({ where, mistakes: findMistakes(parsed) }));
    expect(found.filter((rule) => rule.mistakes.length > 0)).toEqual([]);
  });
});

const documents = ['README.md', ...readdirSync(projectPath('docs')).map((name) => `docs/${name}`)].map((name) => ({
  name,
  text: readProjectFile(name),
}));

/** Matches metric names in code, and also fields of the spec and labels with such names. */
const METRIC = /(?<![/\w])(?:bridge|crosschain)_\w*[a-z]\b/g;

describe('the documentation', () => {
  it.each(documents)('uses existing metrics and labels in $name', ({ text }) => {
    const blocks = [...text.matchAll(/^```promql\n([^]*?)^```$/gm)].map(([, block = '']) => block.trimEnd());
    // One expression per line; an indented line continues the expression.
    const exprs = blocks.flatMap((block) => block.split(/\n(?![\s)])/));
    expect(exprs.map(parsePromql).flatMap(findMistakes)).toEqual([]);
    const specFieldNames = Object.values(specFields).flatMap((fields) => Object.keys(fields));
    const notMetrics = new Set([...specFieldNames, ...[...metrics.values()].flatMap(({ labels }) => [...labels])]);
    const inlineCode = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
    const named = inlineCode.flatMap((code) => code.match(METRIC) ?? []);
    expect(named.filter((name) => !metrics.has(name) && !notMetrics.has(name))).toEqual([]);
  });
});

it.each([
  ['max(bridge_batchez)', 'no metric bridge_batchez'],
  ['bridge_batches{chain="1"}', 'no label chain of bridge_batches'],
  ['bridge_batches + max by (chain) (bridge_valsets)', 'no label chain of bridge_valsets'],
  ['bridge_batches / on (chain) bridge_valsets', 'no label chain of bridge_batches, bridge_valsets'],
  ['rate(bridge_height[5m])', 'rate() of bridge_height, which is not a counter'],
])('a mistake is found in %s', (expr, mistake) => {
  expect(findMistakes(parsePromql(expr))).toEqual([mistake]);
});
