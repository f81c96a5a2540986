import { expect, it } from 'vitest';
import { CHROMIUM, horizontalOverflow, launchBrowser } from '../support/browser.js';
import { describeIf, hasTool } from '../support/tools.js';
import { largePage } from './large-page.js';

/** Ten screens of a phone; with all rows open there are more than fifty. */
const MAX_PHONE_HEIGHT = 8000;

const PHONE = { width: 390, height: 800 };

describeIf(hasTool(CHROMIUM), 'the page of a target with 3,000 items of each kind, in a browser', async () => {
  const browser = await launchBrowser();
  const page = await browser.newPage({ viewport: PHONE, javaScriptEnabled: false });

  it('has the summaries on the first screens of a phone, and rows on demand', async () => {
    await page.setContent(largePage());
    const bottomOf = async (selector: string): Promise<number> => {
      const box = await page.locator(selector).boundingBox();
      return (box?.y ?? Number.NaN) + (box?.height ?? Number.NaN);
    };
    expect(await horizontalOverflow(page)).toBe(0);
    expect(await bottomOf('main')).toBeLessThan(MAX_PHONE_HEIGHT);
    expect(await page.locator('#pending tbody tr').first().isVisible()).toBe(false);
    await page.locator('#pending summary').click();
    expect(await page.locator('#pending tbody tr').first().isVisible()).toBe(true);
    expect(await horizontalOverflow(page)).toBe(0);
  });
});
