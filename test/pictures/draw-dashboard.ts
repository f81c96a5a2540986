import { substituteVariables, type DashboardFile, type Panel, type Target } from '../dashboards/dashboard-files.js';
import { STEP_SECONDS, type RecordedPrometheus } from '../dashboards/recorded-prometheus.js';
import type { RangeSeries, Series } from '../support/prometheus.js';
import { formatValue } from './format-value.js';

/*
 * Draws a dashboard as Grafana shows it, as far as its panels are used here, as a page for a browser. Grafana publishes no package with its panels.
 */

const WIDTH = 1600;
const COLUMN = (WIDTH - 24) / 24;
const GRID_ROW = 38;
const GAP = 8;
const PANEL_HEADER = 32;
const LEGEND = 44;

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
const PALETTE =
  '#73bf69 #f2cc0c #8ab8ff #ff780a #f2495c #5794f2 #b877d9 #705da0 #37872d #fade2a #447ebc #c15c17 #890f02 #0a437c'.split(
    ' ',
  );

const STYLE = `
body { margin: 0; width: ${WIDTH}px; background: #111217; color: #ccccdc; font: 14px 'DejaVu Sans', Inter, sans-serif; }
header { display: flex; justify-content: space-between; padding: 12px 16px; font-size: 20px; }
header span { font-size: 14px; }
main { position: relative; }
section { position: absolute; box-sizing: border-box; overflow: hidden; background: #181b1f; border: 1px solid #25272c; border-radius: 2px; }
section h2 { margin: 0; padding: 0 12px; font-size: 14px; font-weight: 500; line-height: ${PANEL_HEADER}px; }
.row { position: absolute; font-size: 16px; line-height: 38px; padding-left: 8px; }
.empty { position: absolute; inset: ${PANEL_HEADER}px 12px 8px; display: grid; place-items: center; text-align: center; color: #9d9fa8; }
table { border-collapse: collapse; width: 100%; font-size: 13px; table-layout: fixed; }
th { text-align: left; color: #6e9fff; font-weight: 500; }
td, th { padding: 0 8px; height: 34px; border-bottom: 1px solid #25272c; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
th { height: 30px; }
.number { text-align: right; }
.wrapped { white-space: normal; padding: 6px 8px; }
.count { position: absolute; bottom: 0; left: 0; right: 0; margin: 0; padding: 4px 12px; background: #181b1f; font-size: 13px; }
.legend { position: absolute; bottom: 4px; left: 12px; right: 12px; height: ${LEGEND - 8}px; overflow: hidden; display: flex; flex-wrap: wrap; gap: 0 14px; font-size: 12px; line-height: 18px; }
.legend i { display: inline-block; width: 14px; height: 4px; margin: 0 6px 3px 0; border-radius: 2px; }
svg { shape-rendering: crispEdges; position: absolute; left: 0; top: ${PANEL_HEADER}px; }
svg text { fill: #9d9fa8; font-size: 12px; }`;

