import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScenarioName } from '../../src/simulator/scenarios.js';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { CHROMIUM, keep, launchBrowser, overflowOf, watchedPage } from '../support/browser.js';
import { start, type Running } from '../support/processes.js';
import { hasTool } from '../support/tools.js';

/*
 * The pages of the built daemon in a browser without JavaScript. With SCREENSHOTS set, screenshots are left in the folder for
 * temporary files.
 */
const WIDTHS = [1280, 768, 380, 320] as const;
const SCHEMES = ['light', 'dark'] as const;

/** Text of the pending page that shows the cause of an alert. */
const expectedText = {
  healthy: ['No cctx is missed.', 'Live batches'],
  stuck: ['Showing the 50 oldest of', 'PendingOutbound'],
  'unsigned-batch': ['Batches short of signatures', 'below threshold'],
  'conflicting-claims': ['Conflicting events', 'conflict'],
  'missed-cctxs': ['Missed cctxs', 'not broadcast'],
} as const satisfies Partial<Record<ScenarioName, readonly string[]>>;

const scenarios = Object.keys(expectedText) as (keyof typeof expectedText)[];

describe.skipIf(!hasTool(CHROMIUM))('the pages, in a browser without JavaScript', () => {
  let browser: Browser;
  let simulators: Simulator[] = [];
  let daemon: Running;

  beforeAll(async () => {
    browser = await launchBrowser();
    simulators = await Promise.all(
      scenarios.map(async (scenario) =>
        startSimulator({ host: '127.0.0.1', port: 0, seed: 1, scenario, blockTimeMs: 2000, tick: false }),
      ),
    );
    daemon = await start([`--config.file=${configFile(simulators)}`]);
    while ((await request(`${daemon.url}/-/ready`)).statusCode !== 200) await sleep(50);
  });

  afterAll(async () => {
    await browser.close();
    await daemon.stop();
    await Promise.all(simulators.map(async (simulator) => simulator.close()));
  });

  describe.each(WIDTHS)('%i pixels wide', (width) => {
    it.each(SCHEMES)('fit the width and load nothing else in the %s scheme', async (colorScheme) => {
      const context = await browser.newContext({
        viewport: { width, height: 900 },
        colorScheme,
        javaScriptEnabled: false,
      });
      for (const path of ['/', '/pending', '/pending?sort=transfers.amount&dir=desc']) {
        const { page, said, asked } = await watchedPage(context);
        const response = await page.goto(daemon.url + path);
        expect(response?.status()).toBe(200);
        expect(response?.headers()['content-security-policy']).toContain("default-src 'none'");
        expect(asked).toEqual([daemon.url + path]);
        expect(await overflowOf(page), `${path} at ${width}`).toBe(0);
        expect(said, 'no violation of the content policy').toEqual([]);
        await keep(page, `pages${path.replaceAll(/\W+/g, '-')}-${width}-${colorScheme}`);
      }
      await context.close();
    });
  });

  it.each(scenarios)('show the cause of the alert in the scenario %s', async (scenario) => {
    const page = await browser.newPage({ viewport: { width: 380, height: 800 }, javaScriptEnabled: false });
    await page.goto(`${daemon.url}/pending`);
    const text = await textOf(page, scenario);
    for (const words of expectedText[scenario]) expect(text).toContain(words);
    expect(text).not.toContain('unknown');
    await page.goto(`${daemon.url}/`);
    expect(await page.innerText('body')).toContain(scenario);
    await page.close();
  });

  it('link from a statistic to its items, which can be sorted', async () => {
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

  it('show addresses shortened and numbers in groups, and copy them in full', async () => {
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

function configFile(simulators: readonly Simulator[]): string {
  const targets = simulators.map(
    ({ url, model }) => `{name: ${model.scenario}, bridge: {url: "${url}"}, crosschain: {url: "${url}", window: 500}}`,
  );
  const file = join(mkdtempSync(join(tmpdir(), 'pages-')), 'config.yml');
  writeFileSync(file, `targets: [${targets.join(', ')}]\n`);
  return file;
}

async function textOf(page: Page, target: string): Promise<string> {
  const own = page.locator(`[id="${target}/module_state"], [id="${target}/rate_limiter_input"]`);
  return (await own.allInnerTexts()).join('\n');
}
