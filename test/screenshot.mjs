/**
 * Creates docs/status-page.png with three simulated chains and a failing endpoint: `npm run build && node test/screenshot.mjs`. The
 * environment variable CHROMIUM sets the path of the browser, by default /usr/bin/chromium.
 *
 * It takes more than 20 minutes, because an alert fires when its condition has held for some time.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { request } from 'undici';
import { createLog } from '../dist/cli/log.js';
import { validateConfig } from '../dist/config/loader.js';
import { startExporter } from '../dist/exporter.js';
import { createPollExecutor } from '../dist/poll/poll.js';
import { startSimulator } from '../dist/simulator/simulator.js';

const FILE = process.env.SCREENSHOT ?? fileURLToPath(new URL('../docs/status-page.png', import.meta.url));
const { version: VERSION } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const SCENARIOS = { mainnet: 'unsigned-batch', testnet: 'healthy', staging: 'missed-cctxs' };

const simulators = await Promise.all(
  Object.values(SCENARIOS).map((scenario) =>
    startSimulator({ host: '127.0.0.1', port: 0, seed: 1, scenario, blockTimeMs: 2000 }),
  ),
);
const [mainnet, , staging] = simulators;
const watched = mainnet.model.stakingValidators().find(({ description }) => description.moniker === 'Validator Guild');
const targets = Object.keys(SCENARIOS).map((name, index) => {
  const { url } = simulators[index];
  const watch = name === 'mainnet' ? [watched.operator_address] : [];
  return { name, bridge: { url, watch }, crosschain: { url } };
});
const tokens = mainnet.model.tokens.map((token) => ({
  contract: token.contract,
  symbol: token.symbol,
  decimals: String(token.decimals),
}));
const poll = { interval: '5s', timeout: '5s', stale_after: '5m' };
const result = validateConfig({ poll, targets, tokens }, (path) => path.join('.'));
if (!result.ok) throw new Error(result.problems.join('\n'));

const executor = createPollExecutor('bridge-exporter/screenshot');
const exporter = await startExporter(
  result.config,
  executor,
  createLog({ 'log.level': 'silent', 'log.format': 'json' }),
  {
    listen: { host: '127.0.0.1', port: 0 },
    telemetryPath: '/metrics',
    maxRequests: 40,
    build: { version: VERSION, revision: 'unknown', nodeVersion: process.versions.node },
    shard: { index: 1, count: 1 },
    enableLifecycle: false,
    loadConfig: async () => result,
  },
);

async function waitForPage(pattern) {
  for (;;) {
    const { body } = await request(exporter.url);
    if (pattern.test(await body.text())) return;
    await sleep(1000);
  }
}

await waitForPage(/<h1>[^]*state critical[^]*<\/h1>/);
const message = 'upstream connect error or disconnect/reset before headers';
staging.fault('module_state', { kind: 'status', code: 503, body: JSON.stringify({ code: 14, message }) });
await waitForPage(/module_state[^]*responded with status 503/);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const page = await browser.newPage({ viewport: { width: 1120, height: 870 }, colorScheme: 'light' });
await page.goto(exporter.url);
// Playwright hides the caret with an inline style, which the content security policy forbids.
await page.screenshot({ path: FILE, caret: 'initial' });
await browser.close();
await exporter.close();
executor.close();
await Promise.all(simulators.map((simulator) => simulator.close()));
