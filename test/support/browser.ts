/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { atEnd } from './at-end.js';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Starts a headless browser that sends no requests of its own, until the end of the tests. */
export async function launchBrowser(): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  const browser = await chromium.launch({ executablePath: CHROMIUM, args });
  atEnd(async () => browser.close());
  return browser;
}

export type RecordedPage = Awaited<ReturnType<typeof openRecordedPage>>;

/** Opens a page whose requests, console messages and uncaught errors are recorded. */
export async function openRecordedPage(context: BrowserContext) {
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

/** Texts that are on each other, and texts in a column that is too narrow for words, by their bounding boxes. */
export async function layoutFaults(page: Page): Promise<readonly string[]> {
  return page.locator('body').evaluate((body) => {
    interface Box {
      readonly text: string;
      readonly left: number;
      readonly right: number;
      readonly top: number;
      readonly bottom: number;
    }
    /** A box without what a clipping ancestor hides. */
    const clipped = (rect: DOMRect, node: Node): Omit<Box, 'text'> => {
      let { left, right, top, bottom } = rect;
      for (let element = node.parentElement; element !== null && element !== body; element = element.parentElement) {
        if (getComputedStyle(element).overflowX === 'visible') continue;
        const clip = element.getBoundingClientRect();
        left = Math.max(left, clip.left);
        right = Math.min(right, clip.right);
        top = Math.max(top, clip.top);
        bottom = Math.min(bottom, clip.bottom);
      }
      return { left, right, top, bottom };
    };
    const faults: string[] = [];
    const boxes: Box[] = [];
    const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const text = (node.textContent ?? '').trim();
      if (text === '') continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const rects = Array.from(range.getClientRects(), (rect) => clipped(rect, node));
      const visible = rects.filter(({ left, right, top, bottom }) => right - left > 1 && bottom - top > 1);
      boxes.push(...visible.map((rect) => ({ ...rect, text: text.slice(0, 40) })));
      if (visible.length > 4 && visible.every(({ left, right }) => right - left < 32)) {
        faults.push(`“${text.slice(0, 40)}” is broken into letters`);
      }
    }
    // The content area of a font can be a little higher than a line.
    const TOLERANCE = 3;
    const sorted = boxes.toSorted((a, b) => a.top - b.top);
    for (const [index, one] of sorted.entries()) {
      for (let next = index + 1; next < sorted.length; next += 1) {
        const other = sorted[next];
        if (other === undefined || other.top >= one.bottom - TOLERANCE) break;
        const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        if (width > TOLERANCE) faults.push(`“${one.text}” and “${other.text}” are on each other`);
      }
    }
    return faults;
  });
}
