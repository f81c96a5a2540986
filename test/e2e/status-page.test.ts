/// <reference lib="dom" />
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashSync } from 'bcryptjs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { createAuthority } from '../support/certificates.js';
import { CHROMIUM, keep, launchBrowser, overflowOf, watchedPage, type Watched } from '../support/browser.js';
import { start, type Running } from '../support/processes.js';
import { hasTool } from '../support/tools.js';

/*
 * The status page of the built daemon in a browser: each condition of an endpoint, and how the page refreshes itself. The clock
 * of the page is advanced by the tests; everything else is real.
 */
const folder = mkdtempSync(join(tmpdir(), 'status-page-'));
const LONG = 'a-name-that-nobody-would-choose-for-a-target-but-somebody-does-because-it-says-all-there-is-0123456789';

/** The title and some of the text of the page in each condition. */
const states = {
  healthy: { title: '● Both endpoints are up', words: ['2 ● up', 'Unbatched transfers', 'Pending cctxs'] },
  failing: {
    title: '▲ 1 of 2 endpoints needs attention',
    words: ['1 ▲ failing', '→ Check the node', 'chain series are withdrawn in', 'As of the last success:'],
  },
  stale: {
    title: '■ 1 of 2 endpoints needs attention',
    words: ['1 ■ stale', 'chain series were withdrawn', '→ Check the node'],
  },
  unpolled: { title: '○ 1 of 2 endpoints are up so far', words: ['1 ○ not polled yet', 'Not polled yet 1'] },
} as const;

type StateName = keyof typeof states;
const names = Object.keys(states) as StateName[];

