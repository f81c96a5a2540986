import { expect, it } from 'vitest';
import { scenarioNames } from '../../src/simulator/scenarios.js';
import { startPages } from '../pictures/page-pictures.js';
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
  const demo = await startPages(scenario, '0.0.0');
  try {
    const count = async (): Promise<number> => {
      const text = await (await fetch(`${demo.url}/metrics`)).text();
      return text.match(/^[a-z].*target="demo"/gm)?.length ?? 0;
    };
    await waitUntil(async () => Math.abs((await count()) - series) < 0.1 * series);
    expect(await count()).toBeGreaterThan(0.9 * series);
  } finally {
    await demo.close();
  }
});
