import { describe, expect, it } from 'vitest';
import { canonical } from './json.js';
import { dashboards } from './source/index.js';

/*
 * What Grafana loads is written from `source/` and checked in: `npm test -- -u` renews it.
 */
describe('the dashboards', () => {
  it.each(Object.entries(dashboards))('%s', async (file, dashboard) => {
    await expect(await canonical(dashboard)).toMatchFileSnapshot(`../../grafana/dashboards/${file}`);
  });
});
