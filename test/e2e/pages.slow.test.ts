/// <reference lib="dom" />
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { CHROMIUM, horizontalOverflow, launchBrowser, openRecordedPage } from '../support/browser.js';
import { hostileSnapshots, pendingAt, statusAt, judgeTarget, problem } from '../pages/sample-snapshots.js';
import { get } from '../support/http.js';
import { startDaemon } from '../support/processes.js';
import { startReverseProxy } from '../support/reverse-proxy.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { describeIf, hasTool } from '../support/tools.js';
import { waitUntil } from '../support/wait-for.js';

const WIDTHS = [1600, 1280, 768, 420, 320] as const;

/** Opens all lists, whose rows are shown on demand. */
async function openDetails(page: Page): Promise<void> {
  await page.locator('main details').evaluateAll((all) => {
    for (const details of all) details.setAttribute('open', '');
  });
}

const scenarios: readonly ScenarioName[] = ['healthy', 'stuck', 'unsigned-batch', 'stalled-oracle', 'missed-cctxs'];

describeIf(hasTool(CHROMIUM), 'the pages in a browser without JavaScript', async () => {
  const browser = await launchBrowser();
  const simulators = await Promise.all(scenarios.map(async (scenario) => startTestSimulator({ scenario })));
  const targets = simulators.map(
    ({ url, model }) => `{name: ${model.scenario}, bridge: {url: "${url}"}, crosschain: {url: "${url}", window: 500}}`,
  );
  const config = createTempFolder().write(
    'config.yml',
    `targets: [${targets.join(', ')}]
`,
  );
  const daemon = await startDaemon([`--config.file=${config}`]);
  await waitUntil(async () => (await get(`${daemon.url}/-/ready`)).status === 200);

  it.each(['/', '/pending', '/pending?target=stuck&q=0x', '/config'])(
    'fit all widths and load no other resources: %s',
    async (path) => {
      const context = await browser.newContext({ javaScriptEnabled: false });
      const { page, consoleMessages, requestedUrls } = await openRecordedPage(context);
      const response = await page.goto(daemon.url + path);
      expect(response?.status()).toBe(200);
      expect(response?.headers()['content-security-policy']).toContain("default-src 'none'");
      expect(requestedUrls).toEqual([daemon.url + path]);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        expect(await horizontalOverflow(page), `${path} at ${width}`).toBe(0);
      }
      expect(consoleMessages, 'no violation of the content security policy').toEqual([]);
      await context.close();
    },
  );

  it('link a statistic of the status page to its items, and list batches that lack signatures first', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
    await page.goto(`${daemon.url}/`);
    await page.locator('tr', { hasText: 'unsigned-batch' }).getByText('Waiting transfers').click();
    expect(page.url()).toBe(`${daemon.url}/pending?target=unsigned-batch#tokens`);
    const batches = page.locator('[id="batches"]');
    await openDetails(page);
    expect(await batches.locator('tbody tr').first().innerText()).toContain('needs signatures');
    expect(await batches.locator('tbody tr').last().innerText()).not.toContain('needs signatures');
    await page.close();
  });

  it('work under a path prefix of a reverse proxy', async () => {
    const proxy = await startReverseProxy(daemon.url, '/monitoring/bridge');
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const { page, consoleMessages, requestedUrls } = await openRecordedPage(context);
    await page.goto(proxy);
    for (const [link, path] of [
      ['Pending', 'pending'],
      ['stuck', 'pending?target=stuck'],
      [/^Pending events/, 'pending?target=stuck#claims'],
      ['Configuration', 'config'],
      ['Status', ''],
    ] as const) {
      await openDetails(page);
      await page.getByRole('link', { name: link, exact: true }).first().click();
      await page.waitForURL(proxy + path);
    }
    await page.goto(`${proxy}pending?target=stuck`);
    await page.getByRole('link', { name: 'Metrics', exact: true }).click();
    await page.waitForURL(`${proxy}metrics`);
    expect(requestedUrls.filter((url) => !url.startsWith(proxy))).toEqual([]);
    expect(consoleMessages).toEqual([]);
    await context.close();
  });

  it('have landmarks, and can be used with the keyboard', async () => {
    const page = await browser.newPage({ viewport: { width: 420, height: 900 } });
    await page.goto(`${daemon.url}/pending?target=stalled-oracle`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('MAIN');
    for (const role of ['banner', 'main'] as const) expect(await page.getByRole(role).count()).toBe(1);
    expect(await page.getByRole('navigation', { name: 'Pages', exact: true }).count()).toBe(1);
    const level1 = page.getByRole('heading', { level: 1 });
    expect(await level1.count()).toBe(1);
    // Tables stay tables for screen readers although they look like cards.
    const blocking = page.getByRole('table', { name: 'Validators' });
    expect(await blocking.getByRole('rowheader').count()).toBeGreaterThan(3);
    expect(await blocking.getByRole('cell').count()).toBeGreaterThan(9);
    expect(await page.getByRole('region', { name: /^Claims of pending events/ }).count()).toBe(1);
    await page.close();
  });
});

/** Pages of hostile documents and problems, which no simulator sends. */
describe.skipIf(!hasTool(CHROMIUM))('hostile names', () => {
  const long = 'W'.repeat(10_000);
  const names = [
    `<img src=x onerror=alert(1)>${'M'.repeat(90)}`,
    '\u202Eahpla\u2066',
    'אלפא בטא',
    'Аlpha',
    'Alpha',
    `Z${'\u0301'.repeat(100)}`,
    '🏴‍☠️'.repeat(20),
  ];

  it('break neither the layout nor the order of the text', async () => {
    const browser = await launchBrowser();
    const texts = { summary: '2 waiting', details: `not voted: ${names.join(', ')}, 53 % of the power ${long}` };
    const problems = [judgeTarget([problem('BridgeOracleStalled', 'critical', 18, texts)], [long])];
    const snapshots = hostileSnapshots(names);
    const pages = { status: statusAt(snapshots, 1, { problems }), pending: pendingAt(snapshots, 1, {}, { problems }) };
    const page = await browser.newPage({ javaScriptEnabled: false });
    for (const [title, html] of Object.entries(pages)) {
      await page.setContent(html);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        expect(await horizontalOverflow(page), `${title} at ${width}`).toBe(0);
      }
    }
    // The names are in the order of the text from left to right, with what follows on their right.
    const lefts = await page.locator('#validators tbody tr').evaluateAll((rows) =>
      rows.map((row) => {
        const [name, power] = [row.querySelector('b'), row.querySelector('td')];
        return (name?.getBoundingClientRect().right ?? 0) <= (power?.getBoundingClientRect().left ?? 0);
      }),
    );
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(lefts).toHaveLength(4);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('#validators tbody tr').first().innerText()).toContain('<img src=x');
  });
});
