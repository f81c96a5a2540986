import { describe, expect, it } from 'vitest';
import { dashboardFiles, type GridPos, type Link, type Panel, substituteVariables } from './dashboard-files.js';
import { parsePromql } from './promql.js';

const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

/** The variables that Grafana defines. */
const BUILT_IN = /^(?:__all|__data|__range|__rate_interval|__url_time_range)$/;

/** The variables of all dashboards, with the regular expression that All stands for. Only job and instance are on every series. */
const COMMON_VARIABLES = [
  ['datasource', undefined],
  ['cluster', '.*'],
  ['namespace', '.*'],
  ['job', '.+'],
  ['instance', '.+'],
  ['target', '.*'],
];

/** The names in `$name` and `${name}` anywhere in a dashboard. Names do not start with a digit, unlike groups of `label_replace`. */
function variablesIn(text: string): string[] {
  const names = [...text.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => !BUILT_IN.test(name)).toSorted();
}

/** The selectors of series of the exporter in a query that lack a matcher for one of these labels. */
function unfiltered(expr: string, labels: readonly string[]): string[] {
  return parsePromql(substituteVariables(expr))
    .selectors.filter(({ metric }) => !metric.startsWith('ALERTS'))
    .flatMap(({ metric, matchers }) =>
      labels
        .filter((label) => !matchers.some((matcher) => matcher.label === label))
        .map((label) => `${label} of ${metric}`),
    );
}

/** Of the cells of columns. */
function linksOf({ fieldConfig }: Panel): readonly Link[] {
  const properties = fieldConfig?.overrides.flatMap((override) => override.properties) ?? [];
  return properties.filter(({ id }) => id === 'links').flatMap(({ value }) => value as Link[]);
}

const DAY_SECONDS = 86_400;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: DAY_SECONDS, w: 7 * DAY_SECONDS };

/** The lengths of the ranges in a query that do not depend on the time range of the dashboard, in seconds. */
function rangesOf(expr: string): number[] {
  return Array.from(
    expr.matchAll(/\[(\d+)([smhdw])/g),
    ([, count, unit = '']) => Number(count) * (UNIT_SECONDS[unit] ?? Number.NaN),
  );
}

function overlap(a: GridPos, b: GridPos): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/** Panels that overlap or lie outside the grid, among panels that are displayed together. */
function misplaced(panels: readonly Panel[]): string[] {
  return panels.flatMap(({ title, gridPos }, index) => {
    const { x, w, h } = gridPos;
    const isOutside = x < 0 || w < 1 || h < 1 || x + w > 24;
    const overlapping = panels.slice(index + 1).filter((other) => overlap(gridPos, other.gridPos));
    return [...(isOutside ? [title] : []), ...overlapping.map((other) => `${title}, ${other.title}`)];
  });
}

describe.each(dashboardFiles)('$name', ({ text, dashboard, panels }) => {
  it('has the common variables, with All for every series, and uses no other data source', () => {
    const common = dashboard.templating.list.slice(0, COMMON_VARIABLES.length);
    expect(common.map(({ name, allValue }) => [name, allValue])).toEqual(COMMON_VARIABLES);
    expect(dashboard.title).toMatch(/^Bridge \/ /);
    const sources: unknown[] = [];
    JSON.parse(text, (key, value: unknown) => {
      if (key === 'datasource') sources.push(value);
      return value;
    });
    expect(sources.length).toBeGreaterThan(panels.length);
    for (const source of sources) expect(source).toEqual(DATA_SOURCE);
  });

  it('uses every variable that it defines, and no other', () => {
    const names = dashboard.templating.list.map(({ name }) => name).toSorted();
    expect(variablesIn(text)).toEqual(names);
  });

  it('has no overlapping panels and no duplicate titles or ids', () => {
    const all = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
    expect(misplaced(dashboard.panels)).toEqual([]);
    for (const row of dashboard.panels) expect(misplaced(row.panels ?? []), row.title).toEqual([]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });

  it('shows labels as text in tables: with another unit, Grafana reads an address in hexadecimal as a number', () => {
    const units = panels.filter(({ type }) => type === 'table').map(({ fieldConfig }) => fieldConfig?.defaults.unit);
    expect(new Set(units)).toEqual(new Set(['string']));
  });

  it('queries no more than a day, once a minute', () => {
    expect(dashboard.refresh).toBe('1m');
    const ranges = panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => rangesOf(expr)));
    expect(ranges.filter((seconds) => !(seconds <= DAY_SECONDS))).toEqual([]);
  });

  it.each(panels)('filters the queries of the panel $title by all variables, and has their legends', (panel) => {
    const targets = panel.targets ?? [];
    expect(targets.length).toBeGreaterThan(0);
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    for (const { expr, legendFormat, instant } of targets) {
      expect(expr).toContain('target=~"$target');
      expect(unfiltered(expr, ['cluster', 'namespace', 'job', 'instance'])).toEqual([]);
      for (const { name, metrics } of parsePromql(substituteVariables(expr)).calls) {
        if (/^i?rate$/.test(name)) expect(expr, metrics.join()).toContain('[$__rate_interval]');
      }
      // Without a legend format, Grafana shows the expression.
      expect(legendFormat ?? '').toMatch(panel.type === 'table' ? /^$/ : /\{\{\w+\}\}/);
      expect(instant).toBe(panel.type === 'table');
    }
  });
});

