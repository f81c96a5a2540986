import { substituteVariables, type DashboardFile, type Panel, type Target } from '../dashboards/dashboard-files.js';
import type { RecordedPrometheus } from '../dashboards/recorded-prometheus.js';
import type { Series } from '../support/prometheus.js';
import { formatValue } from './format-value.js';

/*
 * Draws the tables of a dashboard as Grafana shows them, as a page for a browser. Grafana publishes no package with its panels.
 */

const WIDTH = 1600;
const COLUMN = (WIDTH - 24) / 24;
const GRID_ROW = 38;
const GAP = 8;
const PANEL_HEADER = 32;

const COLORS: Readonly<Record<string, string>> = {
  text: '#ccccdc',
  transparent: 'transparent',
  green: '#56a64b',
  yellow: '#e0b400',
  orange: '#ff780a',
  'semi-dark-orange': '#ff780a',
  red: '#e02f44',
  blue: '#3274d9',
};
const STYLE = `
body { margin: 0; width: ${WIDTH}px; background: #111217; color: #ccccdc; font: 14px 'DejaVu Sans', Inter, sans-serif; }
header { display: flex; justify-content: space-between; padding: 12px 16px; font-size: 20px; }
header span { font-size: 14px; }
main { position: relative; }
section { position: absolute; box-sizing: border-box; overflow: hidden; background: #181b1f; border: 1px solid #25272c; border-radius: 2px; }
section h2 { margin: 0; padding: 0 12px; font-size: 14px; font-weight: 500; line-height: ${PANEL_HEADER}px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; table-layout: fixed; }
th { text-align: left; color: #6e9fff; font-weight: 500; }
td, th { padding: 0 8px; height: 34px; border-bottom: 1px solid #25272c; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
th { height: 30px; }
.number { text-align: right; }
.wrapped { white-space: normal; padding: 6px 8px; }
.count { position: absolute; bottom: 0; left: 0; right: 0; margin: 0; padding: 4px 12px; background: #181b1f; font-size: 13px; }`;

/** The page of the tables that are shown without opening a row, with the data of this Prometheus. */
export async function drawTables({ dashboard }: DashboardFile, prometheus: RecordedPrometheus): Promise<string> {
  const tables = dashboard.panels.filter(({ type }) => type === 'table');
  const top = Math.min(...tables.map(({ gridPos }) => gridPos.y));
  const bottom = Math.max(...tables.map(({ gridPos: { y, h } }) => y + h));
  const sections = await Promise.all(
    tables.map(async (panel) => {
      const { x, y, w, h } = panel.gridPos;
      const place = `left:${12 + x * COLUMN}px;top:${(y - top) * GRID_ROW}px`;
      const size = `width:${w * COLUMN - GAP}px;height:${h * GRID_ROW - GAP}px`;
      return `<section style="${place};${size}"><h2>${escape(panel.title)}</h2>${await drawTable(panel, prometheus)}</section>`;
    }),
  );
  const time = new Date(prometheus.to * 1000).toISOString().slice(0, 16).replace('T', ' ');
  return `<!doctype html><meta charset="utf-8"><title>${dashboard.title}</title><style>${STYLE}</style>
<header>${dashboard.title}<span>${time} UTC</span></header>
<main style="height:${(bottom - top) * GRID_ROW + GAP}px">${sections.join('\n')}</main>`;
}

type Field = NonNullable<Panel['fieldConfig']>['defaults'];

/** The text and the color of a value by its mappings, else by its thresholds. */
export function displayOf(value: number | string | undefined, { mappings = [], thresholds }: Field) {
  for (const { type, options } of mappings) {
    if (type === 'value' && value !== undefined && options[value] !== undefined) return options[value];
    if (type === 'special' && value === undefined) return options['result']!;
  }
  const steps = thresholds?.steps ?? [];
  const reached = steps.filter(({ value: from }) => from === null || (typeof value === 'number' && value >= from));
  return { text: undefined, color: reached.at(-1)?.color ?? 'text' };
}

