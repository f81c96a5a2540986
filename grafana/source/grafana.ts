/*
 * The dashboard schema of Grafana, as far as it is used here. The dashboards define their panels with `statPanel`,
 * `tablePanel` and so on, which add the common options. `dashboardJson` lays the panels out and returns the JSON model.
 */

import { ALERT_FILTERS, problemStartMs } from './queries.js';

export const SCHEMA_VERSION = 39;

/** Dashboards with this tag link to each other. */
export const DASHBOARD_TAG = 'bridge-exporter';

const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

/** Colors with the value from which each applies; the first has none. */
export type Thresholds = readonly (readonly [color: string, from: number | null])[];

export interface Series {
  readonly expr: string;
  readonly legend: string;
  /** A dashed line in a fixed color, such as a limit. */
  readonly isReference?: boolean;
}

export interface FieldOptions {
  readonly unit: string;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  readonly thresholds?: Thresholds;
  /** Text and color of single values (value mappings). */
  readonly valueTexts?: Readonly<Record<string, readonly [text: string, color: string]>>;
  /** Text for an absent value. */
  readonly noValue?: string;
}

export interface Column extends FieldOptions {
  readonly title: string;
  readonly expr: string;
  readonly isHidden?: boolean;
}

/** A link with the variables of Grafana in its URL. */
export interface Link {
  readonly title: string;
  readonly url: string;
  readonly isNewTab?: boolean;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Panel extends Size {
  readonly title: string;
  /** Explains the meaning, what to do, and when the panel is empty. */
  readonly description: string;
  readonly links: readonly Link[];
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
  readonly tags: readonly string[];
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}

interface PanelText extends Partial<Size> {
  readonly title: string;
  readonly description: string;
  /** In the header of the panel. */
  readonly links?: readonly Link[];
}

export type PanelDefinition = PanelText & FieldOptions & { readonly series: readonly Series[] };

/** Current values. An instant query, because a range query would also return withdrawn series. */
export function statPanel({ series, ...panel }: PanelDefinition): Panel {
  return {
    ...sized(panel, { width: 4, height: 5 }),
    type: 'stat',
    json: {
      targets: targetsJson(series, INSTANT),
      fieldConfig: { defaults: { ...fieldDefaults(panel), color: { mode: 'thresholds' } }, overrides: [] },
      options: {
        colorMode: panel.thresholds === undefined && panel.valueTexts === undefined ? 'value' : 'background',
        graphMode: 'none',
        justifyMode: 'auto',
        orientation: 'auto',
        percentChangeColorMode: 'standard',
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        showPercentChange: false,
        textMode: 'value_and_name',
        wideLayout: true,
      },
    },
  };
}

export function barPanel({ series, ...panel }: PanelDefinition): Panel {
  return {
    ...sized(panel, { width: 12, height: 8 }),
    type: 'bargauge',
    json: {
      targets: targetsJson(series, INSTANT),
      fieldConfig: { defaults: { ...fieldDefaults(panel), color: { mode: 'thresholds' } }, overrides: [] },
      options: {
        displayMode: 'basic',
        legend: { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: false },
        maxVizHeight: 300,
        minVizHeight: 16,
        minVizWidth: 8,
        namePlacement: 'auto',
        orientation: 'horizontal',
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        showUnfilled: true,
        sizing: 'auto',
        valueMode: 'color',
      },
    },
  };
}

export function timeSeriesPanel({
  series,
  isStacked = false,
  ...panel
}: PanelDefinition & { readonly isStacked?: boolean }): Panel {
  const references = series.flatMap(({ isReference }, index) => (isReference === true ? [refId(index)] : []));
  return {
    ...sized(panel, { width: 8, height: 8 }),
    type: 'timeseries',
    json: {
      targets: targetsJson(series, RANGE),
      fieldConfig: {
        defaults: {
          ...fieldDefaults(panel),
          color: { mode: 'palette-classic' },
          custom: {
            axisBorderShow: false,
            axisCenteredZero: false,
            axisLabel: '',
            axisPlacement: 'auto',
            ...softMax(panel),
            drawStyle: 'line',
            fillOpacity: isStacked ? 30 : 0,
            lineInterpolation: 'stepAfter',
            lineWidth: 1,
            scaleDistribution: { type: 'linear' },
            showPoints: 'auto',
            spanNulls: false,
            stacking: { group: 'A', mode: isStacked ? 'normal' : 'none' },
            thresholdsStyle: { mode: panel.thresholds === undefined ? 'off' : 'dashed' },
          },
        },
        overrides: references.map((id) => ({
          matcher: { id: 'byFrameRefID', options: id },
          properties: [
            { id: 'color', value: { fixedColor: 'red', mode: 'fixed' } },
            { id: 'custom.lineStyle', value: { dash: [10, 10], fill: 'dash' } },
            { id: 'custom.fillOpacity', value: 0 },
            { id: 'custom.stacking', value: { group: 'A', mode: 'none' } },
          ],
        })),
      },
      options: {
        legend: { calcs: ['lastNotNull'], displayMode: 'list', placement: 'bottom', showLegend: true },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
    },
  };
}

export function stateTimelinePanel({ series, ...panel }: PanelDefinition): Panel {
  return {
    ...sized(panel, { width: 12, height: 8 }),
    type: 'state-timeline',
    json: {
      targets: targetsJson(series, RANGE),
      fieldConfig: {
        defaults: {
          ...fieldDefaults(panel),
          color: { mode: 'thresholds' },
          custom: { fillOpacity: 70, insertNulls: false, lineWidth: 0, spanNulls: false },
        },
        overrides: [],
      },
      options: {
        alignValue: 'left',
        legend: { displayMode: 'list', placement: 'bottom', showLegend: false },
        mergeValues: true,
        perPage: 30,
        rowHeight: 0.85,
        showValue: 'never',
        tooltip: { mode: 'single', sort: 'none' },
      },
    },
  };
}

export interface Table extends PanelText {
  /** The labels that identify a row, with their column titles in display order. */
  readonly rowLabels: Readonly<Record<string, string>>;
  /** Further labels, in the last columns. */
  readonly lastLabels?: Readonly<Record<string, string>>;
  readonly columns: readonly Column[];
  /** Text and color of single label values, by column title. */
  readonly rowLabelTexts?: Readonly<Record<string, Required<FieldOptions>['valueTexts']>>;
  /** In pixels, by column title, of columns with long texts. */
  readonly widths?: Readonly<Record<string, number>>;
  /** Text without rows. */
  readonly noValue?: string;
  /** Links of the cells, by column title. */
  readonly cellLinks?: Readonly<Record<string, readonly Link[]>>;
  readonly sortBy?: { readonly column: string; readonly isDescending: boolean };
}

/** One row per set of label values, and one column per instant query. */
export function tablePanel({
  rowLabels: keys,
  lastLabels = {},
  columns,
  rowLabelTexts: keyWords = {},
  cellLinks = {},
  widths = {},
  noValue,
  sortBy,
  ...panel
}: Table): Panel {
  const keyTitles = Object.entries({ ...keys, ...lastLabels });
  // Grafana names the value of a single query `Value`.
  const valueOf = (index: number): string => (columns.length === 1 ? 'Value' : `Value #${refId(index)}`);
  const order = [...Object.keys(keys), ...columns.map((_, index) => valueOf(index)), ...Object.keys(lastLabels)];
  return {
    ...sized(panel, { width: 24, height: 8 }),
    type: 'table',
    json: {
      targets: targetsJson(
        columns.map(({ expr }) => ({ expr, legend: '' })),
        { format: 'table', ...INSTANT },
      ),
      fieldConfig: {
        defaults: {
          // For the labels. With a unit for numbers, an address in hexadecimal is shown as a number.
          ...fieldDefaults({ unit: 'string', ...(noValue !== undefined && { noValue }) }),
          color: { mode: 'thresholds' },
          custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: true, inspect: true, minWidth: 90 },
        },
        overrides: [
          // An empty label.
          { matcher: { id: 'byType', options: 'string' }, properties: [{ id: 'noValue', value: '–' }] },
          ...columns.map((column) => ({
            matcher: { id: 'byName', options: column.title },
            properties: [
              ...Object.entries({ ...fieldDefaults(column), mappings: cellMappings(column) }).map(([id, value]) => ({
                id,
                value,
              })),
              ...(column.thresholds === undefined && column.valueTexts === undefined
                ? []
                : [{ id: 'custom.cellOptions', value: COLORED_CELL }]),
              ...(column.isHidden === true ? [{ id: 'custom.hidden', value: true }] : []),
            ],
          })),
          ...Object.entries(keyWords).map(([title, words]) => ({
            matcher: { id: 'byName', options: title },
            properties: [
              { id: 'mappings', value: valueMappings(words) },
              { id: 'custom.cellOptions', value: COLORED_CELL },
            ],
          })),
          ...Object.entries(widths).map(([title, width]) => ({
            matcher: { id: 'byName', options: title },
            properties: [{ id: 'custom.width', value: width }],
          })),
          ...Object.entries(cellLinks).map(([title, links]) => ({
            matcher: { id: 'byName', options: title },
            properties: [{ id: 'links', value: links.map(linkJson) }],
          })),
        ],
      },
      options: {
        cellHeight: 'sm',
        footer: { countRows: false, fields: '', reducer: ['sum'], show: false },
        showHeader: true,
        sortBy: sortBy === undefined ? [] : [{ desc: sortBy.isDescending, displayName: sortBy.column }],
      },
      transformations: [
        { id: 'merge', options: {} },
        {
          id: 'organize',
          options: {
            excludeByName: { Time: true },
            includeByName: {},
            indexByName: Object.fromEntries(order.map((name, index) => [name, index])),
            renameByName: Object.fromEntries([
              ...keyTitles,
              ...columns.map(({ title }, index) => [valueOf(index), title] as const),
            ]),
          },
        },
      ],
    },
  };
}

export const datasourceVariable: Variable = {
  name: 'datasource',
  label: 'Data source',
  json: {
    type: 'datasource',
    query: 'prometheus',
    current: {},
    hide: 0,
    includeAll: false,
    multi: false,
    options: [],
    refresh: 1,
    regex: '',
    skipUrlSync: false,
  },
};

/** The values of a label; all are selected by default. `allValue` is a regular expression that the values match. */
export function labelVariable(name: string, label: string, selector: string, allValue = '.*'): Variable {
  return queryVariable(name, label, `label_values(${selector}, ${name})`, { allValue, regex: '' });
}

/** A variable that begins with a value instead of all. */
export function beginningWith(variable: Variable, value: string): Variable {
  return { ...variable, json: { ...variable.json, current: { selected: true, text: [value], value: [value] } } };
}

/** The texts and values that a regular expression with the groups `text` and `value` finds in the series of an expression. */
export function seriesVariable(name: string, label: string, expr: string, regex: string): Variable {
  return queryVariable(name, label, `query_result(${expr})`, { allValue: '.*', regex });
}

function queryVariable(
  name: string,
  label: string,
  query: string,
  { allValue, regex }: { readonly allValue: string; readonly regex: string },
): Variable {
  return {
    name,
    label,
    json: {
      type: 'query',
      datasource: DATA_SOURCE,
      definition: query,
      query: {
        qryType: query.startsWith('label_values') ? 1 : 3,
        query,
        refId: 'PrometheusVariableQueryEditor-VariableQuery',
      },
      allValue,
      current: { selected: true, text: ['All'], value: ['$__all'] },
      hide: 0,
      includeAll: true,
      multi: true,
      options: [],
      refresh: 2,
      regex,
      skipUrlSync: false,
      sort: 1,
    },
  };
}

export function textVariable(name: string, label: string, value: string): Variable {
  const current = { selected: true, text: value, value };
  return {
    name,
    label,
    json: { type: 'textbox', query: value, current, hide: 0, options: [current], skipUrlSync: false },
  };
}

export function dashboardJson(dashboard: Dashboard): JsonObject {
  return {
    annotations: { list: [PROBLEM_ANNOTATION, ALERT_ANNOTATION] },
    description: dashboard.description,
    // A changed copy is saved under another name, because a file of a new version replaces the dashboard.
    editable: false,
    fiscalYearStartMonth: 0,
    graphTooltip: 1,
    links: [
      {
        asDropdown: false,
        icon: 'external link',
        includeVars: true,
        keepTime: true,
        tags: [DASHBOARD_TAG],
        targetBlank: false,
        title: '',
        tooltip: '',
        type: 'dashboards',
        url: '',
      },
    ],
    panels: layOutPanels(dashboard.rows),
    refresh: '30s',
    schemaVersion: SCHEMA_VERSION,
    tags: [DASHBOARD_TAG, ...dashboard.tags],
    templating: { list: dashboard.variables.map(({ name, label, json: rest }) => ({ name, label, ...rest })) },
    time: { from: 'now-6h', to: 'now' },
    timepicker: {},
    timezone: '',
    title: dashboard.title,
    uid: dashboard.uid,
    version: 1,
    weekStart: '',
  };
}

/** Without it, the axis of a series of zeros ends at 100, which is 10,000 % for ratios. */
function softMax({ unit, min, max }: FieldOptions): JsonObject {
  if (min !== 0 || max !== undefined) return {};
  return unit === 'percentunit' ? { axisSoftMax: 0.1 } : unit === 'short' ? { axisSoftMax: 1 } : {};
}

/** At the time when it began. */
const PROBLEM_ANNOTATION = {
  datasource: DATA_SOURCE,
  enable: true,
  expr: problemStartMs,
  hide: false,
  iconColor: 'yellow',
  name: 'Problem began',
  step: '60s',
  tagKeys: 'severity,target,token_contract,chain_id,orchestrator',
  titleFormat: '{{problem}} began',
  useValueForTime: true,
};

const ALERT_ANNOTATION = {
  datasource: DATA_SOURCE,
  enable: true,
  expr: `max by (alertname, severity, cluster, target) (ALERTS{alertstate="firing", alertname=~"(Bridge|Crosschain).*", alertname!="BridgeWatchdog", ${ALERT_FILTERS}})`,
  hide: false,
  iconColor: 'red',
  name: 'Alerts',
  step: '60s',
  tagKeys: 'severity,target',
  titleFormat: '{{alertname}}',
  useValueForTime: false,
};

const INSTANT = { instant: true, range: false };
const RANGE = { instant: false, range: true };

function refId(index: number): string {
  return String.fromCodePoint('A'.codePointAt(0)! + index);
}

function targetsJson(series: readonly Series[], options: JsonObject): Json {
  return series.map(({ expr, legend }, index) => ({
    datasource: DATA_SOURCE,
    editorMode: 'code',
    expr,
    refId: refId(index),
    ...(legend === '' ? {} : { legendFormat: legend }),
    ...options,
  }));
}

function linkJson({ title, url, isNewTab = false }: Link): JsonObject {
  return { targetBlank: isNewTab, title, url };
}

const COLORED_CELL = { mode: 'basic', type: 'color-background' };

function valueMappings(words: Required<FieldOptions>['valueTexts']): readonly Json[] {
  if (Object.keys(words).length === 0) return [];
  const options = Object.entries(words).map(([value, [text, color]], index) => [value, { color, index, text }]);
  return [{ options: Object.fromEntries(options) as JsonObject, type: 'value' }];
}

/** Without its own mapping, an absent value has the color of the lowest values, which can be red. */
function cellMappings({ valueTexts = {} }: FieldOptions): Json {
  const absent = { color: 'transparent', index: Object.keys(valueTexts).length, text: '–' };
  return [...valueMappings(valueTexts), { options: { match: 'null', result: absent }, type: 'special' }];
}

function fieldDefaults({
  unit,
  decimals,
  min,
  max,
  thresholds: steps = [['text', null]],
  valueTexts: words,
  noValue,
}: FieldOptions): JsonObject {
  return {
    unit,
    ...(decimals === undefined ? {} : { decimals }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(noValue === undefined ? {} : { noValue }),
    mappings: words === undefined ? [] : valueMappings(words),
    thresholds: { mode: 'absolute', steps: steps.map(([color, value]) => ({ color, value })) },
  };
}

function sized(panel: PanelText, defaultSize: Size): Omit<Panel, 'type' | 'json'> {
  const { title, description, links = [], width, height } = panel;
  return { title, description, links, width: width ?? defaultSize.width, height: height ?? defaultSize.height };
}

const GRID_WIDTH = 24;

/** Places the panels from left to right. A line is as high as its highest panel. */
function layOutPanels(rows: readonly Row[]): Json {
  let id = 0;
  let y = 0;
  const nextId = (): number => (id += 1);
  return rows.flatMap(({ title, panels, isCollapsed = false }): JsonObject[] => {
    const header = {
      collapsed: isCollapsed,
      gridPos: { h: 1, w: GRID_WIDTH, x: 0, y },
      id: nextId(),
      title,
      type: 'row',
    };
    y += 1;
    const top = y;
    let x = 0;
    let lineHeight = 0;
    const placed = panels.map(({ width, height, type, links, json: rest, ...words }) => {
      if (x + width > GRID_WIDTH) {
        x = 0;
        y += lineHeight;
        lineHeight = 0;
      }
      const gridPos = { h: height, w: width, x, y };
      x += width;
      lineHeight = Math.max(lineHeight, height);
      return {
        ...words,
        type,
        datasource: DATA_SOURCE,
        gridPos,
        id: nextId(),
        links: links.map(linkJson),
        pluginVersion: '11.0.0',
        ...rest,
      };
    });
    // The panels of a collapsed row take no space.
    y = isCollapsed ? top : y + lineHeight;
    return isCollapsed ? [{ ...header, panels: placed }] : [{ ...header, panels: [] }, ...placed];
  });
}