describe.skipIf(!hasTool(CHROMIUM))('the status page, in a browser', () => {
  let browser: Browser;
  let simulator: Simulator;
  let daemons: Record<StateName, Running>;
  let pages: Page[] = [];
  let more: Running[] = [];

  beforeAll(async () => {
    browser = await launchBrowser();
    const simulators = await Promise.all([1, 2, 3, 4].map(async (seed) => startFresh(seed)));
    const [healthy, failing, stale, unpolled] = simulators;
    if (!healthy || !failing || !stale || !unpolled) throw new Error('there are four');
    simulator = healthy;
    unpolled.fault('module_state', { kind: 'hang' });
    daemons = {
      healthy: await startDaemon(healthy),
      failing: await startDaemon(failing),
      stale: await startDaemon(stale, '{interval: 200ms, timeout: 300ms, stale_after: 3s}'),
      unpolled: await startDaemon(unpolled),
    };
    await Promise.all(names.map(async (name) => until(daemons[name], / up<\/b>|class="up"/)));
    const message = `upstream connect error or disconnect/reset before headers. ${'reset reason: overflow '.repeat(20)}`;
    for (const broken of [failing, stale]) {
      broken.fault('module_state', { kind: 'status', code: 503, body: JSON.stringify({ code: 14, message }) });
    }
    await until(daemons.failing, /class="failing"/);
    await until(daemons.stale, /class="stale"/);
    return async () => Promise.all(simulators.map(async (each) => each.close()));
  });

  afterEach(async () => {
    await Promise.all(pages.map(async (page) => page.context().close()));
    await Promise.all(more.map(async (daemon) => daemon.stop()));
    [pages, more] = [[], []];
  });

  afterAll(async () => {
    await browser.close();
    await Promise.all(names.map(async (name) => daemons[name].stop()));
  });

  async function open(url: string, options: BrowserContextOptions = {}): Promise<Watched> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 700 }, ...options });
    const watched = await watchedPage(context);
    pages.push(watched.page);
    if (options.javaScriptEnabled !== false) await watched.page.clock.install();
    await watched.page.goto(url);
    return watched;
  }

  describe.each(names)('%s', (name) => {
    it.each([1280, 360].flatMap((width) => (['light', 'dark'] as const).map((scheme) => [width, scheme] as const)))(
      'shows its condition %i pixels wide in the %s scheme, and refreshes without errors',
      async (width, colorScheme) => {
        const { page, said, asked } = await open(daemons[name].url, { viewport: { width, height: 800 }, colorScheme });
        await keep(page, `status-${name}-${width}-${colorScheme}`);
        expect(await page.title()).toBe(`${states[name].title} · bridge-exporter`);
        const text = await visibleTextOf(page);
        for (const words of states[name].words) expect(text).toContain(words);
        expect(await overflowOf(page)).toBe(0);
        await refreshed(page, () => page.innerText('#as-of time'));
        expect(said, 'no error, and no violation of the content policy').toEqual([]);
        expect(new Set(asked)).toEqual(new Set([`${daemons[name].url}/`]));
      },
    );

    it('shows the same without JavaScript, with a link to refresh', async () => {
      const { page } = await open(daemons[name].url, { javaScriptEnabled: false });
      const text = inOneLine(await page.innerText('main'));
      for (const words of states[name].words) expect(text).toContain(words.replaceAll(/[●▲■○→] /g, ''));
      expect(await page.innerText('#as-of')).toMatch(/^As of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\. Refresh$/);
      const loaded = page.waitForEvent('load');
      await page.getByText('Refresh', { exact: true }).click();
      await loaded;
      expect(page.url()).toBe(`${daemons[name].url}/`);
    });
  });

  describe('refreshes itself', () => {
    it('and preserves scroll position, focus, selection and open details', async () => {
      const { page } = await open(daemons.failing.url, { viewport: { width: 800, height: 400 } });
      await page.locator('details').first().click();
      const link = page.locator('#up a.target').first();
      await link.focus();
      await page.evaluate(() => scrollTo(0, 300));
      const selected = await page
        .locator('.remedy')
        .first()
        .evaluate((node) => {
          getSelection()?.selectAllChildren(node);
          return getSelection()?.toString();
        });
      const polls = page.locator('details summary').first();
      const before = await polls.innerText();
      await refreshed(page, () => polls.innerText());

      expect(await polls.innerText()).not.toBe(before);
      expect(await page.evaluate(() => scrollY)).toBe(300);
      expect(await page.evaluate(() => getSelection()?.toString())).toBe(selected);
      expect(selected).toContain('Check the node');
      expect(await page.locator('details').first().getAttribute('open')).toBe('');
      expect(await link.evaluate((node) => node === document.activeElement)).toBe(true);
    });

    it('and preserves the visible rows and open details when an endpoint above fails and recovers', async () => {
      const own = await startFresh(9);
      const daemon = await startDaemon(own, '{interval: 200ms, timeout: 1s, stale_after: 1h}', [
        `{name: gone, bridge: {url: "http://127.0.0.1:1"}}`,
        ...Array.from({ length: 12 }, (_, index) => `{name: t${index}, bridge: {url: "${own.url}"}}`),
      ]);
      more.push(daemon);
      await until(daemon, /t11\/module_state" class="up"/);
      const { page } = await open(daemon.url);
      const row = page.locator('[id="t9/module_state"]');
      await page.locator('[id="gone/module_state/polls"] summary').click();
      await row.evaluate((node) => node.scrollIntoView({ block: 'center' }));
      const top = await row.evaluate((node) => node.getBoundingClientRect().top);
      own.fault('rate_limiter_input', { kind: 'reset' });
      await until(daemon, /id="default\/rate_limiter_input" class="failing"/);
      await refreshed(page, () => page.title());
      expect(await page.title()).toContain('2 of 15 endpoints need attention');
      const topNow = await row.evaluate((node) => node.getBoundingClientRect().top);
      expect(Math.abs(topNow - top), 'scrolling is in whole pixels').toBeLessThan(2);

      // The row moves to another table; its details stay open.
      const details = page.locator('[id="default/rate_limiter_input/polls"]');
      await details.locator('summary').click();
      await details.locator('summary').focus();
      own.fault('rate_limiter_input', undefined);
      await until(daemon, /id="default\/rate_limiter_input" class="up"/);
      await refreshed(page, () => page.title());
      expect(await page.locator('#up [id="default/rate_limiter_input/polls"]').getAttribute('open')).toBe('');
      expect(await details.locator('summary').evaluate((node) => node === document.activeElement)).toBe(true);
      expect(await page.locator('[id="gone/module_state/polls"]').getAttribute('open')).toBe('');
      await own.close();
    });

    it('and shows an alert with the age of the data and the reason when it cannot', async () => {
      const daemon = await startDaemon(simulator);
      more.push(daemon);
      const { page } = await open(daemon.url);
      const asOf = await page.innerText('#as-of time');
      const alert = page.locator('#out-of-date');
      expect(await alert.isVisible()).toBe(false);
      await daemon.stop('SIGKILL');
      await page.clock.runFor(5000);
      await alert.waitFor();
      expect(await page.getByRole('alert').innerText()).toBe(
        `Out of date: the exporter does not respond. This page is as of ${asOf},`,
      );
      expect(await alert.innerText()).toMatch(/, \d s ago$/);
      expect(await page.title()).toBe('✖ Out of date · bridge-exporter');
      expect(await page.locator('html').getAttribute('class')).toBe('old');
      await keep(page, 'status-out-of-date');
      await page.clock.runFor(180_000);
      expect(await alert.innerText()).toMatch(/, 3 min ago$/);
    });

    it.each([
      ['an error', { status: 503, body: 'busy' }, 'the exporter responded with status 503'],
      ['a login page', { status: 200, body: '<html>log in</html>\n' }, 'the response is not from the exporter'],
      [
        'half a page',
        { status: 200, body: '<!doctype html><html data-build="x"><main>' },
        'the response is not from the exporter',
      ],
      ['a redirect', { status: 302, headers: { location: '/login' } }, 'the exporter does not respond'],
    ])('and shows an alert for %s until a refresh succeeds', async (_title, response, reason) => {
      const { page } = await open(daemons.healthy.url);
      await page.route('**/*', async (route) => route.fulfill(response));
      await page.clock.runFor(5000);
      const alert = page.locator('#out-of-date');
      await alert.waitFor();
      expect(await alert.innerText()).toContain(`Out of date: ${reason}.`);
      await page.unroute('**/*');
      await page.clock.runFor(5000);
      await alert.waitFor({ state: 'hidden' });
      expect(await page.title()).toBe('● Both endpoints are up · bridge-exporter');
    });

    it('and gives up when a response does not arrive in time', async () => {
      const { page } = await open(daemons.healthy.url);
      await page.route('**/*', () => undefined);
      await page.clock.runFor(16_000);
      await page.locator('#out-of-date').waitFor();
      expect(await page.innerText('#out-of-date')).toContain('Out of date: no response within 10 s.');
    });

    it('but not while the tab is hidden, and at once when it is visible again', async () => {
      const { page, asked } = await open(daemons.healthy.url);
      await showTab(page, false);
      await page.clock.runFor(60_000);
      expect(asked).toHaveLength(1);
      expect(await page.locator('#out-of-date').isVisible()).toBe(false);
      const asOf = await page.innerText('#as-of time');
      await until(daemons.healthy, new RegExp(`^(?![^]*${asOf})`));
      await page.route('**/*', () => undefined);
      await showTab(page, true);
      expect(await page.locator('html').getAttribute('class'), 'a page that is a minute old is marked').toBe('old');
      expect(await page.locator('#out-of-date').isVisible(), 'no alert while the refresh may still be quick').toBe(
        false,
      );
      await page.clock.runFor(2000);
      expect(await page.locator('#out-of-date').isVisible()).toBe(true);
      expect(asked).toHaveLength(2);
    });

    it('and reloads itself when another build responds', async () => {
      const { page } = await open(daemons.healthy.url);
      const { body } = await request(`${daemons.healthy.url}/`);
      const other = (await body.text()).replace(/data-build="\w+"/, 'data-build="other"');
      await page.route('**/*', async (route) => route.fulfill({ contentType: 'text/html', body: other }), { times: 1 });
      const loaded = page.waitForEvent('load');
      await page.clock.runFor(5000);
      await loaded;
      expect(await page.locator('html').getAttribute('data-build')).not.toBe('other');
    });

    it('over TLS and with a password, also one in the address', async () => {
      const { certFile, keyFile } = createAuthority().issue('exporter', ['IP:127.0.0.1']);
      const web = join(folder, 'web.yml');
      writeFileSync(
        web,
        `tls_server_config: {cert_file: ${certFile}, key_file: ${keyFile}}\nbasic_auth_users: {alice: ${hashSync('secret', 4)}}\n`,
      );
      const daemon = await startDaemon(simulator, undefined, [], `--web.config.file=${web}`);
      more.push(daemon);
      const given = [
        [daemon.url, { httpCredentials: { username: 'alice', password: 'secret' } }],
        [daemon.url.replace('//', '//alice:secret@'), {}],
      ] as const;
      for (const [url, options] of given) {
        const { page, said } = await open(url, { ...options, ignoreHTTPSErrors: true });
        await refreshed(page, () => page.innerText('#as-of time'));
        expect(await page.locator('#out-of-date').isVisible()).toBe(false);
        expect(said).toEqual([]);
      }
    });
  });
});

