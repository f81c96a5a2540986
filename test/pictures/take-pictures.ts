import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { startRecordedPrometheus } from '../dashboards/recorded-prometheus.js';
import { launchBrowser } from '../support/browser.js';
import { projectPath, readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { drawDashboard } from './draw-dashboard.js';
import { HOURS, incident } from './incident.js';
import { startPages } from './page-pictures.js';
import { withSource } from './picture-source.js';
import { dashboardPictures, pagePictures } from './pictures.js';

/** Takes the pictures whose names contain one of these words, or all. */
export async function takePictures(words: readonly string[], folder?: string): Promise<void> {
  const isWanted = ({ name }: { readonly name: string }): boolean =>
    words.length === 0 || words.some((word) => name.includes(word));
  const browser = await launchBrowser();
  const save = (name: string, source: string, png: Buffer): void => {
    const file = join(folder ?? projectPath('docs'), `${name}.png`);
    writeFileSync(file, withSource(png, source));
    console.log(file);
  };
  await takeDashboards(browser, dashboardPictures.filter(isWanted), save, folder !== undefined);
  await takePages(browser, pagePictures.filter(isWanted), save);
  await browser.close();
}

type Save = (name: string, source: string, png: Buffer) => void;

async function takeDashboards(
  browser: Browser,
  pictures: typeof dashboardPictures,
  save: Save,
  isExpanded: boolean,
): Promise<void> {
  if (pictures.length === 0) return;
  const data = createTempFolder();
  const prometheus = await startRecordedPrometheus(data, incident);
  const page = await browser.newPage({ viewport: { width: 1600, height: 800 } });
  for (const { name, dashboard, source } of pictures) {
    await page.setContent(await drawDashboard(dashboard, prometheus, { hours: HOURS, isExpanded }));
    save(name, source, await page.screenshot({ fullPage: true }));
  }
  await prometheus.stop();
  rmSync(data.path, { recursive: true });
}

async function takePages(browser: Browser, pictures: typeof pagePictures, save: Save): Promise<void> {
  if (pictures.length === 0) return;
  const { version } = JSON.parse(readProjectFile('package.json')) as { readonly version: string };
  const page = await browser.newPage({ viewport: { width: 1120, height: 900 }, colorScheme: 'light' });
  for (const { name, scenario, path, source } of pictures) {
    const pages = await startPages(scenario, version);
    await page.goto(pages.url + path);
    // Playwright hides the caret with an inline style, which the content security policy forbids.
    save(name, source, await page.screenshot({ caret: 'initial' }));
    await pages.close();
  }
}
