/*
 * The JSON model of Grafana, as far as it is used here: tables of current values, graphs and state timelines, in rows. The dashboards say what
 * differs from panel to panel; `dashboardJson` lays the panels out.
 */

import { problemStartMs } from './problems.js';

/** Dashboards with this tag link to each other. */
const DASHBOARD_TAG = 'bridge-exporter';

const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

/** Text and color of single values (value mappings). */
export type ValueTexts = Readonly<Record<string, readonly [text: string, color: string]>>;

/** Colors with the value from which each applies; the first has none. */
export type Thresholds = readonly (readonly [color: string, from: number | null])[];

interface Field {
  readonly unit: string;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  readonly thresholds?: Thresholds;
  readonly texts?: ValueTexts;
}

export interface Column extends Field {
  readonly title: string;
  readonly expr: string;
}

export interface Series {
  readonly expr: string;
  readonly legend: string;
  /** A dashed line, such as a limit. */
  readonly isReference?: boolean;
}

/** A link with the variables of Grafana in its URL. */
export interface Link {
  readonly title: string;
  readonly url: string;
  readonly isNewTab?: boolean;
}

interface Texts {
  readonly title: string;
  /** The question that the panel answers, and what the answer does not show by itself. */
  readonly description: string;
  /** The text in an empty panel. */
  readonly noValue: string;
  /** Of the grid, which is 24 wide. */
  readonly width?: number;
  readonly height?: number;
}

export interface Panel extends Texts {
  readonly type: string;
  readonly json: JsonObject;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly isCollapsed?: boolean;
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly json: JsonObject;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}

interface Graph extends Texts, Field {
  readonly series: readonly Series[];
  readonly isStacked?: boolean;
}

