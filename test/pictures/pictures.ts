import { readdirSync } from 'node:fs';
import { dashboardFiles, type DashboardFile } from '../dashboards/dashboard-files.js';
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
  /** Path, on the simulated exporter. */
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
function pageSource(page: string): string {
  const pages = readdirSync(projectPath('test/pages/golden')).filter((name) => name.endsWith(`-${page}.html`));
  const files = [...pages.map((name) => `test/pages/golden/${name}`), 'src/pages/style.ts'];
  return hashOf(files.map((file) => readProjectFile(file)));
}

export const pagePictures: readonly PagePicture[] = [
  { name: 'status-page', path: '/', source: pageSource('status') },
  { name: 'pending-page', path: '/pending?target=mainnet', source: pageSource('pending') },
];
