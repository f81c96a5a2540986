import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { files, type GridPos, type Panel } from './files.js';
import { canonical } from './json.js';

const PROVISIONING = new URL('../../grafana/provisioning/', import.meta.url);

const PANEL_TYPES = ['bargauge', 'stat', 'state-timeline', 'table', 'timeseries'];
const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

/** Variables that Grafana has. */
const BUILT_IN = /^(?:__all|__data|__url_time_range)$/;

/** What is meant by `$name` and `${name}`, as written anywhere in a dashboard. */
function variablesIn(text: string): string[] {
  const names = [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name);
  return [...new Set(names)].filter((name) => !BUILT_IN.test(name)).toSorted();
}

function overlap(a: GridPos, b: GridPos): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/** Panels that lie over one another or outside the grid, of those shown at once. */
function misplaced(panels: readonly Panel[]): string[] {
  return panels.flatMap(({ title, gridPos }, index) => {
    const { x, w, h } = gridPos;
    const isOutside = x < 0 || w < 1 || h < 1 || x + w > 24;
    const under = panels.slice(index + 1).filter((other) => overlap(gridPos, other.gridPos));
    return [...(isOutside ? [title] : []), ...under.map((other) => `${title}, ${other.title}`)];
  });
}

describe.each(files)('$name', ({ text, dashboard, panels }) => {
  it('is in canonical form, and not an export for sharing', async () => {
    expect(text).toBe(await canonical(JSON.parse(text)));
    expect(Object.keys(dashboard)).not.toContain('__inputs');
    expect(Object.keys(dashboard)).not.toContain('id');
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(39);
  });

  it('has a variable for the data source and for the target, and names no other source', () => {
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

  it('uses the variables it has, and has those it uses', () => {
    const names = dashboard.templating.list.map(({ name }) => name).toSorted();
    expect(variablesIn(text)).toEqual(names);
  });

  it('links to the other dashboards of the family', () => {
    expect(dashboard.links).toMatchObject([{ type: 'dashboards', tags: ['bridge-exporter'] }]);
    expect(dashboard.tags).toContain('bridge-exporter');
  });

  it('has no two panels in one place, of one title or of one id', () => {
    const all = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
    expect(misplaced(dashboard.panels)).toEqual([]);
    for (const row of dashboard.panels) expect(misplaced(row.panels ?? []), row.title).toEqual([]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });

  it.each(panels)('$title: says what it is, in which unit, of which targets', (panel) => {
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
      // A line or a bar without a legend shows its expression.
      expect(legendFormat ?? '').toMatch(panel.type === 'table' ? /^$/ : /\{\{\w+\}\}/);
      expect(instant).toBe(['bargauge', 'stat', 'table'].includes(panel.type));
    }
  });
});

describe('the dashboards together', () => {
  it('have uids and titles of their own', () => {
    expect(new Set(files.map(({ dashboard }) => dashboard.uid)).size).toBe(files.length);
    expect(new Set(files.map(({ dashboard }) => dashboard.title)).size).toBe(files.length);
  });

  it('link to one another by uids and variables that exist', () => {
    const links = files.flatMap(({ text }) => [...text.matchAll(/"\/d\/([^"?]+)\?([^"]*)/g)]);
    expect(links.length).toBeGreaterThan(0);
    for (const [link, uid, search = ''] of links) {
      const linked = files.find(({ dashboard }) => dashboard.uid === uid);
      const names = linked?.dashboard.templating.list.map(({ name }) => name) ?? [];
      const set = [...search.matchAll(/var-(\w+)=/g)].map(([, name = '']) => name);
      expect(names, link).toEqual(expect.arrayContaining(set));
    }
  });
});

describe('provisioning', () => {
  const read = (folder: string): unknown[] =>
    readdirSync(new URL(folder, PROVISIONING)).map((name) =>
      parse(readFileSync(new URL(folder + name, PROVISIONING), 'utf8')),
    );

  it('brings a Prometheus and the folder of the dashboards', () => {
    expect(read('datasources/')).toMatchObject([
      { apiVersion: 1, datasources: [{ type: 'prometheus', uid: expect.any(String) }] },
    ]);
    expect(read('dashboards/')).toMatchObject([
      { apiVersion: 1, providers: [{ type: 'file', options: { path: expect.stringMatching(/^\//) } }] },
    ]);
  });
});
