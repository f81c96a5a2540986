// Writes the dashboards for grafana.com: the import asks for a data source. node packaging/dashboards.mjs FOLDER
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../grafana/dashboards', import.meta.url));
const [folder = 'dashboards'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const INPUT = {
  name: 'DS_PROMETHEUS',
  label: 'Prometheus',
  type: 'datasource',
  pluginId: 'prometheus',
  pluginName: 'Prometheus',
};

function forImport(dashboard) {
  const types = new Set(panelsOf(dashboard.panels).map(({ type }) => type));
  types.delete('row');
  return {
    __inputs: [INPUT],
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: '11.0.0' },
      { type: 'datasource', id: 'prometheus', name: 'Prometheus', version: '1.0.0' },
      ...Array.from(types, (type) => ({ type: 'panel', id: type, name: type, version: '' })),
    ],
    ...dashboard,
    id: null,
    templating: { list: dashboard.templating.list.map(selectInput) },
  };
}

/** The variable with the data source begins with the one that the import asks for. */
function selectInput(variable) {
  if (variable.type !== 'datasource') return variable;
  return { ...variable, current: { selected: true, text: INPUT.label, value: `\${${INPUT.name}}` } };
}

const panelsOf = (panels) => panels.flatMap((panel) => [panel, ...panelsOf(panel.panels ?? [])]);

for (const file of readdirSync(source).filter((name) => name.endsWith('.json'))) {
  const dashboard = JSON.parse(readFileSync(join(source, file), 'utf8'));
  writeFileSync(join(folder, file), `${JSON.stringify(forImport(dashboard), null, 2)}\n`);
}
