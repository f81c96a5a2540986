import { describe, expect, it } from 'vitest';
import { canonicalJson, DASHBOARD_FOLDER } from './dashboard-files.js';
import { markdownTable, withTables } from '../docs/generated-tables.js';
import { dashboards } from '../../grafana/source/dashboards.js';
import { dashboardJson } from '../../grafana/source/grafana.js';

/*
 * The files generated from grafana/source. `npm test -- -u` updates them.
 */
const entries = Object.entries(dashboards);

describe('grafana/dashboards', () => {
  it.each(entries)('contains %s as defined in the source', async (file, dashboard) => {
    const json = await canonicalJson(dashboardJson(dashboard));
    await expect(json).toMatchFileSnapshot(`../../${DASHBOARD_FOLDER}/${file}`);
  });
});

describe('docs/dashboards.md', () => {
  it('lists the dashboards, with a picture of each', async () => {
    const rows = entries.map(([file, { title, description }]) => [
      `[${title}](dashboard-${file.replace('.json', '.png')}) (\`${file}\`)`,
      description,
    ]);
    const table = markdownTable(['dashboard', 'question'], rows);
    await expect(withTables('docs/dashboards.md', [table])).toMatchFileSnapshot('../../docs/dashboards.md');
  });
});
