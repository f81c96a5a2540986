import { readdirSync, readFileSync } from 'node:fs';

/*
 * The dashboards as Grafana gets them.
 */

const FOLDER = new URL('../../grafana/dashboards/', import.meta.url);

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat?: string;
  readonly instant: boolean;
  readonly datasource: { readonly uid: string };
}

export interface GridPos {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: GridPos;
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly Target[];
  readonly panels?: readonly Panel[];
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly transformations?: readonly {
    readonly id: string;
    readonly options: { readonly renameByName?: Readonly<Record<string, string>> };
  }[];
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly definition?: string;
}

export interface Dashboard {
  readonly id?: number | null;
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly schemaVersion: number;
  readonly tags: readonly string[];
  readonly links: readonly { readonly type: string; readonly tags: readonly string[] }[];
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: { readonly list: readonly { readonly name: string; readonly expr: string }[] };
}

export interface File {
  readonly name: string;
  readonly text: string;
  readonly dashboard: Dashboard;
  /** Without the rows, with what is in collapsed ones. */
  readonly panels: readonly Panel[];
}

export const files: readonly File[] = readdirSync(FOLDER)
  .toSorted()
  .map((name) => {
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    const dashboard = JSON.parse(text) as Dashboard;
    const panels = dashboard.panels.flatMap((panel) => (panel.type === 'row' ? (panel.panels ?? []) : [panel]));
    return { name, text, dashboard, panels };
  });

/** An expression of a dashboard, and what of it is shown by label. */
export interface Query {
  readonly where: string;
  readonly expr: string;
  readonly shownLabels: readonly string[];
}

/** Every expression: of panels, of annotations and of variables (there the series they take labels from). */
export function queriesOf({ name, dashboard, panels }: File): Query[] {
  const ofPanels = panels.flatMap((panel) =>
    (panel.targets ?? []).map(({ refId, expr, legendFormat = '' }) => ({
      where: `${name}: ${panel.title} ${refId}`,
      expr,
      shownLabels: [...placeholders(legendFormat), ...keysOf(panel)],
    })),
  );
  const ofVariables = dashboard.templating.list.flatMap(({ name: variable, definition }) => {
    if (definition === undefined) return [];
    const { series, label } = labelValues(definition);
    return [{ where: `${name}: variable ${variable}`, expr: series, shownLabels: [label] }];
  });
  const ofAnnotations = dashboard.annotations.list.map((annotation) => ({
    where: `${name}: annotation ${annotation.name}`,
    expr: annotation.expr,
    shownLabels: [],
  }));
  return [...ofPanels, ...ofVariables, ...ofAnnotations];
}

/** Labels that are columns of a table. */
function keysOf({ transformations = [] }: Panel): string[] {
  const names = transformations.flatMap(({ options }) => Object.keys(options.renameByName ?? {}));
  return names.filter((name) => !name.startsWith('Value'));
}

function placeholders(legend: string): string[] {
  return [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
}

function labelValues(definition: string): { series: string; label: string } {
  const { series, label } = /^label_values\((?<series>.+), (?<label>\w+)\)$/.exec(definition)?.groups ?? {};
  if (series === undefined || label === undefined) throw new Error(`not understood: ${definition}`);
  return { series, label };
}

/** As Grafana fills them in while nothing is chosen. */
export function withVariables(expr: string, values: Readonly<Record<string, string>> = {}): string {
  const known: Readonly<Record<string, string>> = {
    target: '.*',
    orchestrator: '.*',
    chain_id: '.*',
    coin_decimals: '18',
    ...values,
  };
  return expr.replaceAll(/\$(\w+)/g, (whole, name: string) => known[name] ?? whole);
}
