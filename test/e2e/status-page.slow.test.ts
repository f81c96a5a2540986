/// <reference lib="dom" />
import { hashSync } from 'bcryptjs';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/simulator.js';
import { CHROMIUM, launchBrowser, openRecordedPage, type RecordedPage } from '../support/browser.js';
import { atEnd } from '../support/at-end.js';
import { createAuthority } from '../support/certificates.js';
import type { JudgedTarget } from '../../src/engine/target-problems.js';
import { hostileSnapshots, pendingAt, judgeTarget, problem } from '../pages/sample-snapshots.js';
import { get } from '../support/http.js';
import { startDaemon, type Daemon } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hang, withStatus } from '../support/faults.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { describeIf, hasTool } from '../support/tools.js';
import { waitUntil } from '../support/wait-for.js';

/*
 * The status page in a browser, in each state of an endpoint, and its automatic refresh. Tests advance the clock of the
 * page; the daemon and the simulator are real.
 */
const folder = createTempFolder();
const authority = createAuthority();
const TIMEOUT_MS = 20_000;
const LONG_NAME =
  'a-name-that-nobody-would-choose-for-a-target-but-somebody-does-because-it-says-all-there-is-0123456789';

/** The beginning of the title, and the text of the page in each state. */
const states = {
  healthy: { title: `● No problem on ${LONG_NAME}`, texts: ['● up', 'Waiting transfers', 'Pending cctxs'] },
  failing: {
    title: `△ building up: ${LONG_NAME}: polls of module_state fail, for `,
    texts: ['▲ failing', '→ Check the node', 'As of the last success:'],
  },
  withdrawn: {
    title: `○ ${LONG_NAME} cannot be judged`,
    texts: ['■ withdrawn', '→ Check the node'],
  },
  initial: { title: `○ ${LONG_NAME} cannot be judged`, texts: ['Endpoints 1 of 2 up'] },
} as const;

type StateName = keyof typeof states;
const names = Object.keys(states) as StateName[];

