import { describe, expect, it } from 'vitest';
import { projectPath, readProjectYaml } from '../support/project-files.js';
import { hasTool, runTool } from '../support/tools.js';
import { DASHBOARD_FOLDER, dashboardFiles } from './dashboard-files.js';

/*
 * The linter of Grafana, with the exclusions in grafana/dashboards/.lint. lint.test.ts checks the same conventions without it.
 */

interface Exclusions {
  readonly exclusions: Readonly<
    Record<string, { reason: string; entries: readonly { dashboard: string; panel: string }[] }>
  >;
}

describe.skipIf(!hasTool('dashboard-linter', ['help']))('dashboard-linter', () => {
  it.each(dashboardFiles)('has no remark about $name', ({ name }) => {
    const { status, output } = runTool('dashboard-linter', [
      'lint',
      '--strict',
      projectPath(`${DASHBOARD_FOLDER}/${name}`),
    ]);
    expect(status, output).toBe(0);
    // Printed even without remarks, so a run that checks nothing fails.
    expect(output).toContain('Checks that every PromQL query has a job matcher.');
  });
});

describe('grafana/dashboards/.lint', () => {
  const { exclusions } = readProjectYaml(`${DASHBOARD_FOLDER}/.lint`) as Exclusions;

  it.each(Object.entries(exclusions))(
    'excludes single panels that exist from %s, with a reason',
    (_rule, exclusion) => {
      expect(exclusion.reason).toMatch(/^.{30,}\.$/);
      expect(exclusion.entries.length).toBeGreaterThan(0);
      for (const { dashboard: title, panel } of exclusion.entries) {
        const file = dashboardFiles.find(({ dashboard }) => dashboard.title === title);
        expect(file?.panels.map((one) => one.title)).toContain(panel);
      }
    },
  );
});