interface Drawn {
  readonly prometheus: RecordedPrometheus;
  /** Seconds. */
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** The page of a dashboard with the data of this Prometheus. `isExpanded`: with the panels of collapsed rows. */
export async function drawDashboard(
  { dashboard }: DashboardFile,
  prometheus: RecordedPrometheus,
  { hours, isExpanded }: { readonly hours: number; readonly isExpanded: boolean },
): Promise<string> {
  const { to } = prometheus;
  const from = to - hours * 3600;
  const context = { prometheus, from, to, step: Math.max(STEP_SECONDS, Math.ceil(hours / 6) * 60) };
  const parts: string[] = [];
  let shift = 0;
  let bottom = 0;
  for (const row of dashboard.panels) {
    const hidden = row.panels ?? [];
    parts.push(await drawPanel(row, shift, context));
    bottom = Math.max(bottom, shift + row.gridPos.y + row.gridPos.h);
    if (!isExpanded || hidden.length === 0) continue;
    for (const panel of hidden) {
      parts.push(await drawPanel(panel, shift, context));
      bottom = Math.max(bottom, shift + panel.gridPos.y + panel.gridPos.h);
    }
    shift = bottom - row.gridPos.y - row.gridPos.h;
  }
  const time = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
  return `<!doctype html><meta charset="utf-8"><title>${dashboard.title}</title><style>${STYLE}</style>
<header>${dashboard.title}<span>${time(from)} to ${time(to)} UTC</span></header>
<main style="height:${bottom * GRID_ROW + GAP}px">${parts.join('\n')}</main>`;
}

async function drawPanel(panel: Panel, shift: number, context: Drawn): Promise<string> {
  const { x, y, w, h } = panel.gridPos;
  const [left, top] = [12 + x * COLUMN, (y + shift) * GRID_ROW];
  if (panel.type === 'row') {
    const count = panel.panels?.length ?? 0;
    const text = count === 0 ? `⌄ ${panel.title}` : `› ${panel.title} (${count} panels)`;
    return `<div class="row" style="left:${left}px;top:${top}px">${escape(text)}</div>`;
  }
  const size = { width: w * COLUMN - GAP, height: h * GRID_ROW - GAP };
  const body = await drawBody(panel, size, context);
  const empty = `<div class="empty">${escape(panel.fieldConfig?.defaults.noValue ?? 'No data')}</div>`;
  return `<section style="left:${left}px;top:${top}px;width:${size.width}px;height:${size.height}px"><h2>${escape(panel.title)}</h2>${body ?? empty}</section>`;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** `undefined` without data. */
async function drawBody(panel: Panel, size: Size, context: Drawn): Promise<string | undefined> {
  if (panel.type === 'table') return drawTable(panel, context);
  const lines = await linesOf(panel, context);
  if (lines.length === 0) return undefined;
  return panel.type === 'timeseries'
    ? drawGraph(panel, lines, size, context)
    : drawTimeline(panel, lines, size, context);
}

function queryOf({ expr }: Target, { from, to, step }: Drawn): string {
  const rate = Math.max(step + STEP_SECONDS, 4 * STEP_SECONDS);
  return substituteVariables(expr, { __range: `${to - from}s`, __rate_interval: `${rate}s` });
}

interface Line {
  readonly name: string;
  readonly refId: string;
  readonly values: ReadonlyMap<number, number>;
}

async function linesOf({ targets = [] }: Panel, context: Drawn): Promise<readonly Line[]> {
  const { prometheus, from, to, step } = context;
  const ofTargets = await Promise.all(
    targets.map(async (target) => {
      const series = await prometheus.queryRange(queryOf(target, context), { from, to, step });
      return series.map(({ metric, values }: RangeSeries) => ({
        name: (target.legendFormat ?? '')
          .replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '')
          .trim(),
        refId: target.refId,
        values: new Map(values.map(([seconds, value]) => [Math.round(seconds), Number(value)])),
      }));
    }),
  );
  return ofTargets.flat().filter(({ values }) => [...values.values()].some(Number.isFinite));
}

const AXIS = { left: 100, bottom: 24, top: 8, right: 12 };

function drawGraph(panel: Panel, all: readonly Line[], { width, height }: Size, { from, to, step }: Drawn): string {
  const field = panel.fieldConfig!.defaults;
  const { custom = {}, min, max, thresholds } = field;
  const references = new Set(panel.fieldConfig!.overrides.map(({ matcher }) => matcher.options));
  const isStacked = custom.stacking?.mode === 'normal';
  const lines = isStacked ? stacked(all, references) : all.map((line) => ({ ...line, shown: line.values }));
  const values = lines.flatMap(({ shown }) => [...shown.values()]).filter(Number.isFinite);
  const steps = (custom.thresholdsStyle?.mode === 'dashed' ? (thresholds?.steps ?? []) : []).filter(
    ({ value }) => value !== null,
  );
  const low = Math.min(min ?? Math.min(...values), ...values);
  const high = max ?? Math.max(custom.axisSoftMax ?? -Infinity, low + 1e-9, ...values);
  const ticks = ticksOf(low, high, field.unit ?? 'short');
  const top = Math.max(high, max ?? ticks.at(-1)!);
  const plot = {
    width: width - AXIS.left - AXIS.right,
    height: height - PANEL_HEADER - LEGEND - AXIS.top - AXIS.bottom,
  };
  const xOf = (seconds: number): number => AXIS.left + ((seconds - from) / (to - from)) * plot.width;
  const yOf = (value: number): number => AXIS.top + plot.height - ((value - low) / (top - low)) * plot.height;
  const format = (value: number): string =>
    formatValue(value, { unit: field.unit ?? 'short', decimals: field.decimals, now: to * 1000 });
  const grid = ticks.map(
    (tick) =>
      `<path d="M${AXIS.left} ${yOf(tick)}h${plot.width}" stroke="#25272c"/><text x="${AXIS.left - 8}" y="${yOf(tick) + 4}" text-anchor="end">${format(tick)}</text>`,
  );
  const limits = steps
    .filter(({ value }) => value! <= top)
    .map(
      ({ value, color }) =>
        `<path d="M${AXIS.left} ${yOf(value!)}h${plot.width}" stroke="${COLORS[color]}" stroke-dasharray="10 10"/>`,
    );
  const colorOf = (index: number, refId: string): string =>
    references.has(refId) ? COLORS['semi-dark-orange']! : PALETTE[index % PALETTE.length]!;
  const paths = lines.map(({ shown, values: own, refId }, index) => {
    const color = colorOf(index, refId);
    const points = [...shown].map(([seconds, value]) => [seconds, xOf(seconds), yOf(value)] as const);
    const d = points.map(([seconds, px, py], point) => {
      const before = points[point - 1];
      return before !== undefined && seconds - before[0] <= step * 1.5 ? `H${px}V${py}` : `M${px} ${py}h.5`;
    });
    const dash = references.has(refId) ? ' stroke-dasharray="10 10"' : '';
    const areas = isStacked
      ? points.map(([seconds, px, py]) => {
          const below = yOf(shown.get(seconds)! - own.get(seconds)!);
          return `M${px} ${py}H${px + (step / (to - from)) * plot.width}V${below}H${px}Z`;
        })
      : [];
    return `<path d="${areas.join('')}" fill="${color}" fill-opacity=".3"/><path d="${d.join('')}" fill="none" stroke="${color}" stroke-width="1.5"${dash}/>`;
  });
  const legend = lines.map(
    ({ name, refId }, index) => `<span><i style="background:${colorOf(index, refId)}"></i>${escape(name)}</span>`,
  );
  return `<svg width="${width}" height="${height - PANEL_HEADER - LEGEND}">${grid.join('')}${timeAxis(xOf, from, to, height - PANEL_HEADER - LEGEND - 6)}${limits.join('')}${paths.join('')}</svg><div class="legend">${legend.join('')}</div>`;
}

/** Each line on top of those before it. */
function stacked(lines: readonly Line[], references: ReadonlySet<string>): (Line & { shown: Line['values'] })[] {
  const sums = new Map<number, number>();
  return lines.map((line) => {
    if (references.has(line.refId)) return { ...line, shown: line.values };
    const shown = new Map(
      [...line.values].map(([seconds, value]) => {
        const sum = (sums.get(seconds) ?? 0) + value;
        sums.set(seconds, sum);
        return [seconds, sum];
      }),
    );
    return { ...line, shown };
  });
}

const BYTES = Array.from({ length: 30 }, (_, power) => 2 ** power);

function ticksOf(low: number, high: number, unit: string): readonly number[] {
  const sizes =
    unit === 's' || unit === 'dtdhms'
      ? [1, 5, 15, 30, 60, 300, 600, 1800, 3600, 7200, 14_400, 43_200, 86_400, 259_200]
      : unit === 'bytes'
        ? BYTES
        : [];
  const raw = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const size =
    sizes.find((own) => own >= raw) ?? [1, 2, 5, 10].map((factor) => factor * power).find((own) => own >= raw)!;
  const first = Math.ceil(low / size - 1e-9);
  const last = Math.ceil(high / size - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * size);
}

function timeAxis(xOf: (seconds: number) => number, from: number, to: number, y: number): string {
  const hour = Math.ceil(from / 3600);
  return Array.from({ length: Math.floor(to / 3600) - hour + 1 }, (_, index) => {
    const seconds = (hour + index) * 3600;
    const text = new Date(seconds * 1000).toISOString().slice(11, 16);
    return `<text x="${xOf(seconds)}" y="${y}" text-anchor="middle">${text}</text>`;
  }).join('');
}

function drawTimeline(
  panel: Panel,
  lines: readonly Line[],
  { width, height }: Size,
  { from, to, step }: Drawn,
): string {
  const field = panel.fieldConfig!.defaults;
  const left = 24 + 7.2 * Math.max(...lines.map(({ name }) => name.length));
  const bottom = height - PANEL_HEADER - AXIS.bottom;
  const rowHeight = bottom / lines.length;
  const xOf = (seconds: number): number => left + ((seconds - from) / (to - from)) * (width - left - AXIS.right);
  const rows = lines.map(({ name, values }, row) => {
    const bars = merged(values, step, (value) => displayOf(value, field).color).map(
      ({ start, end, color }) =>
        `<rect x="${xOf(start)}" width="${xOf(Math.min(end, to)) - xOf(start)}" y="${row * rowHeight + 2}" height="${rowHeight - 4}" fill="${COLORS[color] ?? 'none'}" fill-opacity=".7"/>`,
    );
    return `<text x="${left - 8}" y="${(row + 0.5) * rowHeight + 4}" text-anchor="end">${escape(name)}</text>${bars.join('')}`;
  });
  return `<svg width="${width}" height="${height - PANEL_HEADER}">${rows.join('')}${timeAxis(xOf, from, to, height - PANEL_HEADER - 8)}</svg>`;
}

/** Successive values of the same color. */
function merged(values: Line['values'], step: number, colorOf: (value: number) => string) {
  const bars: { start: number; end: number; color: string }[] = [];
  for (const [seconds, value] of values) {
    const color = colorOf(value);
    const last = bars.at(-1);
    if (last?.color === color && last.end >= seconds) last.end = seconds + step;
    else bars.push({ start: seconds, end: seconds + step, color });
  }
  return bars;
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

async function drawTable(panel: Panel, context: Drawn): Promise<string | undefined> {
  const { targets = [], transformations = [], fieldConfig, options } = panel;
  const { renameByName = {}, indexByName = {} } = transformations.find(({ id }) => id === 'organize')?.options ?? {};
  const results = await Promise.all(
    targets.map(async (target) => context.prometheus.query(queryOf(target, context), context.to)),
  );
  const rows = mergedRows(targets, results);
  if (rows.length === 0) return undefined;
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
          ? formatValue(value, { unit: field.unit ?? 'none', decimals: field.decimals, now: context.to * 1000 })
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
