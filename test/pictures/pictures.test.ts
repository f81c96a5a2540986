import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';
import { launchBrowser } from '../support/browser.js';
import { startDemo } from '../support/demo.js';
import { projectPath, readProjectFile } from '../support/project-files.js';

/*
 * The pictures of pages in the documentation. `npm run build && TAKE_PICTURES=1 npx vitest run test/pictures` takes them again with Chromium.
 */

const SOURCES = 'test/pictures/sources.json';

/** That of the command above the picture. */
const README_SCENARIO = scenarioNames.find((name) =>
  readProjectFile('README.md').includes(`npm run demo -- --scenario ${name}\n`),
)!;

const pictures: readonly (readonly [name: string, scenario: ScenarioName, path: string])[] = [
  ['status-page', README_SCENARIO, '/'],
  ['pending-page', 'unsigned-batch', '/pending?target=demo'],
];

/** The hash of the golden pages and of the style: it changes with everything that a page shows. */
function sourceOf(name: string, scenario: ScenarioName): string {
  const golden = readdirSync(projectPath('test/pages/golden')).map((file) => `test/pages/golden/${file}`);
  const files = golden.filter((file) => file.endsWith(`-${name.replace('-page', '')}.html`));
  const texts = [scenario, ...[...files, 'src/pages/style.ts'].map(readProjectFile)];
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

it.runIf(process.env['TAKE_PICTURES']).each(pictures)('%s is taken again', async (name, scenario, path) => {
  const browser = await launchBrowser();
  const page = await browser.newPage({ viewport: { width: 1120, height: 900 }, colorScheme: 'light' });
  const { url } = await startDemo(scenario);
  await page.goto(url + path);
  // Playwright hides the caret with an inline style, which the content security policy forbids.
  writeFileSync(projectPath(`docs/${name}.png`), await page.screenshot({ caret: 'initial' }));
  const sources = JSON.parse(readProjectFile(SOURCES)) as Record<string, string>;
  sources[name] = sourceOf(name, scenario);
  writeFileSync(projectPath(SOURCES), `${JSON.stringify(sources, undefined, 2)}\n`);
  expect(readProjectFile('README.md') + readProjectFile('docs/pages.md')).toContain(`${name}.png)`);
});

it('the pictures show the pages of now', () => {
  const sources = Object.fromEntries(pictures.map(([name, scenario]) => [name, sourceOf(name, scenario)]));
  expect(JSON.parse(readProjectFile(SOURCES))).toEqual(sources);
});
