import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';
import { projectPath, readProjectFile } from '../support/project-files.js';

/*
 * The pictures of the documentation and what they are taken of.
 */

export interface PagePicture {
  readonly name: string;
  readonly scenario: ScenarioName;
  readonly path: string;
}

export const OVERVIEW = 'dashboard-bridge-overview';

/** That of the command above the picture. */
const README_SCENARIO = scenarioNames.find((name) =>
  readProjectFile('README.md').includes(`npm run demo -- --scenario ${name}\n`),
)!;

export const pagePictures: readonly PagePicture[] = [
  { name: 'status-page', scenario: README_SCENARIO, path: '/' },
  { name: 'pending-page', scenario: 'unsigned-batch', path: '/pending?target=demo' },
];

/** The hashes of what the pictures show: the whole pages of tests, which change with everything that a page shows, and their style. */
export function pictureSources(): Readonly<Record<string, string>> {
  const golden = readdirSync(projectPath('test/pages/golden'));
  const ofPages = pagePictures.map(({ name, scenario }) => {
    const files = golden.filter((file) => file.endsWith(`-${name.replace('-page', '')}.html`));
    return [name, hashOf([scenario], [...files.map((file) => `test/pages/golden/${file}`), 'src/pages/style.ts'])];
  });
  const ofOverview = hashOf([], ['grafana/dashboards/bridge-overview.json', 'test/pictures/incident.ts']);
  return { [OVERVIEW]: ofOverview, ...Object.fromEntries(ofPages) };
}

const hashOf = (texts: readonly string[], files: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([...texts, ...files.map(readProjectFile)]))
    .digest('hex');