describe('the dashboards', () => {
  it('have unique uids and titles', () => {
    expect(new Set(dashboardFiles.map(({ dashboard }) => dashboard.uid)).size).toBe(dashboardFiles.length);
    expect(new Set(dashboardFiles.map(({ dashboard }) => dashboard.title)).size).toBe(dashboardFiles.length);
  });

  const links = dashboardFiles.flatMap(({ name, panels }) =>
    panels.flatMap((panel) => linksOf(panel).map((link) => ({ name, panel: panel.title, ...link }))),
  );
  const toDashboards = links.filter(({ url }) => url.startsWith('/d/'));
  const toExporter = links.filter(({ url }) => !url.startsWith('/d/'));

  it('link to each other with uids and variables that exist, and keep the filters and the time range', () => {
    for (const { url } of toDashboards) {
      const [, uid, search = ''] = /^\/d\/([^?]+)\?(.*)$/.exec(url) ?? [];
      const linked = dashboardFiles.find(({ dashboard }) => dashboard.uid === uid);
      const variables = search
        .split('&')
        .map((parameter) => /^\$\{(\w+):queryparam\}$|^var-(\w+)=/.exec(parameter))
        .flatMap((match) => match?.[1] ?? match?.[2] ?? []);
      expect(variables, url).toEqual(COMMON_VARIABLES.map(([name]) => name));
      expect(
        linked?.dashboard.templating.list.map(({ name }) => name),
        url,
      ).toEqual(expect.arrayContaining(variables));
      expect(search, url).toContain('&${__url_time_range}');
    }
  });

  it('lead from a row of the overview to each detail dashboard with the target of the row', () => {
    const fromOverview = toDashboards.filter(({ name }) => name === 'bridge-overview.json').map(({ url }) => url);
    const details = dashboardFiles.filter(({ name }) => name !== 'bridge-overview.json');
    for (const { dashboard } of details) {
      const toDetails = fromOverview.filter((url) => url.startsWith(`/d/${dashboard.uid}?`));
      expect(toDetails.length, dashboard.uid).toBeGreaterThan(0);
      for (const url of toDetails) expect(url).toContain('&var-target=${__data.fields["Target"]:percentencode}&');
    }
  });

  it('lead from a row of a problem, bridge, token, validator or chain to its items on the page of the exporter', () => {
    const toPage = '${exporter_url:raw}/pending?target=${__data.fields["Target"]:percentencode}';
    const pages = toExporter.filter(({ url }) => url.endsWith('percentencode}'));
    expect(pages.map(({ panel, url, targetBlank }) => [panel, url, targetBlank])).toEqual(
      [
        'Problems now',
        'Bridges',
        'What waits, by token',
        'Chains',
        'Hubs',
        'Chains',
        'Own validators',
        'Problems of own validators',
        'Late validators',
      ].map((panel) => [panel, toPage, true]),
    );
    const ofProblems = toExporter.filter(({ url }) => !url.endsWith('percentencode}'));
    const expected = [
      `${toPage}#\${__data.fields["Id"]:raw}`,
      'https://github.com/bridge-exporter/bridge-exporter/blob/main/docs/runbook.md#${__data.fields["Problem"]:raw}',
    ];
    expect(ofProblems.map(({ panel, url }) => [panel, url])).toEqual(
      ['Problems now', 'Problems of own validators'].flatMap((panel) => expected.map((url) => [panel, url])),
    );
  });
});