/** Lines over the time range. */
export function graph({ series, isStacked = false, ...panel }: Graph): Panel {
  const references = series.flatMap(({ isReference }, index) => (isReference === true ? [refId(index)] : []));
  return {
    ...panel,
    type: 'timeseries',
    json: {
      targets: rangeTargets(series),
      fieldConfig: {
        defaults: {
          ...fieldJson(panel),
          noValue: panel.noValue,
          color: { mode: 'palette-classic' },
          custom: {
            ...softMax(panel),
            drawStyle: 'line',
            fillOpacity: isStacked ? 30 : 0,
            lineInterpolation: 'stepAfter',
            lineWidth: 1,
            showPoints: 'auto',
            spanNulls: false,
            stacking: { group: 'A', mode: isStacked ? 'normal' : 'none' },
            thresholdsStyle: { mode: panel.thresholds === undefined ? 'off' : 'dashed' },
          },
        },
        overrides: references.map((id) => ({
          matcher: { id: 'byFrameRefID', options: id },
          properties: [
            { id: 'color', value: { fixedColor: 'semi-dark-orange', mode: 'fixed' } },
            { id: 'custom.lineStyle', value: { dash: [10, 10], fill: 'dash' } },
            { id: 'custom.fillOpacity', value: 0 },
            { id: 'custom.stacking', value: { group: 'A', mode: 'none' } },
          ],
        })),
      },
      options: {
        // Without values: the last one of a line that has ended would look current.
        legend: { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
    },
  };
}

/** A bar per series, in the color of its value. */
export function timeline({ series, ...panel }: Texts & Field & { readonly series: readonly Series[] }): Panel {
  return {
    ...panel,
    type: 'state-timeline',
    json: {
      targets: rangeTargets(series),
      fieldConfig: {
        defaults: {
          ...fieldJson(panel),
          noValue: panel.noValue,
          color: { mode: 'thresholds' },
          custom: { fillOpacity: 70, lineWidth: 0, spanNulls: false },
        },
        overrides: [],
      },
      options: {
        legend: { displayMode: 'list', placement: 'bottom', showLegend: false },
        mergeValues: true,
        rowHeight: 0.85,
        showValue: 'never',
        tooltip: { mode: 'single', sort: 'none' },
      },
    },
  };
}

interface Table extends Texts {
  /** The labels that identify a row, with the titles of their columns. */
  readonly labels: Readonly<Record<string, string>>;
  /** Further labels, in the last columns. */
  readonly lastLabels?: Readonly<Record<string, string>>;
  readonly columns: readonly Column[];
  /** Equal values are sorted by the next one. */
  readonly sortBy?: readonly { readonly column: string; readonly isDescending: boolean }[];
  /** Text and color of label values, by column title. */
  readonly labelTexts?: Readonly<Record<string, ValueTexts>>;
  /** Whether the number of rows is below them: a panel may be too low for all. */
  readonly isCounted?: boolean;
  /** Columns whose long texts take several lines. */
  readonly wrapped?: readonly string[];
  /** A column that only links read. */
  readonly hidden?: string;
  /** In pixels, by column title. */
  readonly widths?: Readonly<Record<string, number>>;
  readonly links?: Readonly<Record<string, readonly Link[]>>;
}

/** One row per set of label values, and one column per instant query: a range query would also return withdrawn series. */
export function table({
  labels,
  lastLabels = {},
  columns,
  sortBy = [],
  labelTexts = {},
  wrapped = [],
  hidden,
  widths = {},
  links = {},
  isCounted = false,
  ...panel
}: Table): Panel {
  // Grafana names the value of a single query `Value`.
  const valueOf = (index: number): string => (columns.length === 1 ? 'Value' : `Value #${refId(index)}`);
  const titles: Record<string, string> = {
    ...labels,
    ...Object.fromEntries(columns.map(({ title }, index) => [valueOf(index), title])),
    ...lastLabels,
  };
  return {
    ...panel,
    type: 'table',
    json: {
      targets: columns.map(({ expr }, index) => ({
        ...target(expr, index),
        format: 'table',
        instant: true,
        range: false,
      })),
      fieldConfig: {
        defaults: {
          // For the labels. With a unit for numbers, an address in hexadecimal is shown as a number.
          ...fieldJson({ unit: 'string' }),
          noValue: panel.noValue,
          color: { mode: 'thresholds' },
          custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: true, inspect: true, minWidth: 80 },
        },
        overrides: [
          // An empty label does not have the text of an empty panel.
          { matcher: { id: 'byType', options: 'string' }, properties: [{ id: 'noValue', value: '' }] },
          ...columns.map((column) => overrideOf(column.title, columnProperties(column))),
          ...Object.entries(labelTexts).map(([title, texts]) =>
            overrideOf(title, { mappings: mappings({ texts }), 'custom.cellOptions': COLORED_CELL }),
          ),
          ...wrapped.map((title) => overrideOf(title, { 'custom.cellOptions': WRAPPED_CELL })),
          ...(hidden === undefined ? [] : [overrideOf(hidden, { 'custom.hidden': true })]),
          ...Object.entries(widths).map(([title, width]) => overrideOf(title, { 'custom.width': width })),
          ...Object.entries(links).map(([title, own]) => overrideOf(title, { links: own.map(linkJson) })),
        ],
      },
      options: {
        cellHeight: 'sm',
        showHeader: true,
        ...(isCounted && { footer: { show: true, countRows: true, reducer: ['count'], fields: '' } }),
        sortBy: sortBy.map(({ column, isDescending }) => ({ desc: isDescending, displayName: column })),
      },
      transformations: [
        { id: 'merge', options: {} },
        {
          id: 'organize',
          options: {
            excludeByName: { Time: true },
            indexByName: Object.fromEntries(Object.keys(titles).map((name, index) => [name, index])),
            renameByName: titles,
          },
        },
      ],
    },
  };
}

const WRAPPED_CELL = { type: 'auto', wrapText: true };
const COLORED_CELL = { mode: 'basic', type: 'color-background' };

function overrideOf(title: string, properties: JsonObject): JsonObject {
  return {
    matcher: { id: 'byName', options: title },
    properties: Object.entries(properties).map(([id, value]) => ({ id, value })),
  };
}

/** Without its own mapping, an absent value has the color of the lowest values. */
function columnProperties(column: Column): JsonObject {
  const absent = { color: 'transparent', index: 99, text: '–' };
  const isColored = column.thresholds !== undefined || column.texts !== undefined;
  return {
    // A number beside texts has no color.
    ...fieldJson(column.texts === undefined ? column : { thresholds: [['transparent', null]], ...column }),
    mappings: [...mappings(column), { options: { match: 'null', result: absent }, type: 'special' }],
    ...(isColored && { 'custom.cellOptions': COLORED_CELL }),
  };
}

function fieldJson({ unit, thresholds = [['text', null]], texts, ...numbers }: Field): JsonObject {
  const { decimals, min, max } = numbers;
  return {
    unit,
    ...(decimals !== undefined && { decimals }),
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    mappings: mappings({ texts }),
    thresholds: { mode: 'absolute', steps: thresholds.map(([color, value]) => ({ color, value })) },
  };
}

function mappings({ texts }: { readonly texts?: ValueTexts | undefined }): readonly Json[] {
  if (texts === undefined) return [];
  const options = Object.entries(texts).map(([value, [text, color]], index) => [value, { color, index, text }]);
  return [{ options: Object.fromEntries(options) as JsonObject, type: 'value' }];
}

/** Without it, the axis of a series of zeros ends at 100, which is 10,000 % for ratios. */
function softMax({ unit, min, max }: Field): JsonObject {
  if (min !== 0 || max !== undefined) return {};
  return { axisSoftMax: unit === 'percentunit' ? 0.1 : 1 };
}

function rangeTargets(series: readonly Series[]): Json {
  return series.map(({ expr, legend }, index) => ({
    ...target(expr, index),
    legendFormat: legend,
    instant: false,
    range: true,
  }));
}

function target(expr: string, index: number): JsonObject {
  return { datasource: DATA_SOURCE, editorMode: 'code', expr, refId: refId(index) };
}

function refId(index: number): string {
  return String.fromCodePoint('A'.codePointAt(0)! + index);
}

function linkJson({ title, url, isNewTab = false }: Link): JsonObject {
  return { targetBlank: isNewTab, title, url };
}

export const datasourceVariable: Variable = {
  name: 'datasource',
  label: 'Data source',
  json: { type: 'datasource', query: 'prometheus', current: {}, hide: 0, refresh: 1, regex: '' },
};

/** The values of a label; all are selected by default. `allValue` is a regular expression that the values match. */
export function labelVariable(name: string, title: string, selector: string, allValue = '.*', label = name): Variable {
  return queryVariable(name, title, { qryType: 1, query: `label_values(${selector}, ${label})`, allValue });
}

/** The texts and values that a regular expression with the groups `text` and `value` finds in the series of an expression. */
export function seriesVariable(name: string, label: string, expr: string, regex: string): Variable {
  return queryVariable(name, label, { qryType: 3, query: `query_result(${expr})`, allValue: '.*', regex });
}

interface VariableQuery {
  readonly qryType: number;
  readonly query: string;
  readonly allValue: string;
  readonly regex?: string;
}

function queryVariable(name: string, label: string, { qryType, query, allValue, regex = '' }: VariableQuery): Variable {
  return {
    name,
    label,
    json: {
      type: 'query',
      datasource: DATA_SOURCE,
      definition: query,
      query: { qryType, query, refId: 'PrometheusVariableQueryEditor-VariableQuery' },
      allValue,
      current: { selected: true, text: ['All'], value: ['$__all'] },
      hide: 0,
      includeAll: true,
      multi: true,
      refresh: 2,
      regex,
      sort: 1,
    },
  };
}

export function textVariable(name: string, label: string, value: string): Variable {
  const current = { selected: true, text: value, value };
  return { name, label, json: { type: 'textbox', query: value, current, hide: 0, options: [current] } };
}

export function dashboardJson({ uid, title, description, variables, rows }: Dashboard): JsonObject {
  return {
    annotations: { list: [PROBLEM_ANNOTATION] },
    description,
    // A changed copy is saved under another name, because a file of a new version replaces the dashboard.
    editable: false,
    graphTooltip: 1,
    links: [
      {
        icon: 'external link',
        includeVars: true,
        keepTime: true,
        tags: [DASHBOARD_TAG],
        title: '',
        type: 'dashboards',
      },
    ],
    panels: layOutRows(rows),
    refresh: '1m',
    schemaVersion: 39,
    tags: [DASHBOARD_TAG],
    templating: { list: variables.map(({ name, label, json: rest }) => ({ name, label, ...rest })) },
    time: { from: 'now-6h', to: 'now' },
    timezone: '',
    title,
    uid,
    version: 1,
  };
}

/** At the time when it began. */
const PROBLEM_ANNOTATION = {
  datasource: DATA_SOURCE,
  enable: true,
  expr: problemStartMs,
  iconColor: 'yellow',
  name: 'Problem began',
  step: '60s',
  tagKeys: 'severity,target,token_contract,chain_id,orchestrator',
  titleFormat: '{{problem}} began',
  useValueForTime: true,
};

const GRID_WIDTH = 24;
const PANEL_HEIGHT = 8;

/** Places panels from left to right. The height of a line is that of its tallest panel; panels of a collapsed row take no space. */
function layOutRows(rows: readonly Row[]): Json {
  let id = 0;
  let y = 0;
  return rows.flatMap(({ title, panels, isCollapsed = false }): JsonObject[] => {
    const header = {
      collapsed: isCollapsed,
      gridPos: { h: 1, w: GRID_WIDTH, x: 0, y },
      id: (id += 1),
      title,
      type: 'row',
    };
    y += 1;
    const top = y;
    let x = 0;
    let lineHeight = 0;
    const placed = panels.map(({ title: panelTitle, description, width, height = PANEL_HEIGHT, type, json }) => {
      const w = width ?? (type === 'table' ? GRID_WIDTH : GRID_WIDTH / 2);
      if (x + w > GRID_WIDTH) {
        x = 0;
        y += lineHeight;
        lineHeight = 0;
      }
      const gridPos = { h: height, w, x, y };
      x += w;
      lineHeight = Math.max(lineHeight, height);
      const texts = { title: panelTitle, description };
      return { ...texts, type, datasource: DATA_SOURCE, gridPos, id: (id += 1), pluginVersion: '11.0.0', ...json };
    });
    y = isCollapsed ? top : y + lineHeight;
    return isCollapsed ? [{ ...header, panels: placed }] : [{ ...header, panels: [] }, ...placed];
  });
}
