import {
  applyFieldOverrides,
  createTheme,
  dateTime,
  EventBusSrv,
  FieldType,
  getFieldDisplayName,
  getFieldDisplayValues,
  Registry,
  standardFieldConfigEditorRegistry,
  standardTransformers,
  standardTransformersRegistry,
  ThemeContext,
  transformDataFrame,
} from '@grafana/data';
import {
  BarGauge,
  BigValue,
  GlobalStyles,
  PanelChrome,
  PanelContextProvider,
  Table,
  TimeSeries,
  UPLOT_AXIS_FONT_SIZE,
  VizRepeater,
} from '@grafana/ui';
import { createRoot } from 'react-dom/client';
import { firstValueFrom } from 'rxjs';

/*
 * Renders a dashboard with the components of Grafana. The panel plugins of Grafana are not published as packages, so this page passes the
 * JSON of each panel to the components that the plugins use. The state timeline has no published component and is drawn here.
 */

const WIDTH = 1600;
const MARGIN = 16;
const GRID_COLUMNS = 24;
/** Height of a grid row and of the gap between rows, as in Grafana. */
const ROW_HEIGHT = 30;
const GAP = 8;
const TIME_ZONE = 'utc';
const theme = createTheme({ colors: { mode: 'dark' } });

const identity = (value) => value;
const standardOptions = ['unit', 'decimals', 'min', 'max', 'noValue', 'color', 'thresholds', 'mappings', 'links'];
const customOptions =
  `axisBorderShow axisCenteredZero axisLabel axisPlacement axisSoftMax drawStyle fillOpacity lineInterpolation lineStyle
  lineWidth scaleDistribution showPoints spanNulls stacking thresholdsStyle align cellOptions filterable inspect hidden minWidth width
  insertNulls`.split(/\s+/);
const option = (id, path, isCustom) => ({ id, path, isCustom, name: id, process: identity, shouldApply: () => true });
const fieldConfigRegistry = new Registry(() => [
  ...standardOptions.map((id) => option(id, id, false)),
  ...customOptions.map((id) => option(`custom.${id}`, id, true)),
]);
standardFieldConfigEditorRegistry.setInit(() => fieldConfigRegistry.list());
const { mergeTransformer, organizeFieldsTransformer } = standardTransformers;
standardTransformersRegistry.setInit(() =>
  [mergeTransformer, organizeFieldsTransformer].map((transformation) => ({
    id: transformation.id,
    name: transformation.name,
    transformation,
  })),
);

/** The values of the variables in queries. All stands for the regular expression that the dashboard defines for it. */
function variableValues({ templating }, overrides) {
  const values = templating.list.map(({ name, type, allValue, query }) => {
    if (overrides[name] !== undefined) return [name, overrides[name]];
    return [name, type === 'query' ? allValue : type === 'textbox' ? query : 'prometheus'];
  });
  return Object.fromEntries(values);
}

function interpolate(text, values) {
  return text.replaceAll(/\$\{(\w+)(?::\w+)?\}|\$(\w+)/g, (whole, braced, plain) => values[braced ?? plain] ?? whole);
}

async function queryPrometheus(path, parameters) {
  const { status, error, data } = await globalThis.requestPrometheus(path, parameters);
  if (status !== 'success') throw new Error(`${error}: ${parameters.query}`);
  return data.result;
}

/** Like Grafana: a missing label is an empty string. */
function legendOf(format, labels) {
  return format.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => labels[label] ?? '').trim();
}

async function framesOf(panel, target, { values, from, to, step }) {
  const query = interpolate(target.expr, values);
  const { refId } = target;
  if (target.range) {
    const result = await queryPrometheus('query_range', {
      query,
      start: from / 1000,
      end: to / 1000,
      step: step / 1000,
    });
    const times = Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
    return result.map(({ metric, values: samples }) => ({
      refId,
      fields: [
        { name: 'Time', type: FieldType.time, config: { interval: step }, values: times },
        valueField(target, metric, valuesWithGaps(times, samples)),
      ],
      length: times.length,
    }));
  }
  const result = await queryPrometheus('query', { query, time: to / 1000 });
  if (target.format === 'table') return [tableFrame(panel, refId, result)];
  return result.map(({ metric, value: [time, value] }) => ({
    refId,
    fields: [
      { name: 'Time', type: FieldType.time, config: {}, values: [time * 1000] },
      valueField(target, metric, [Number(value)]),
    ],
    length: 1,
  }));
}

/** The panel of Grafana interrupts the line where a sample is missing, but the component only at null. */
function valuesWithGaps(times, samples) {
  const valueAt = new Map(samples.map(([time, value]) => [Math.round(time * 1000), Number(value)]));
  return times.map((time) => valueAt.get(time) ?? null);
}

