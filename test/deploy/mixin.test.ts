import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { projectPath, readProjectFile, readProjectYaml } from '../support/project-files.js';
import { hasTool, runTool } from '../support/tools.js';

it.skipIf(!hasTool('jsonnet'))('the mixin has the alerts and all dashboards', () => {
  const expression = '{ alerts: mixin.prometheusAlerts, dashboards: mixin.grafanaDashboards }';
  const { status, output } = runTool('jsonnet', [
    '--exec',
    `local mixin = import '${projectPath('mixin/mixin.libsonnet')}'; ${expression}`,
  ]);
  expect(status, output.slice(0, 500)).toBe(0);
  const names = readdirSync(projectPath('grafana/dashboards')).filter((name) => name.endsWith('.json'));
  expect(JSON.parse(output)).toEqual({
    alerts: readProjectYaml('prometheus/alerts.yml'),
    dashboards: Object.fromEntries(
      names.map((name) => [name, JSON.parse(readProjectFile(`grafana/dashboards/${name}`)) as unknown]),
    ),
  });
});
