import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** A headless browser that asks nobody but who it is sent to. */
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

export interface Watched {
  readonly page: Page;
  /** What went wrong in it: errors, and whatever else it said on its console. */
  readonly said: readonly string[];
  readonly asked: readonly string[];
}

/** A page whose complaints and requests are kept. */
export async function watchedPage(context: BrowserContext): Promise<Watched> {
  const page = await context.newPage();
  const said: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  page.on('request', (request) => asked.push(request.url()));
  return { page, said, asked };
}

/** Pixels by which the document is wider than the window. */
export async function overflowOf(page: Page): Promise<number> {
  const width = page.viewportSize()?.width ?? Number.NaN;
  const box = await page.locator('html').evaluate((html) => html.scrollWidth);
  return box - width;
}

/** With SCREENSHOTS set, leaves what is seen in the folder for temporary files. */
export async function keep(page: Page, name: string): Promise<void> {
  if (!process.env['SCREENSHOTS']) return;
  const folder = join(tmpdir(), 'bridge-exporter-screenshots');
  mkdirSync(folder, { recursive: true });
  // Hiding the caret would take a style of its own, which the content policy refuses.
  await page.screenshot({ path: join(folder, `${name}.png`), caret: 'initial' });
}