describeIf(hasTool(CHROMIUM), 'the status page', async () => {
  const browser = await launchBrowser();
  const [healthy, failing, withdrawn, initial] = [
    await startTestSimulator({ seed: 1 }),
    await startTestSimulator({ seed: 2 }),
    await startTestSimulator({ seed: 3 }),
    await startTestSimulator({ seed: 4 }),
  ];
  initial.fault('module_state', hang);
  const daemons: Record<StateName, Daemon> = {
    healthy: await startWith(healthy),
    failing: await startWith(failing),
    withdrawn: await startWith(withdrawn, '{interval: 1s, timeout: 2s, stale_after: 10s}'),
    initial: await startWith(initial),
  };
  await Promise.all(names.map(async (name) => waitForPage(daemons[name], /class="state up"/)));
  // What stands still since the first poll cannot be judged.
  await waitUntil(async () => {
    healthy.model.advance(1);
    return (await get(`${daemons.healthy.url}/`)).text.includes('No problem on');
  });
  const message = `upstream connect error or disconnect/reset before headers. ${'reset reason: overflow '.repeat(20)}`;
  for (const broken of [failing, withdrawn]) {
    broken.fault('module_state', withStatus(503, JSON.stringify({ code: 14, message })));
  }
  await waitForPage(daemons.failing, /class="state failing"/);
  await waitForPage(daemons.withdrawn, /class="state withdrawn"/);

  async function open(url: string, options: BrowserContextOptions = {}): Promise<RecordedPage> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 700 }, ...options });
    const recorded = await openRecordedPage(context);
    atEnd(async () => context.close());
    if (options.javaScriptEnabled !== false) await recorded.page.clock.install();
    await recorded.page.goto(url);
    return recorded;
  }

  it.each(names)('shows the state %s, with JavaScript as without it', async (name) => {
    const { page, consoleMessages, requestedUrls } = await open(daemons[name].url);
    await waitForRefresh(page, () => page.innerText('#as-of time'));
    expect(await page.title()).toContain(states[name].title);
    const content = await textWithMarkers(page);
    for (const text of states[name].texts) expect(content).toContain(text);
    expect(consoleMessages, 'no error, and no violation of the content security policy').toEqual([]);
    expect(new Set(requestedUrls)).toEqual(new Set([`${daemons[name].url}/`]));

    const { page: plain } = await open(daemons[name].url, { javaScriptEnabled: false });
    const plainContent = collapseWhitespace(await plain.innerText('main'));
    for (const text of states[name].texts) expect(plainContent).toContain(text.replaceAll(/[●▲■○→] /g, ''));
    expect(await plain.innerText('#as-of')).toMatch(/^As of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\. Refresh$/);
  });

  describe('the automatic refresh', () => {
    it('updates the content and keeps scroll position and focus', async () => {
      const { page } = await open(daemons.failing.url, { viewport: { width: 800, height: 400 } });
      // In one step, as below, because a refresh between finding and focusing would leave an element that is no longer shown.
      await page.evaluate(() => {
        document.querySelector<HTMLElement>('#endpoints a')?.focus();
        scrollTo(0, 300);
      });
      const polls = page.locator('#endpoints td[data-label="Polls"]').last();
      const before = await polls.innerText();
      await waitForRefresh(page, () => polls.innerText());

      expect(await polls.innerText()).not.toBe(before);
      expect(await page.evaluate(() => scrollY)).toBe(300);
      expect(await page.evaluate(() => document.querySelector('#endpoints a') === document.activeElement)).toBe(true);
    });

    it('keeps open details of a problem, and shows a problem that appears above the visible row without moving it', async () => {
      const targets = (problems: readonly JudgedTarget[]): string =>
        pendingAt(hostileSnapshots(['Alpha']), 1, {}, { problems });
      const { page } = await open(daemons.healthy.url, { viewport: { width: 800, height: 400 } });
      const build = await page.locator('html').getAttribute('data-build');
      const serve = async (html: string): Promise<void> => {
        await page.unrouteAll();
        const body = html.replace(/data-build="\w+"/, `data-build="${build}"`);
        await page.route('**/*', async (route) => route.fulfill({ contentType: 'text/html', body }));
      };
      const votes = ['Alpha', 'Beta', 'Gamma'].map((name) =>
        problem('BridgeOrchestratorMissingVotes', 'warning', 31, {
          id: name,
          summary: `validator ${name} does not vote`,
        }),
      );
      await serve(targets([judgeTarget([...votes, ...votes])]));
      await page.goto(`${daemons.healthy.url}/pending`);
      const details = page.locator('details[id="Alpha/more"]');
      await details.locator('summary').click();
      const row = page.locator('#transfers tbody tr').first();
      await row.evaluate((node) => node.scrollIntoView({ block: 'center' }));
      const top = await row.evaluate((node) => node.getBoundingClientRect().top);
      await serve(targets([judgeTarget([problem('BridgeOracleStalled', 'critical', 18), ...votes, ...votes])]));
      await waitForRefresh(page, () => page.title());

      expect(await page.title()).toContain('■ critical');
      expect(await details.getAttribute('open')).toBe('');
      // In one step, because the next refresh replaces the row.
      const newTop = await page.evaluate(
        () => document.querySelector('#transfers tbody tr')?.getBoundingClientRect().top ?? Number.NaN,
      );
      expect(Math.abs(newTop - top), 'scroll positions are whole pixels').toBeLessThan(2);
    });

    it('keeps what is being typed into the filter', async () => {
      const { page } = await open(`${daemons.healthy.url}/pending`);
      const filter = page.locator('#filter-text');
      await filter.pressSequentially('4105');
      await filter.press('ArrowLeft');
      await waitForRefresh(page, () => page.innerText('#as-of time'));
      await page.keyboard.type('0');

      expect(await filter.inputValue()).toBe('41005');
    });

    it('shows at once that the browser has lost its connection', async () => {
      const { page } = await open(daemons.healthy.url);
      await page.context().setOffline(true);
      await page.locator('#out-of-date').waitFor();
      expect(await page.innerText('#out-of-date')).toContain('Out of date: the exporter does not respond.');
      await page.context().setOffline(false);
      await page.locator('#out-of-date').waitFor({ state: 'hidden' });
    });

    it('shows since when and why it fails', async () => {
      const daemon = await startWith(healthy);
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
      await page.clock.runFor(180_000);
      expect(await alert.innerText()).toMatch(/, 3 min ago$/);
    });

    it.each([
      ['an error response', { status: 503, body: 'busy' }, 'the exporter responded with status 503'],
      [
        'the page of another server',
        { status: 200, body: '<html>log in</html>\n' },
        'the response is not from the exporter',
      ],
      [
        'an incomplete page',
        { status: 200, body: '<!doctype html><html data-build="x"><main>' },
        'the response is not from the exporter',
      ],
      ['a redirect', { status: 302, headers: { location: '/login' } }, 'the exporter does not respond'],
    ])('reports %s until it succeeds', async (_title, response, reason) => {
      const { page } = await open(daemons.healthy.url);
      await page.route('**/*', async (route) => route.fulfill(response));
      await page.clock.runFor(5000);
      const alert = page.locator('#out-of-date');
      await alert.waitFor();
      expect(await alert.innerText()).toContain(`Out of date: ${reason}.`);
      await page.unroute('**/*');
      await page.clock.runFor(5000);
      await alert.waitFor({ state: 'hidden' });
      expect(await page.title()).toBe(`● No problem on ${LONG_NAME} · bridge-exporter`);
    });

    it('reports a response that takes too long', async () => {
      const { page } = await open(daemons.healthy.url);
      await page.route('**/*', () => undefined);
      await page.clock.runFor(16_000);
      await page.locator('#out-of-date').waitFor();
      expect(await page.innerText('#out-of-date')).toContain('Out of date: no response within 10 s.');
    });

    it('pauses while the tab is hidden, and runs at once when it is shown', async () => {
      const { page, requestedUrls } = await open(daemons.healthy.url);
      await showTab(page, false);
      await page.clock.runFor(60_000);
      expect(requestedUrls).toHaveLength(1);
      expect(await page.locator('#out-of-date').isVisible()).toBe(false);
      const asOf = await page.innerText('#as-of time');
      await waitForPage(daemons.healthy, new RegExp(`^(?![^]*${asOf})`));
      await page.route('**/*', () => undefined);
      await showTab(page, true);
      expect(await page.locator('html').getAttribute('class'), 'data of a minute ago are marked as old').toBe('old');
      expect(await page.locator('#out-of-date').isVisible(), 'the response may arrive soon').toBe(false);
      await page.clock.runFor(2000);
      expect(await page.locator('#out-of-date').isVisible()).toBe(true);
      expect(requestedUrls).toHaveLength(2);
    });

    it('reloads the page when another version responds', async () => {
      const { page } = await open(daemons.healthy.url);
      const { text } = await get(`${daemons.healthy.url}/`);
      const other = text.replace(/data-build="\w+"/, 'data-build="other"');
      await page.route('**/*', async (route) => route.fulfill({ contentType: 'text/html', body: other }), { times: 1 });
      const loaded = page.waitForEvent('load');
      await page.clock.runFor(5000);
      await loaded;
      expect(await page.locator('html').getAttribute('data-build')).not.toBe('other');
    });

    it('works over TLS and with a password, also one in the address', async () => {
      const { certFile, keyFile } = authority.issue('exporter', ['IP:127.0.0.1']);
      const web = folder.write(
        'web.yml',
        `tls_server_config: {cert_file: ${certFile}, key_file: ${keyFile}}\nbasic_auth_users: {alice: ${hashSync('secret', 4)}}\n`,
      );
      const daemon = await startWith(healthy, undefined, `--web.config.file=${web}`);
      const variants = [
        [daemon.url, { httpCredentials: { username: 'alice', password: 'secret' } }],
        [daemon.url.replace('//', '//alice:secret@'), {}],
      ] as const;
      for (const [url, options] of variants) {
        const { page, consoleMessages } = await open(url, { ...options, ignoreHTTPSErrors: true });
        await waitForRefresh(page, () => page.innerText('#as-of time'));
        expect(await page.locator('#out-of-date').isVisible()).toBe(false);
        expect(consoleMessages).toEqual([]);
      }
    });
  });
});

