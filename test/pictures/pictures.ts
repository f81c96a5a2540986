import { readdirSync } from 'node:fs';
import { dashboardFiles, type DashboardFile } from '../dashboards/dashboard-files.js';
import { scenarioNames, type ScenarioName } from '../../src/simulator/scenarios.js';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { hashOf } from './picture-source.js';

/*
 * The pictures of the documentation and what they are taken of.
 */

export interface DashboardPicture {
  readonly name: string;
  readonly dashboard: DashboardFile;
  /** The hash of what the picture shows. */
  readonly source: string;
}

export interface PagePicture {
  readonly name: string;
  readonly scenario: ScenarioName;
  readonly path: string;
  readonly source: string;
}

/** What the data of the dashboards comes from. */
const INCIDENT = readProjectFile('test/pictures/incident.ts');

export const dashboardPictures: readonly DashboardPicture[] = dashboardFiles.map((dashboard) => ({
  name: `dashboard-${dashboard.name.replace('.json', '')}`,
  dashboard,
  source: hashOf([dashboard.text, INCIDENT]),
}));

/** The whole pages of tests, which change with everything that a page shows, and their style. */
function pageSource(page: string, scenario: ScenarioName): string {
  const pages = readdirSync(projectPath('test/pages/golden')).filter((name) => name.endsWith(`-${page}.html`));
  const files = [...pages.map((name) => `test/pages/golden/${name}`), 'src/pages/style.ts'];
  return hashOf([scenario, ...files.map((file) => readProjectFile(file))]);
}

/** That of the command above the picture. */
const README_SCENARIO = scenarioNames.find((name) =>
  readProjectFile('README.md').includes(`npm run demo -- --scenario ${name}\n`),
)!;

export const pagePictures: readonly PagePicture[] = [
  { name: 'status-page', scenario: README_SCENARIO, path: '/', source: pageSource('status', README_SCENARIO) },
  {
    name: 'pending-page',
    scenario: 'unsigned-batch',
    path: '/pending?target=demo',
    source: pageSource('pending', 'unsigned-batch'),
  },
];
