import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Starts a headless browser that sends no requests of its own. */
export function launchBrowser(): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return chromium.launch({ executablePath: CHROMIUM, args });
}

export interface RecordedPage {
  readonly page: Page;
  /** Console messages and uncaught errors. */
  readonly consoleMessages: readonly string[];
  readonly requestedUrls: readonly string[];
}

/** Opens a page whose console messages and requests are recorded. */
export async function openRecordedPage(context: BrowserContext): Promise<RecordedPage> {
  const page = await context.newPage();
  const consoleMessages: string[] = [];
  const requestedUrls: string[] = [];
  page.on('console', (message) => consoleMessages.push(message.text()));
  page.on('pageerror', (error) => consoleMessages.push(error.message));
  page.on('request', (request) => requestedUrls.push(request.url()));
  return { page, consoleMessages, requestedUrls };
}

/** The number of pixels by which the document is wider than the window. */
export async function horizontalOverflow(page: Page): Promise<number> {
  const width = page.viewportSize()?.width ?? Number.NaN;
  const documentWidth = await page.locator('html').evaluate((html) => html.scrollWidth);
  return documentWidth - width;
}

/** Saves a screenshot in the folder for temporary files when the environment variable SCREENSHOTS is set. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (!process.env['SCREENSHOTS']) return;
  const folder = join(tmpdir(), 'bridge-exporter-screenshots');
  mkdirSync(folder, { recursive: true });
  // Playwright hides the caret with an inline style, which the content security policy forbids.
  await page.screenshot({ path: join(folder, `${name}.png`), caret: 'initial' });
}