function valueField({ legendFormat }, labels, values) {
  return {
    name: 'Value',
    type: FieldType.number,
    labels,
    config: { displayNameFromDS: legendOf(legendFormat, labels) },
    values,
  };
}

function tableFrame({ targets }, refId, result) {
  const labels = Array.from(new Set(result.flatMap(({ metric }) => Object.keys(metric)))).toSorted((a, b) =>
    a.localeCompare(b),
  );
  const fields = [
    { name: 'Time', type: FieldType.time, config: {}, values: result.map(({ value: [time] }) => time * 1000) },
    ...labels.map((name) => ({
      name,
      type: FieldType.string,
      config: {},
      values: result.map(({ metric }) => metric[name] ?? ''),
    })),
    {
      name: targets.length === 1 ? 'Value' : `Value #${refId}`,
      type: FieldType.number,
      config: {},
      values: result.map(({ value: [, value] }) => Number(value)),
    },
  ];
  return { refId, fields, length: result.length };
}

async function dataOf(panel, context) {
  const frames = (await Promise.all(panel.targets.map((target) => framesOf(panel, target, context)))).flat();
  const nonEmpty = frames.filter(({ length }) => length > 0);
  const transformed = await firstValueFrom(transformDataFrame(panel.transformations ?? [], nonEmpty));
  return applyFieldOverrides({
    data: transformed,
    fieldConfig: withLowestStep(panel.fieldConfig),
    fieldConfigRegistry,
    replaceVariables: identity,
    theme,
    timeZone: TIME_ZONE,
  });
}

/** Grafana reads a lowest threshold of null as minus infinity. */
function withLowestStep(fieldConfig) {
  return JSON.parse(JSON.stringify(fieldConfig), (key, value) =>
    key === 'steps' ? value.map((step) => ({ ...step, value: step.value ?? -Infinity })) : value,
  );
}

const SIZE_OF_NO_DATA = { display: 'flex', alignItems: 'center', justifyContent: 'center', height: '100%' };

function NoData({ panel, text = panel.fieldConfig.defaults.noValue ?? 'No data' }) {
  return <div style={SIZE_OF_NO_DATA}>{text}</div>;
}

function TimeSeriesPanel({ panel, data, width, height, context }) {
  if (data.length === 0) return <NoData panel={panel} />;
  const timeRange = timeRangeOf(context);
  return (
    <TimeSeries
      frames={data}
      structureRev={1}
      timeRange={timeRange}
      timeZone={TIME_ZONE}
      width={width}
      height={height}
      legend={panel.options.legend}
      options={panel.options}
    >
      {(config) => {
        config.addHook('drawClear', (plot) => drawAlerts(plot, context.alerts));
        return null;
      }}
    </TimeSeries>
  );
}

