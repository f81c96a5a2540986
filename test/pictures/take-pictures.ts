import { rmSync, writeFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { dashboardFiles } from '../dashboards/dashboard-files.js';
import { startRecordedPrometheus } from '../dashboards/recorded-prometheus.js';
import { launchBrowser } from '../support/browser.js';
import { startDemo } from '../support/demo.js';
import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { drawTables } from './draw-dashboard.js';
import { incident } from './incident.js';
import { OVERVIEW, pagePictures, pictureSources, type PagePicture } from './pictures.js';

/** Takes all pictures, and writes what they are taken of. */
export async function takePictures(): Promise<void> {
  const browser = await launchBrowser();
  const save = (name: string, png: Buffer): void => writeFileSync(projectPath(`docs/${name}.png`), png);
  save(OVERVIEW, await takeOverview(browser));
  for (const picture of pagePictures) save(picture.name, await takePage(browser, picture));
  await browser.close();
  writeFileSync(projectPath('test/pictures/sources.json'), `${JSON.stringify(pictureSources(), undefined, 2)}\n`);
}

async function takeOverview(browser: Browser): Promise<Buffer> {
  const data = createTempFolder();
  const prometheus = await startRecordedPrometheus(data, incident);
  const page = await browser.newPage({ viewport: { width: 1600, height: 800 } });
  await page.setContent(
    await drawTables(
      dashboardFiles.find(({ name }) => name === 'bridge-overview.json')!,
      prometheus,
    ),
  );
  const png = await page.screenshot({ fullPage: true });
  await prometheus.stop();
  rmSync(data.path, { recursive: true });
  return png;
}

async function takePage(browser: Browser, { scenario, path }: PagePicture): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 1120, height: 900 }, colorScheme: 'light' });
  const demo = await startDemo(scenario);
  await page.goto(demo.url + path);
  // Playwright hides the caret with an inline style, which the content security policy forbids.
  const png = await page.screenshot({ caret: 'initial' });
  await demo.stop();
  return png;
}