async function drawTable(panel: Panel, prometheus: RecordedPrometheus): Promise<string> {
  const { targets = [], transformations = [], fieldConfig, options } = panel;
  const { renameByName = {}, indexByName = {} } = transformations.find(({ id }) => id === 'organize')?.options ?? {};
  const results = await Promise.all(
    targets.map(async ({ expr }) => prometheus.query(substituteVariables(expr), prometheus.to)),
  );
  const rows = mergedRows(targets, results);
  const known = Object.entries(renameByName).toSorted(([a], [b]) => indexByName[a]! - indexByName[b]!);
  const unknown = new Set(rows.flatMap((row) => Object.keys(row).filter((name) => renameByName[name] === undefined)));
  const own = new Set(rows.flatMap((row) => Object.keys(row)));
  const named = [...known.filter(([name]) => own.has(name)), ...Array.from(unknown, (name) => [name, name] as const)];
  const all = named.map(([name, title]) => {
    const properties = fieldConfig!.overrides
      .filter(({ matcher }) => matcher.id === 'byName' && matcher.options === title)
      .flatMap((override) => override.properties.map(({ id, value }) => [id, value]));
    const field = { ...fieldConfig!.defaults, ...Object.fromEntries(properties) } as Field & Record<string, unknown>;
    return { name, title, field, isNumber: name.startsWith('Value') };
  });
  const columns = all.filter(({ field }) => field['custom.hidden'] !== true);
  const keys = (options?.sortBy ?? []).flatMap(({ displayName, desc }) => {
    const column = columns.find(({ title }) => title === displayName);
    return column === undefined ? [] : [{ name: column.name, sign: desc ? -1 : 1 }];
  });
  const sorted = rows.toSorted((a, b) =>
    keys.reduce((result, { name, sign }) => result || compare(a[name], b[name]) * sign, 0),
  );
  const head = columns.map(({ title, isNumber, field }) => {
    const width = typeof field['custom.width'] === 'number' ? ` style="width:${field['custom.width']}px"` : '';
    return `<th${isNumber ? ' class="number"' : ''}${width}>${escape(title)}</th>`;
  });
  const body = sorted.map((row) => {
    const cells = columns.map(({ name, field, isNumber }) => {
      const value = row[name];
      const display = displayOf(value === '' ? undefined : value, field);
      const { mode, wrapText } = (field['custom.cellOptions'] ?? {}) as { mode?: string; wrapText?: boolean };
      const color = mode === undefined ? 'transparent' : display.color;
      const classes = [...(isNumber ? ['number'] : []), ...(wrapText === true ? ['wrapped'] : [])].join(' ');
      const formatted =
        typeof value === 'number'
          ? formatValue(value, { unit: field.unit ?? 'none', decimals: field.decimals, now: prometheus.to * 1000 })
          : (value ?? '');
      const text = display.text ?? formatted;
      return `<td class="${classes}" style="${cellStyle(color)}">${escape(text)}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  const count = options?.footer?.show === true ? `<p class="count">Count ${sorted.length}</p>` : '';
  return `<div style="padding:0 4px"><table><tr>${head.join('')}</tr>${body.join('')}</table>${count}</div>`;
}

const cellStyle = (color: string): string =>
  color === 'transparent'
    ? ''
    : `background:${COLORS[color]};color:${color === 'red' || color === 'blue' ? '#fff' : '#111'}`;

type Row = Readonly<Record<string, number | string>>;

/** Rows with equal labels become one, with a value per query. */
function mergedRows(targets: readonly Target[], results: readonly (readonly Series[])[]): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const [index, series] of results.entries()) {
    const name = targets.length === 1 ? 'Value' : `Value #${targets[index]!.refId}`;
    for (const { metric, value } of series) {
      const { __name__: _name, ...labels } = metric;
      const key = JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b)));
      rows.set(key, { ...labels, ...rows.get(key), [name]: Number(value[1]) });
    }
  }
  return [...rows.values()];
}

function compare(a: string | number | undefined, b: string | number | undefined): number {
  if (typeof a === 'string' || typeof b === 'string') return String(a ?? '').localeCompare(String(b ?? ''));
  return (a ?? -Infinity) - (b ?? -Infinity);
}

function escape(text: string | number): string {
  return String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