/** Shades the times at which alerts fire, like the annotations of Grafana. */
function drawAlerts(plot, alerts) {
  const { ctx, bbox } = plot;
  ctx.save();
  for (const [from, to] of alerts) {
    const left = Math.max(plot.valToPos(from, 'x', true), bbox.left);
    const right = Math.min(plot.valToPos(to, 'x', true), bbox.left + bbox.width);
    ctx.fillStyle = 'rgba(242, 73, 92, 0.05)';
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    ctx.strokeStyle = 'rgba(242, 73, 92, 0.7)';
    ctx.setLineDash([5, 5]);
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

function timeRangeOf({ from, to }) {
  const range = { from: dateTime(from), to: dateTime(to) };
  return { ...range, raw: range };
}

function displayValuesOf(panel, data) {
  return getFieldDisplayValues({
    fieldConfig: withLowestStep(panel.fieldConfig),
    reduceOptions: panel.options.reduceOptions,
    replaceVariables: identity,
    theme,
    data,
    timeZone: TIME_ZONE,
  });
}

function StatPanel({ panel, data, width, height }) {
  const values = displayValuesOf(panel, data);
  const { colorMode, graphMode, justifyMode, textMode, wideLayout } = panel.options;
  return (
    <VizRepeater
      source={values}
      getValues={() => values}
      renderCounter={1}
      width={width}
      height={height}
      itemSpacing={3}
      orientation={panel.options.orientation}
      renderValue={({ value, width: itemWidth, height: itemHeight, count }) => (
        <BigValue
          value={value.display}
          count={count}
          width={itemWidth}
          height={itemHeight}
          theme={theme}
          {...{ colorMode, graphMode, justifyMode, textMode, wideLayout }}
        />
      )}
    />
  );
}

function BarGaugePanel({ panel, data, width, height }) {
  if (data.length === 0) return <NoData panel={panel} />;
  const values = displayValuesOf(panel, data);
  const { displayMode, orientation, showUnfilled, valueMode, namePlacement, minVizHeight, maxVizHeight } =
    panel.options;
  return (
    <VizRepeater
      source={values}
      getValues={() => values}
      renderCounter={1}
      width={width}
      height={height}
      itemSpacing={10}
      minVizHeight={minVizHeight}
      maxVizHeight={maxVizHeight}
      orientation={orientation}
      renderValue={({ value, width: itemWidth, height: itemHeight }) => (
        <BarGauge
          value={value.display}
          field={value.field}
          display={value.view?.getFieldDisplayProcessor(value.colIndex)}
          text={{ titleSize: 12 }}
          width={itemWidth}
          height={itemHeight}
          theme={theme}
          {...{ displayMode, orientation, showUnfilled, valueDisplayMode: valueMode, namePlacement }}
        />
      )}
    />
  );
}

function TablePanel({ panel, data, width, height }) {
  const [frame] = data;
  if (frame === undefined || frame.length === 0) return <NoData panel={panel} />;
  return (
    <Table
      data={frame}
      width={width}
      height={height}
      cellHeight={panel.options.cellHeight}
      showTypeIcons={false}
      initialSortBy={panel.options.sortBy}
      timeRange={undefined}
    />
  );
}

/** Of a character of the labels. */
const CHARACTER_WIDTH = 7;
const AXIS_HEIGHT = 22;

function StateTimelinePanel({ data, width, height, context }) {
  if (data.length === 0) return <NoData panel={panel} />;
  const fields = data.map((frame) => ({ frame, field: frame.fields[1], times: frame.fields[0].values }));
  const rowHeight = (height - AXIS_HEIGHT) / fields.length;
  const names = fields.map(({ frame, field }) => getFieldDisplayName(field, frame));
  const labelWidth = 16 + CHARACTER_WIDTH * Math.max(...names.map(({ length }) => length));
  const scale = (width - labelWidth) / (context.to - context.from);
  const tickCount = 6;
  return (
    <svg width={width} height={height} style={{ display: 'block' }}>
      {fields.map(({ field, times }, row) => (
        <g key={row} transform={`translate(0 ${row * rowHeight})`}>
          <text
            x={labelWidth - 8}
            y={rowHeight / 2 + 4}
            textAnchor="end"
            fontSize={UPLOT_AXIS_FONT_SIZE}
            fill={theme.colors.text.primary}
          >
            {names[row]}
          </text>
          {statesOf(field, times, context.step).map(({ from, to, color }) => (
            <rect
              key={from}
              x={labelWidth + (from - context.from) * scale}
              width={Math.max((to - from) * scale, 1)}
              y={rowHeight * 0.075}
              height={rowHeight * 0.85}
              fill={color}
              fillOpacity={field.config.custom.fillOpacity / 100}
            />
          ))}
        </g>
      ))}
      {Array.from(
        { length: tickCount },
        (_, index) => context.from + ((index + 0.5) / tickCount) * (context.to - context.from),
      ).map((time) => (
        <text
          key={time}
          x={labelWidth + (time - context.from) * scale}
          y={height - 6}
          textAnchor="middle"
          fontSize={UPLOT_AXIS_FONT_SIZE}
          fill={theme.colors.text.primary}
        >
          {new Date(time).toISOString().slice(11, 16)}
        </text>
      ))}
    </svg>
  );
}

/** Merges equal successive values. */
function statesOf(field, times, step) {
  const states = [];
  for (const [index, from] of times.entries()) {
    if (field.values[index] === null) continue;
    const { color } = field.display(field.values[index]);
    const previous = states.at(-1);
    if (previous?.color === color && from - previous.to <= step) previous.to = from + step;
    else states.push({ from, to: from + step, color });
  }
  return states;
}

const PANELS = {
  timeseries: TimeSeriesPanel,
  stat: StatPanel,
  bargauge: BarGaugePanel,
  table: TablePanel,
  'state-timeline': StateTimelinePanel,
};

function positionOf({ x, y, w, h }) {
  const column = (WIDTH - 2 * MARGIN + GAP) / GRID_COLUMNS;
  return {
    position: 'absolute',
    left: MARGIN + x * column,
    top: y * (ROW_HEIGHT + GAP),
    width: w * column - GAP,
    height: h * (ROW_HEIGHT + GAP) - GAP,
  };
}

function Panel({ panel, data, error, context }) {
  const { width, height, ...rest } = positionOf(panel.gridPos);
  const Visualization = PANELS[panel.type];
  return (
    <div style={{ ...rest, width, height }} data-panel={panel.title}>
      <PanelChrome
        title={panel.title}
        description={panel.description}
        width={width}
        height={height}
        padding={panel.type === 'table' ? 'sm' : 'md'}
      >
        {(innerWidth, innerHeight) =>
          error === undefined ? (
            <Visualization panel={panel} data={data} width={innerWidth} height={innerHeight} context={context} />
          ) : (
            <NoData panel={panel} text={error} />
          )
        }
      </PanelChrome>
    </div>
  );
}

function RowHeader({ panel }) {
  const style = {
    ...positionOf(panel.gridPos),
    display: 'flex',
    alignItems: 'center',
    gap: 8,
    fontSize: 16,
    fontWeight: 500,
  };
  return (
    <div style={style}>
      <span>{panel.collapsed ? '›' : '⌄'}</span> {panel.title}
    </div>
  );
}

/** Title, time range and variables, above the panels. */
function Header({ dashboard, context, selected }) {
  const box = {
    border: `1px solid ${theme.colors.border.medium}`,
    borderRadius: 2,
    padding: '3px 8px',
    whiteSpace: 'nowrap',
  };
  const variables = dashboard.templating.list.filter(({ type }) => type !== 'datasource');
  const time = (value) => new Date(value).toISOString().slice(11, 16);
  return (
    <div style={{ padding: `12px ${MARGIN}px` }}>
      <div style={{ display: 'flex', justifyContent: 'space-between', fontSize: 20, marginBottom: 10 }}>
        <span>{dashboard.title}</span>
        <span style={{ ...box, fontSize: 14 }}>
          {time(context.from)} to {time(context.to)} UTC
        </span>
      </div>
      <div style={{ display: 'flex', gap: 12, flexWrap: 'wrap', fontSize: 12 }}>
        {variables.map(({ name, label, type, query }) => (
          <span key={name} style={{ display: 'flex' }}>
            <span style={{ ...box, background: theme.colors.background.secondary }}>{label}</span>
            <span style={box}>{selected[name] ?? (type === 'textbox' ? query : 'All')}</span>
          </span>
        ))}
      </div>
    </div>
  );
}

/** The times at which the alerts of the annotation fire. */
async function alertTimes({ annotations }, { values, from, to }) {
  const step = 15_000;
  const query = interpolate(annotations.list[0].expr, values);
  const result = await queryPrometheus('query_range', { query, start: from / 1000, end: to / 1000, step: step / 1000 });
  return result.map(({ values: samples }) => [samples[0][0] * 1000, samples.at(-1)[0] * 1000 + step]);
}

/** The selection with which Grafana opens a dashboard, without the variables for which all is selected. */
function initialSelection({ templating }) {
  return Object.fromEntries(
    templating.list.flatMap(({ name, current }) => {
      const [value] = [current?.value ?? []].flat();
      return value === undefined || value === '$__all' || current.text === value ? [] : [[name, value]];
    }),
  );
}

/** Renders a dashboard of this time range. `isExpanded` also shows the panels of collapsed rows. */
async function render({ dashboard, from, to, scrapeInterval, selected: chosen = {}, isExpanded = false }) {
  const selected = { ...initialSelection(dashboard), ...chosen };
  const step = Math.max(scrapeInterval, Math.ceil((to - from) / 500 / 1000) * 1000);
  const rateInterval = `${Math.max(step + scrapeInterval, 4 * scrapeInterval) / 1000}s`;
  const values = {
    ...variableValues(dashboard, selected),
    __range: `${Math.round((to - from) / 1000)}s`,
    __rate_interval: rateInterval,
  };
  const context = { values, from, to, step };
  context.alerts = await alertTimes(dashboard, context);
  const shown = dashboard.panels.flatMap((panel) => [panel, ...(isExpanded ? (panel.panels ?? []) : [])]);
  const panels = await Promise.all(
    shown.map(async (panel) => {
      if (panel.type === 'row') return { panel };
      try {
        return { panel, data: await dataOf(panel, context) };
      } catch (error) {
        return { panel, data: [], error: error.message };
      }
    }),
  );
  const rows = Math.max(...shown.map(({ gridPos: { y, h } }) => y + h));
  const eventBus = new EventBusSrv();
  createRoot(document.querySelector('#root')).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <PanelContextProvider value={{ eventsScope: 'global', eventBus, canExecuteActions: () => false }}>
        <Header dashboard={dashboard} context={context} selected={selected} />
        <div style={{ position: 'relative', width: WIDTH, height: rows * (ROW_HEIGHT + GAP) + GAP }}>
          {panels.map(({ panel, data, error }) =>
            panel.type === 'row' ? (
              <RowHeader key={panel.id} panel={panel} />
            ) : (
              <Panel key={panel.id} panel={panel} data={data} error={error} context={context} />
            ),
          )}
        </div>
      </PanelContextProvider>
    </ThemeContext.Provider>,
  );
  return panels.map(({ panel, data, error }) => ({
    title: panel.title,
    type: panel.type,
    frames: data?.length ?? 0,
    error,
  }));
}

globalThis.renderDashboard = render;
