import { readdirSync } from 'node:fs';
import { projectPath, readProjectFile } from '../support/project-files.js';

/*
 * The dashboards in grafana/dashboards.
 */

const DASHBOARD_FOLDER = 'grafana/dashboards';

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat?: string;
  readonly instant: boolean;
}

export interface GridPos {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface FieldDefaults {
  readonly unit?: string;
  readonly mappings?: readonly {
    readonly type: 'value' | 'special';
    readonly options: Readonly<Record<string, { readonly text: string; readonly color: string }>>;
  }[];
  readonly thresholds?: { readonly steps: readonly { readonly color: string; readonly value: number | null }[] };
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: GridPos;
  readonly targets?: readonly Target[];
  readonly panels?: readonly Panel[];
  readonly fieldConfig?: {
    readonly defaults: FieldDefaults;
    readonly overrides: readonly {
      readonly matcher: { readonly id: string; readonly options: string };
      readonly properties: readonly { readonly id: string; readonly value: unknown }[];
    }[];
  };
  readonly transformations?: readonly {
    readonly id: string;
    readonly options: { readonly renameByName?: Readonly<Record<string, string>> };
  }[];
}

export interface Variable {
  readonly name: string;
  readonly definition?: string;
  readonly allValue?: string;
  readonly regex?: string;
}

export interface Link {
  readonly title: string;
  readonly url: string;
  readonly targetBlank: boolean;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly refresh: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] };
}

export interface DashboardFile {
  readonly name: string;
  readonly text: string;
  readonly dashboard: Dashboard;
  /** The panels without the rows, including those in collapsed rows. */
  readonly panels: readonly Panel[];
}

export const dashboardFiles: readonly DashboardFile[] = readdirSync(projectPath(DASHBOARD_FOLDER))
  .filter((name) => name.endsWith('.json'))
  .toSorted()
  .map((name) => {
    const text = readProjectFile(`${DASHBOARD_FOLDER}/${name}`);
    const dashboard = JSON.parse(text) as Dashboard;
    const panels = dashboard.panels.flatMap((panel) => (panel.type === 'row' ? (panel.panels ?? []) : [panel]));
    return { name, text, dashboard, panels };
  });

export interface Query {
  /** File, panel and query, for test titles. */
  readonly where: string;
  readonly expr: string;
  /** The labels that the panel displays. */
  readonly shownLabels: readonly string[];
}

/** All expressions of a dashboard: of panels, annotations and variables. */
export function queriesOf({ name, dashboard, panels }: DashboardFile): Query[] {
  const ofPanels = panels.flatMap((panel) =>
    (panel.targets ?? []).map(({ refId, expr, legendFormat = '' }) => ({
      where: `${name}: ${panel.title} ${refId}`,
      expr,
      shownLabels: [...labelsInLegend(legendFormat), ...labelColumns(panel)],
    })),
  );
  const ofVariables = dashboard.templating.list.flatMap(({ name: variable, definition, regex = '' }) => {
    if (definition === undefined) return [];
    return [{ where: `${name}: variable ${variable}`, ...parseVariableQuery(definition, regex) }];
  });
  const ofAnnotations = dashboard.annotations.list.map((annotation) => ({
    where: `${name}: annotation ${annotation.name}`,
    expr: annotation.expr,
    shownLabels: [],
  }));
  return [...ofPanels, ...ofVariables, ...ofAnnotations];
}

/** The labels in the columns of a table. */
function labelColumns({ transformations = [] }: Panel): string[] {
  const names = transformations.flatMap(({ options }) => Object.keys(options.renameByName ?? {}));
  return names.filter((name) => !name.startsWith('Value'));
}

function labelsInLegend(legend: string): string[] {
  return [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
}

function parseVariableQuery(definition: string, regex: string): { expr: string; shownLabels: string[] } {
  const { series, label, expr } =
    /^(?:label_values\((?<series>.+), (?<label>\w+)\)|query_result\((?<expr>.+)\))$/.exec(definition)?.groups ?? {};
  if (series !== undefined && label !== undefined) return { expr: series, shownLabels: [label] };
  if (expr === undefined) throw new Error(`unsupported variable definition: ${definition}`);
  return { expr, shownLabels: [...regex.matchAll(/(\w+)="/g)].map(([, shown = '']) => shown) };
}

/** Replaces the variables of Grafana by these values, or by their defaults. */
export function substituteVariables(expr: string, values: Readonly<Record<string, string>> = {}): string {
  const allValues: Readonly<Record<string, string>> = {
    cluster: '.*',
    namespace: '.*',
    job: '.+',
    instance: '.+',
    target: '.*',
    orchestrator: '.*',
    chain_id: '.*',
    __range: '1h',
    __rate_interval: '1m',
    ...values,
  };
  return expr.replaceAll(/\$(\w+)/g, (whole, name: string) => allValues[name] ?? whole);
}
