import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { CHROMIUM, horizontalOverflow, launchBrowser, openRecordedPage, takeScreenshot } from '../support/browser.js';
import { get } from '../support/http.js';
import { startDaemon, type Daemon } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { hasTool } from '../support/tools.js';
import { waitUntil } from '../support/wait-for.js';

const folder = createTempFolder();
const WIDTHS = [1280, 768, 380, 320] as const;
const SCHEMES = ['light', 'dark'] as const;

/** Texts on the pending page that explain each scenario. */
const expectedTexts = {
  healthy: ['No cctx is missed.', 'Live batches'],
  stuck: ['Showing the 50 oldest of', 'PendingOutbound'],
  'unsigned-batch': ['Batches short of signatures', 'below threshold'],
  'conflicting-claims': ['Conflicting events', 'conflict'],
  'missed-cctxs': ['Missed cctxs', 'not broadcast'],
} as const satisfies Partial<Record<ScenarioName, readonly string[]>>;

const scenarios = Object.keys(expectedTexts) as (keyof typeof expectedTexts)[];

describe.skipIf(!hasTool(CHROMIUM))('the pages in a browser without JavaScript', () => {
  let browser: Browser;
  let simulators: Simulator[] = [];
  let daemon: Daemon;

  beforeAll(async () => {
    browser = await launchBrowser();
    simulators = await Promise.all(scenarios.map(async (scenario) => startTestSimulator({ scenario })));
    daemon = await startDaemon([`--config.file=${writeConfig(simulators)}`]);
    await waitUntil(async () => (await get(`${daemon.url}/-/ready`)).status === 200);
  });

  afterAll(async () => {
    await browser.close();
    await daemon.stop();
    await Promise.all(simulators.map(async (simulator) => simulator.close()));
  });

  it.each(['/', '/pending', '/pending?sort=transfers.amount&dir=desc'])(
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
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme });
          await takeScreenshot(page, `pages${path.replaceAll(/\W+/g, '-')}-${width}-${colorScheme}`);
        }
      }
      expect(consoleMessages, 'no violation of the content security policy').toEqual([]);
      await context.close();
    },
  );

  it('explain every scenario', async () => {
    const page = await browser.newPage({ viewport: { width: 380, height: 800 }, javaScriptEnabled: false });
    await page.goto(`${daemon.url}/pending`);
    for (const scenario of scenarios) {
      const text = await textOf(page, scenario);
      for (const expected of expectedTexts[scenario]) expect(text, scenario).toContain(expected);
      expect(text, scenario).not.toContain('unknown');
    }
    await page.goto(`${daemon.url}/`);
    const status = await page.innerText('body');
    for (const scenario of scenarios) expect(status).toContain(scenario);
    await page.close();
  });

  it('link a statistic of the status page to its items, which can be sorted', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
    await page.goto(`${daemon.url}/`);
    await page.locator('tr', { hasText: 'unsigned-batch' }).getByText('Batches short of signatures').click();
    expect(page.url()).toBe(`${daemon.url}/pending#unsigned-batch/batches`);
    const batches = page.locator('[id="unsigned-batch/batches"]');
    await batches.getByText('Signed power').click();
    expect(page.url()).toBe(`${daemon.url}/pending?sort=batches.signed&dir=asc#unsigned-batch/batches`);
    expect(await batches.locator('tbody tr').first().innerText()).toContain('below threshold');
    expect(await batches.locator('tbody tr').last().innerText()).toContain('sufficient');
    await page.close();
  });

  it('shorten an address and group the digits of a number without changing the text', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
    await page.goto(`${daemon.url}/pending#stuck/transfers`);
    const address = page.locator('[id="stuck/transfers"] td[data-label="Destination"] code').first();
    const { state } = simulatorOf('stuck').model.moduleState();
    const [oldest] = state.unbatched_transfers.toSorted((a, b) => Number(a.id) - Number(b.id));
    expect(await address.innerText()).toBe(oldest?.dest_address);
    expect(await address.getAttribute('title')).toBe(oldest?.dest_address);
    expect((await address.boundingBox())?.width).toBeLessThan(150);
    const amount = page.locator('[id="stuck/transfers"] td[data-label="Amount"] .digits').first();
    expect(await amount.innerText()).toBe(oldest?.erc20_token.amount);
    await page.close();
  });

  function simulatorOf(scenario: (typeof scenarios)[number]): Simulator {
    const simulator = simulators[scenarios.indexOf(scenario)];
    if (simulator === undefined) throw new Error(`no simulator for ${scenario}`);
    return simulator;
  }
});

function writeConfig(simulators: readonly Simulator[]): string {
  const targets = simulators.map(
    ({ url, model }) => `{name: ${model.scenario}, bridge: {url: "${url}"}, crosschain: {url: "${url}", window: 500}}`,
  );
  return folder.write('config.yml', `targets: [${targets.join(', ')}]\n`);
}

/** The text of the sections of a target. */
async function textOf(page: Page, target: string): Promise<string> {
  const sections = page.locator(`[id="${target}/module_state"], [id="${target}/rate_limiter_input"]`);
  return (await sections.allInnerTexts()).join('\n');
}
