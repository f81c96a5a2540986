import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { specFields } from '../support/spec-fields.js';
import { stableNames } from '../support/stable-names.js';
import { files, queriesOf, withVariables } from './files.js';
import { alertMetrics, knownMetrics, rules, type Known } from './known.js';
import { parsePromql, type Parsed } from './promql.js';
import { unused } from './unused.js';

/*
 * Dashboards, rules and documents refer to what the exporter shows, and what it shows is used, or is left unused on purpose.
 */

const metrics = await knownMetrics();
const queries = files.flatMap(queriesOf).map((query) => ({ ...query, parsed: parsePromql(withVariables(query.expr)) }));
const ruleExprs = rules.map(({ alert, record = '', expr }) => ({
  where: alert ?? record,
  parsed: parsePromql(String(expr)),
}));

const records: ReadonlyMap<string, Known> = new Map(
  rules.flatMap(({ record, expr }) => {
    if (record === undefined) return [];
    const { selectors } = parsePromql(String(expr));
    return [[record, { type: 'gauge', labels: new Set(selectors.flatMap(({ metric }) => labelsOf(metric))) }] as const];
  }),
);

function labelsOf(metric: string): string[] {
  return [...(metrics.get(metric)?.labels ?? alertMetrics.get(metric)?.labels ?? [])];
}

/** Names that nothing has, labels that the metrics beside them do not have, and functions on what they do not fit. */
function mistakes({ selectors, groupings, calls }: Parsed): string[] {
  const typeOf = (metric: string): string | undefined => metrics.get(metric)?.type;
  const known = (metric: string): Known | undefined =>
    metrics.get(metric) ?? alertMetrics.get(metric) ?? records.get(metric);
  const ofSelectors = selectors.flatMap(({ metric, matchers }) => {
    if (metric === '') return namesMatched(matchers).length === 0 ? ['a selector that matches no name'] : [];
    const labels = known(metric)?.labels;
    if (labels === undefined) return [`no metric ${metric}`];
    return matchers.filter(({ label }) => !labels.has(label)).map(({ label }) => `no label ${label} of ${metric}`);
  });
  const ofGroupings = groupings.flatMap(({ labels, metrics: about }) => {
    // Metrics chosen by a pattern can have any label.
    if (about.includes('')) return [];
    const all = new Set(about.flatMap((metric) => [...(known(metric)?.labels ?? [])]));
    return labels.filter((label) => !all.has(label)).map((label) => `no label ${label} of ${about.join(', ')}`);
  });
  const ofCalls = calls.flatMap(({ name, metrics: about }) => {
    const wanted = /^(rate|irate|increase)$/.test(name) ? 'counter' : /^i?delta|deriv$/.test(name) ? 'gauge' : '';
    const wrong = wanted === '' ? [] : about.filter((metric) => typeOf(metric) !== wanted);
    return wrong.map((metric) => `${name}() of ${metric}, which is no ${wanted}`);
  });
  return [...ofSelectors, ...ofGroupings, ...ofCalls];
}

/** What a matcher of `__name__` selects. */
function namesMatched(matchers: Parsed['selectors'][number]['matchers']): string[] {
  const patterns = matchers
    .filter(({ label }) => label === '__name__')
    .map(({ value }) => new RegExp(`^(?:${value})$`));
  return [...metrics.keys()].filter((name) => patterns.length > 0 && patterns.every((pattern) => pattern.test(name)));
}

describe('what is referred to', () => {
  it.each(queries)('exists: $where', ({ parsed, shownLabels }) => {
    const labels = new Set(
      parsed.selectors.flatMap(({ metric }) => labelsOf(metric)).filter((label) => label !== '__name__'),
    );
    expect(mistakes(parsed)).toEqual([]);
    expect(shownLabels.filter((label) => !labels.has(label))).toEqual([]);
  });

  it('exists in the rules', () => {
    const found = ruleExprs.map(({ where, parsed }) => ({ where, mistakes: mistakes(parsed) }));
    expect(found.filter((rule) => rule.mistakes.length > 0)).toEqual([]);
  });
});

const ROOT = new URL('../../', import.meta.url);
const documents = ['README.md', ...readdirSync(new URL('docs/', ROOT)).map((name) => `docs/${name}`)].map((name) => ({
  name,
  text: readFileSync(new URL(name, ROOT), 'utf8'),
}));

/** Metric names, as against labels, fields and settings, which documents name as well. */
const METRIC = /`((?:bridge|crosschain)_\w+)[`{[]/g;

describe('documents', () => {
  it.each(documents)('$name names what exists', ({ text }) => {
    const blocks = [...text.matchAll(/^```promql\n([^]*?)^```$/gm)].map(([, block = '']) => block.trimEnd());
    // One expression a line, unless it goes on indented.
    const exprs = blocks.flatMap((block) => block.split(/\n(?![\s)])/));
    expect(exprs.map(parsePromql).flatMap(mistakes)).toEqual([]);
    const ofSpec = Object.values(specFields).flatMap((fields) => Object.keys(fields));
    const notMetrics = new Set([...ofSpec, ...[...metrics.values()].flatMap(({ labels }) => [...labels])]);
    const named = [...text.matchAll(METRIC)].map(([, name = '']) => name);
    expect(named.filter((name) => !metrics.has(name) && !records.has(name) && !notMetrics.has(name))).toEqual([]);
  });
});

describe('every stable family', () => {
  const used = new Set(
    [...queries, ...ruleExprs].flatMap(({ parsed }) =>
      parsed.selectors.flatMap(({ metric, matchers }) => (metric === '' ? namesMatched(matchers) : [metric])),
    ),
  );
  const stable = [...stableNames, ...[...metrics.keys()].filter((name) => name.startsWith('bridge_exporter_'))];

  it('is used by a panel or a rule, or has a reason why not, and not both', () => {
    expect(stable.filter((name) => !used.has(name) && unused[name] === undefined)).toEqual([]);
    expect(Object.keys(unused).filter((name) => used.has(name) || !stable.includes(name))).toEqual([]);
  });
});

describe('the check', () => {
  it.each([
    ['a name', 'max(bridge_batchez)', 'no metric bridge_batchez'],
    ['a label', 'bridge_batches{chain="1"}', 'no label chain of bridge_batches'],
    ['a label to group by', 'bridge_batches + max by (chain) (bridge_valsets)', 'no label chain of bridge_valsets'],
    [
      'a label to match on',
      'bridge_batches / on (chain) bridge_valsets',
      'no label chain of bridge_batches, bridge_valsets',
    ],
    ['a rate of a gauge', 'rate(bridge_height[5m])', 'rate() of bridge_height, which is no counter'],
  ])('finds %s', (_what, expr, mistake) => {
    expect(mistakes(parsePromql(expr))).toEqual([mistake]);
  });

  it('finds what is no PromQL', () => {
    expect(() => parsePromql('sum by (target (bridge_batches)')).toThrow('not PromQL');
  });
});