async function startFresh(seed: number): Promise<Simulator> {
  return startSimulator({ host: '127.0.0.1', port: 0, seed, scenario: 'healthy', blockTimeMs: 2000, tick: false });
}

let files = 0;

async function startDaemon(
  { url }: Simulator,
  poll = '{interval: 200ms, timeout: 5m, stale_after: 1h}',
  others: readonly string[] = [],
  ...flags: string[]
): Promise<Running> {
  files += 1;
  const file = join(folder, `${files}.yml`);
  const name = others.length > 0 ? 'default' : LONG;
  const own = `{name: ${name}, bridge: {url: "${url}"}, crosschain: {url: "${url}", window: 500}}`;
  writeFileSync(file, `poll: ${poll}\ntargets: [${[...others, own].join(', ')}]\n`);
  return start([`--config.file=${file}`, ...flags]);
}

const TIMEOUT_MS = 20_000;

/** Polls until the text meets the condition. */
async function eventually(look: () => Promise<string>, isWanted: (seen: string) => boolean): Promise<void> {
  const began = Date.now();
  let seen = await look();
  while (!isWanted(seen)) {
    if (Date.now() - began > TIMEOUT_MS) throw new Error(`timed out with: ${seen}`);
    await sleep(20);
    seen = await look();
  }
}

/** Waits until the served page matches. */
async function until(daemon: Running, wanted: RegExp): Promise<void> {
  const look = async (): Promise<string> => (await request(`${daemon.url}/`)).body.text();
  await eventually(look, (text) => wanted.test(text));
}

/** Advances the clock of the page until a part of it has changed. */
async function refreshed(page: Page, look: () => Promise<string>): Promise<void> {
  const before = await look();
  await eventually(
    async () => {
      await page.clock.runFor(1000);
      return look();
    },
    (seen) => seen !== before,
  );
}

/** Simulates a hidden tab, which Playwright cannot produce. */
async function showTab(page: Page, isShown: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, !isShown);
}

/** The text of the page with the shapes that the style adds. */
async function visibleTextOf(page: Page): Promise<string> {
  await page.evaluate(() => {
    for (const marked of document.querySelectorAll('.state, .remedy')) {
      const mark = getComputedStyle(marked, '::before').content.replaceAll(/["/]/g, '').trim();
      marked.prepend(`${mark} `);
    }
  });
  return inOneLine(await page.innerText('main'));
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
