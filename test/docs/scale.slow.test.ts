import { expect, it } from 'vitest';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { startDemo } from '../support/demo.js';
import { scrape } from '../support/http.js';
import { readProjectFile } from '../support/project-files.js';
import { waitUntil } from '../support/wait-for.js';

const documented = Array.from(
  readProjectFile('docs/scale.md').matchAll(/(\d+)(?: series)? in (?:the scenario )?`([a-z-]+)`/g),
  ([, series, name]) => [scenarioNames.find((scenario) => scenario === name)!, Number(series)] as const,
);

it('docs/scale.md has the number of series of two scenarios of the demo', () => {
  expect(documented.map(([scenario]) => scenario)).toEqual(['quiet', 'stuck']);
});

it.each(documented)('a target in the scenario %s has about %d series', async (scenario, series) => {
  const demo = await startDemo(scenario);
  const count = async (): Promise<number> => (await scrape(demo)).match(/^[a-z].*target="demo"/gm)?.length ?? 0;
  await waitUntil(async () => (await count()) > 0.9 * series);
  expect(await count()).toBeLessThan(1.1 * series);
});
