/*
 * The part of Grafana's dashboard schema that is used here, and what every panel of a kind has in common. A definition says
 * what is particular to a panel; `dashboardJson` adds the rest and lays the panels out.
 */

export const SCHEMA_VERSION = 39;

/** Dashboards with this tag link to one another. */
export const FAMILY_TAG = 'bridge-exporter';

const DATA_SOURCE = { type: 'prometheus', uid: '${datasource}' };

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

/** From which value on a colour holds; the first step has none. */
export type Steps = readonly (readonly [color: string, from: number | null])[];

export interface Series {
  readonly expr: string;
  readonly legend: string;
  /** A line to compare with: dashed and of one colour. */
  readonly isReference?: boolean;
}

export interface Look {
  readonly unit: string;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  readonly steps?: Steps;
  /** Words for values: text and colour. */
  readonly words?: Readonly<Record<string, readonly [text: string, color: string]>>;
  /** Shown in place of a value that is absent. */
  readonly noValue?: string;
}

export interface Column extends Look {
  readonly title: string;
  readonly expr: string;
  readonly isHidden?: boolean;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Panel extends Size {
  readonly title: string;
  /** What it means, what to do, and when it may be empty. */
  readonly description: string;
  readonly type: string;
  readonly rest: JsonObject;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly isCollapsed?: boolean;
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly rest: JsonObject;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}

interface Words extends Partial<Size> {
  readonly title: string;
  readonly description: string;
}

export type Drawn = Words & Look & { readonly series: readonly Series[] };

/** Numbers as of now: an instant query, since a range would show what has been withdrawn. */
export function stat({ series, ...panel }: Drawn): Panel {
  return {
    ...sized(panel, { width: 4, height: 5 }),
    type: 'stat',
    rest: {
      targets: targets(series, INSTANT),
      fieldConfig: { defaults: { ...look(panel), color: { mode: 'thresholds' } }, overrides: [] },
      options: {
        colorMode: panel.steps === undefined && panel.words === undefined ? 'value' : 'background',
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

export function bars({ series, ...panel }: Drawn): Panel {
  return {
    ...sized(panel, { width: 12, height: 8 }),
    type: 'bargauge',
    rest: {
      targets: targets(series, INSTANT),
      fieldConfig: { defaults: { ...look(panel), color: { mode: 'thresholds' } }, overrides: [] },
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

export function timeseries({ series, isStacked = false, ...panel }: Drawn & { readonly isStacked?: boolean }): Panel {
  const references = series.flatMap(({ isReference }, index) => (isReference === true ? [refId(index)] : []));
  return {
    ...sized(panel, { width: 8, height: 8 }),
    type: 'timeseries',
    rest: {
      targets: targets(series, RANGE),
      fieldConfig: {
        defaults: {
          ...look(panel),
          color: { mode: 'palette-classic' },
          custom: {
            axisBorderShow: false,
            axisCenteredZero: false,
            axisLabel: '',
            axisPlacement: 'auto',
            drawStyle: 'line',
            fillOpacity: isStacked ? 30 : 8,
            lineInterpolation: 'stepAfter',
            lineWidth: 1,
            scaleDistribution: { type: 'linear' },
            showPoints: 'auto',
            spanNulls: false,
            stacking: { group: 'A', mode: isStacked ? 'normal' : 'none' },
            thresholdsStyle: { mode: panel.steps === undefined ? 'off' : 'dashed' },
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
        legend: { calcs: ['lastNotNull'], displayMode: 'table', placement: 'bottom', showLegend: true },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
    },
  };
}

export function stateTimeline({ series, ...panel }: Drawn): Panel {
  return {
    ...sized(panel, { width: 12, height: 8 }),
    type: 'state-timeline',
    rest: {
      targets: targets(series, RANGE),
      fieldConfig: {
        defaults: {
          ...look(panel),
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

export interface Table extends Words {
  /** Labels that name a row, and their titles, in the order they are shown. */
  readonly keys: Readonly<Record<string, string>>;
  readonly columns: readonly Column[];
  /** Words for the values of a key, by its title. */
  readonly keyWords?: Readonly<Record<string, Required<Look>['words']>>;
  /** Dashboard that the first key links to, for its target. */
  readonly linksTo?: { readonly title: string; readonly uid: string };
  readonly sortBy?: { readonly column: string; readonly isDescending: boolean };
}

/** One row for each set of label values, one column for each instant query, each with its own unit. */
export function table({ keys, columns, keyWords = {}, linksTo, sortBy, ...panel }: Table): Panel {
  const keyTitles = Object.entries(keys);
  // Grafana calls the value of a lone query just `Value`.
  const valueOf = (index: number): string => (columns.length === 1 ? 'Value' : `Value #${refId(index)}`);
  const order = [...keyTitles.map(([label]) => label), ...columns.map((_, index) => valueOf(index))];
  const [, firstTitle = ''] = keyTitles[0] ?? [];
  return {
    ...sized(panel, { width: 24, height: 8 }),
    type: 'table',
    rest: {
      targets: targets(
        columns.map(({ expr }) => ({ expr, legend: '' })),
        { format: 'table', ...INSTANT },
      ),
      fieldConfig: {
        defaults: {
          ...look({ unit: 'none', noValue: '–' }),
          color: { mode: 'thresholds' },
          custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: true, inspect: false },
        },
        overrides: [
          ...columns.map((column) => ({
            matcher: { id: 'byName', options: column.title },
            properties: [
              ...Object.entries(look(column)).map(([id, value]) => ({ id, value })),
              ...(column.steps === undefined && column.words === undefined
                ? []
                : [{ id: 'custom.cellOptions', value: COLOURED_CELL }]),
              ...(column.isHidden === true ? [{ id: 'custom.hidden', value: true }] : []),
            ],
          })),
          ...Object.entries(keyWords).map(([title, words]) => ({
            matcher: { id: 'byName', options: title },
            properties: [
              { id: 'mappings', value: mappings(words) },
              { id: 'custom.cellOptions', value: COLOURED_CELL },
            ],
          })),
          ...(linksTo === undefined
            ? []
            : [
                {
                  matcher: { id: 'byName', options: firstTitle },
                  properties: [
                    {
                      id: 'links',
                      value: [
                        {
                          title: linksTo.title,
                          url: `/d/${linksTo.uid}?\${datasource:queryparam}&var-target=\${__data.fields["${firstTitle}"]}&\${__url_time_range}`,
                        },
                      ],
                    },
                  ],
                },
              ]),
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
  rest: {
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

/** Values of a label; all of them until someone chooses. */
export function labelVariable(name: string, label: string, metric: string): Variable {
  const query = `label_values(${metric}, ${name})`;
  return {
    name,
    label,
    rest: {
      type: 'query',
      datasource: DATA_SOURCE,
      definition: query,
      query: { qryType: 1, query, refId: 'PrometheusVariableQueryEditor-VariableQuery' },
      allValue: '.*',
      current: { selected: true, text: ['All'], value: ['$__all'] },
      hide: 0,
      includeAll: true,
      multi: true,
      options: [],
      refresh: 2,
      regex: '',
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
    rest: { type: 'textbox', query: value, current, hide: 0, options: [current], skipUrlSync: false },
  };
}

export function dashboardJson(dashboard: Dashboard): JsonObject {
  return {
    annotations: { list: [ALERT_ANNOTATION] },
    description: dashboard.description,
    editable: true,
    fiscalYearStartMonth: 0,
    graphTooltip: 1,
    links: [
      {
        asDropdown: false,
        icon: 'external link',
        includeVars: true,
        keepTime: true,
        tags: [FAMILY_TAG],
        targetBlank: false,
        title: '',
        tooltip: '',
        type: 'dashboards',
        url: '',
      },
    ],
    panels: laidOut(dashboard.rows),
    refresh: '30s',
    schemaVersion: SCHEMA_VERSION,
    tags: [FAMILY_TAG, ...dashboard.tags],
    templating: { list: dashboard.variables.map(({ name, label, rest }) => ({ name, label, ...rest })) },
    time: { from: 'now-6h', to: 'now' },
    timepicker: {},
    timezone: '',
    title: dashboard.title,
    uid: dashboard.uid,
    version: 1,
    weekStart: '',
  };
}

const ALERT_ANNOTATION = {
  datasource: DATA_SOURCE,
  enable: true,
  expr: 'max by (alertname, severity, target) (ALERTS{alertstate="firing", alertname=~"(Bridge|Crosschain).*", alertname!="BridgeWatchdog", target=~"$target"})',
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

function targets(series: readonly Series[], how: JsonObject): Json {
  return series.map(({ expr, legend }, index) => ({
    datasource: DATA_SOURCE,
    editorMode: 'code',
    expr,
    refId: refId(index),
    ...(legend === '' ? {} : { legendFormat: legend }),
    ...how,
  }));
}

const COLOURED_CELL = { mode: 'basic', type: 'color-background' };

function mappings(words: Required<Look>['words']): Json {
  const options = Object.entries(words).map(([value, [text, color]], index) => [value, { color, index, text }]);
  return [{ options: Object.fromEntries(options) as JsonObject, type: 'value' }];
}

function look({ unit, decimals, min, max, steps = [['text', null]], words, noValue }: Look): JsonObject {
  return {
    unit,
    ...(decimals === undefined ? {} : { decimals }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(noValue === undefined ? {} : { noValue }),
    mappings: words === undefined ? [] : mappings(words),
    thresholds: { mode: 'absolute', steps: steps.map(([color, value]) => ({ color, value })) },
  };
}

function sized(panel: Words, size: Size): Omit<Panel, 'type' | 'rest'> {
  const { title, description, width, height } = panel;
  return { title, description, width: width ?? size.width, height: height ?? size.height };
}

const GRID_WIDTH = 24;

/** Panels from left to right, in lines as high as their highest; ids by position. */
function laidOut(rows: readonly Row[]): Json {
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
    const placed = panels.map(({ width, height, type, rest, ...words }) => {
      if (x + width > GRID_WIDTH) {
        x = 0;
        y += lineHeight;
        lineHeight = 0;
      }
      const gridPos = { h: height, w: width, x, y };
      x += width;
      lineHeight = Math.max(lineHeight, height);
      return { ...words, type, datasource: DATA_SOURCE, gridPos, id: nextId(), pluginVersion: '11.0.0', ...rest };
    });
    // A collapsed row takes no room for its panels.
    y = isCollapsed ? top : y + lineHeight;
    return isCollapsed ? [{ ...header, panels: placed }] : [{ ...header, panels: [] }, ...placed];
  });
}
