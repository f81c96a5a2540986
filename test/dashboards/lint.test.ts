import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { projectPath, readProjectYaml } from '../support/project-files.js';
import { canonicalJson, dashboardFiles, type GridPos, type Panel } from './dashboard-files.js';

const PANEL_TYPES = ['bargauge', 'stat', 'state-timeline', 'table', 'timeseries'];
const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

/** The variables that Grafana defines. */
const BUILT_IN = /^(?:__all|__data|__url_time_range)$/;

/** The names in `$name` and `${name}` anywhere in a dashboard. */
function variablesIn(text: string): string[] {
  const names = [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => !BUILT_IN.test(name)).toSorted();
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
  it('is in canonical form, without ids and inputs of an export', async () => {
    expect(text).toBe(await canonicalJson(JSON.parse(text)));
    expect(Object.keys(dashboard)).not.toContain('__inputs');
    expect(Object.keys(dashboard)).not.toContain('id');
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(39);
  });

  it('has variables for the data source and the target, and uses no other data source', () => {
    const [datasource, target] = dashboard.templating.list;
    expect([datasource?.type, datasource?.name, target?.name]).toEqual(['datasource', 'datasource', 'target']);
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

  it('links to the other dashboards', () => {
    expect(dashboard.links).toMatchObject([{ type: 'dashboards', tags: ['bridge-exporter'] }]);
    expect(dashboard.tags).toContain('bridge-exporter');
  });

  it('has no overlapping panels and no duplicate titles or ids', () => {
    const all = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
    expect(misplaced(dashboard.panels)).toEqual([]);
    for (const row of dashboard.panels) expect(misplaced(row.panels ?? []), row.title).toEqual([]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });

  it.each(panels)('describes the panel $title, with a unit and the selected targets', (panel) => {
    expect(PANEL_TYPES).toContain(panel.type);
    expect(panel.title).toMatch(/^[A-Z]/);
    expect(panel.description).toMatch(/^.{30,}\.$/);
    expect(panel.fieldConfig?.defaults.unit).toBeTruthy();
    expect(panel.datasource).toEqual(DATA_SOURCE);
    const targets = panel.targets ?? [];
    expect(targets.length).toBeGreaterThan(0);
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    for (const { expr, legendFormat, instant } of targets) {
      expect(expr).toContain('target=~"$target');
      // Without a legend format, Grafana shows the expression.
      expect(legendFormat ?? '').toMatch(panel.type === 'table' ? /^$/ : /\{\{\w+\}\}/);
      expect(instant).toBe(['bargauge', 'stat', 'table'].includes(panel.type));
    }
  });
});

describe('the dashboards', () => {
  it('have unique uids and titles', () => {
    expect(new Set(dashboardFiles.map(({ dashboard }) => dashboard.uid)).size).toBe(dashboardFiles.length);
    expect(new Set(dashboardFiles.map(({ dashboard }) => dashboard.title)).size).toBe(dashboardFiles.length);
  });

  it('link to each other with uids and variables that exist', () => {
    const links = dashboardFiles.flatMap(({ text }) => [...text.matchAll(/"\/d\/([^"?]+)\?([^"]*)/g)]);
    expect(links.length).toBeGreaterThan(0);
    for (const [link, uid, search = ''] of links) {
      const linked = dashboardFiles.find(({ dashboard }) => dashboard.uid === uid);
      const names = linked?.dashboard.templating.list.map(({ name }) => name) ?? [];
      const variables = [...search.matchAll(/var-(\w+)=/g)].map(([, name = '']) => name);
      expect(names, link).toEqual(expect.arrayContaining(variables));
    }
  });
});

describe('grafana/provisioning', () => {
  const readFolder = (folder: string): unknown[] =>
    readdirSync(projectPath(`grafana/provisioning/${folder}`)).map((name) =>
      readProjectYaml(`grafana/provisioning/${folder}/${name}`),
    );

  it('provisions a Prometheus and the folder of the dashboards', () => {
    expect(readFolder('datasources')).toMatchObject([
      { apiVersion: 1, datasources: [{ type: 'prometheus', uid: expect.any(String) }] },
    ]);
    expect(readFolder('dashboards')).toMatchObject([
      { apiVersion: 1, providers: [{ type: 'file', options: { path: expect.stringMatching(/^\//) } }] },
    ]);
  });
});