it('the texts of a problem are shown whole, and its id is not', () => {
  const tables = dashboardFiles.flatMap(({ panels }) =>
    panels.filter(({ title }) => title === 'Problems now' || title === 'Problems of own validators'),
  );
  expect(tables).toHaveLength(2);
  for (const { fieldConfig } of tables) {
    const wrapped = { id: 'custom.cellOptions', value: { type: 'auto', wrapText: true } };
    for (const title of ['What is wrong', 'First action'])
      expect(fieldConfig?.overrides).toContainEqual({
        matcher: { id: 'byName', options: title },
        properties: [wrapped],
      });
    const hidden = { id: 'custom.hidden', value: true };
    expect(fieldConfig?.overrides).toContainEqual({ matcher: { id: 'byName', options: 'Id' }, properties: [hidden] });
  }
});

it.each(['bridge-overview.json', 'cross-chain.json'])(
  'a backlog above its limit has the color of its alert: %s',
  (name) => {
    const text = dashboardFiles.find((file) => file.name === name)?.text ?? '';
    const [, steps = ''] = /"options": "Of limit"[^]*?"steps": (\[[^]*?\])/.exec(text) ?? [];
    expect(JSON.parse(steps)).toEqual([
      { color: 'transparent', value: null },
      { color: 'orange', value: 1 },
    ]);
  },
);

describe('the validators', () => {
  const { dashboard, panels } = dashboardFiles.find(({ name }) => name === 'validator.json')!;

  it('that are late are shown without opening a row', () => {
    expect(dashboard.panels.map(({ title }) => title)).toContain('Late validators');
  });

  it('are shown by name', () => {
    const perSigner = panels.flatMap(({ title, targets = [] }) =>
      targets
        .filter(({ expr, legendFormat = '' }) => `${expr}${legendFormat}`.includes('signer'))
        .map(({ expr }) => ({ title, expr })),
    );
    expect(perSigner.length).toBeGreaterThan(10);
    for (const { title, expr } of perSigner) expect(expr, title).toContain('"signer", "$1", "name", "(.+)"');
    const legends = panels.flatMap(({ targets = [] }) => targets.map(({ legendFormat = '' }) => legendFormat));
    expect(legends.filter((legend) => legend.includes('{{orchestrator}}'))).toEqual([]);
  });

  it('have no time to sign, and no green, from a node that is behind', () => {
    const titles = new Set(['Batches due', 'Sets due', 'Sign within', 'Last event', 'Behind']);
    const judged = panels.flatMap(({ type, title, targets = [], transformations = [] }) => {
      if (type !== 'table') return title === 'Time left to sign' || title === 'First deadlines' ? targets : [];
      const names = transformations.flatMap(({ options }) => Object.entries(options.renameByName ?? {}));
      return targets.filter(({ refId }) =>
        names.some(([name, column]) => name === `Value #${refId}` && titles.has(column)),
      );
    });
    expect(judged).toHaveLength(11);
    for (const { expr } of judged) {
      expect(expr).toMatch(
        / unless on \(cluster, target\) time\(\) - max by \(cluster, target\) \(bridge_node_block_timestamp/,
      );
    }
  });

  it('are selected by address in a variable that shows their names', () => {
    const { regex = '' } = dashboard.templating.list.find(({ name }) => name === 'orchestrator') ?? {};
    // The text that Grafana makes of a series of query_result.
    const series = '{orchestrator="inj1abc",signer="Example One",target="mainnet"} 1 1700000000000';
    expect(new RegExp(regex.slice(1, -1)).exec(series)?.groups).toEqual({ value: 'inj1abc', text: 'Example One' });
  });
});