let files = 0;

async function startWith(
  { url }: Simulator,
  poll = '{interval: 1s, timeout: 5m, stale_after: 1h}',
  ...flags: string[]
): Promise<Daemon> {
  files += 1;
  const target = `{name: ${LONG_NAME}, bridge: {url: "${url}"}, crosschain: {url: "${url}", window: 500}}`;
  const file = folder.write(`${files}.yml`, `poll: ${poll}\ntargets: [${target}]\n`);
  return startDaemon([`--config.file=${file}`, ...flags]);
}

/** Waits until the page that the daemon serves matches. */
async function waitForPage({ url }: Daemon, pattern: RegExp): Promise<void> {
  await waitUntil(async () => pattern.test((await get(`${url}/`)).text), { timeoutMs: TIMEOUT_MS });
}

/** Advances the clock of the page until it has refreshed a value that changes. */
async function waitForRefresh(page: Page, readValue: () => Promise<string>): Promise<void> {
  const before = await readValue();
  const hasChanged = async (): Promise<boolean> => {
    await page.clock.runFor(5000);
    return (await readValue()) !== before;
  };
  await waitUntil(hasChanged, { timeoutMs: TIMEOUT_MS, intervalMs: 250 });
}

/** Simulates hiding or showing the tab, which Playwright cannot do. */
async function showTab(page: Page, isShown: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, !isShown);
}

/** The text of the page including the symbols that CSS inserts before some elements. */
async function textWithMarkers(page: Page): Promise<string> {
  // In one step, because a refresh in between would replace the content.
  const text = await page.evaluate(() => {
    for (const marked of document.querySelectorAll('.state, .remedy')) {
      const mark = getComputedStyle(marked, '::before').content.replaceAll(/["/]/g, '').trim();
      marked.prepend(`${mark} `);
    }
    return document.querySelector('main')?.innerText ?? '';
  });
  return collapseWhitespace(text);
}

function collapseWhitespace(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
