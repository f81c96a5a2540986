import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import sharp from 'sharp';
import { request } from 'undici';

const DASHBOARDS = new URL('../../../grafana/dashboards/', import.meta.url);
const WIDTH = 1600;
/** The components of Grafana expect a browser with these globals. */
const STYLE = readFileSync(new URL('node_modules/uplot/dist/uPlot.min.css', import.meta.url), 'utf8');
const HTML = `<!doctype html><meta charset="utf-8"><style>html,body{margin:0;overflow:visible!important} ${STYLE}</style>
<script>window.process = { env: {} }; window.__grafana_public_path__ = '/';</script>
<div id="root"></div>`;
const BROWSER_FLAGS =
  `--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update
  --disable-sync`.split(/\s+/);

/**
 * Writes a picture of each dashboard of this time range, with the data of a Prometheus, and returns the panels without data. With
 * `maxHeight`, a picture ends below the last line of panels that fits.
 */
export async function renderDashboards({
  prometheusUrl,
  from,
  to,
  scrapeInterval,
  selected,
  fileOf,
  isExpanded,
  maxHeight = Infinity,
}) {
  const script = await bundlePage();
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: BROWSER_FLAGS,
  });
  const empty = [];
  for (const name of readdirSync(DASHBOARDS).filter((file) => file.endsWith('.json'))) {
    const page = await openPage(browser, script, prometheusUrl);
    page.on('pageerror', (error) => console.error(`${name}: ${error.message}`));
    const dashboard = JSON.parse(readFileSync(new URL(name, DASHBOARDS), 'utf8'));
    const panels = await page.evaluate((options) => globalThis.renderDashboard(options), {
      dashboard,
      from,
      to,
      scrapeInterval,
      selected,
      isExpanded,
    });
    empty.push(
      ...panels.filter(({ type, frames }) => type !== 'row' && frames === 0).map((panel) => ({ name, ...panel })),
    );
    const height = await page.evaluate(contentHeight, maxHeight);
    await page.setViewportSize({ width: WIDTH, height });
    // Fonts, and components that measure their size first.
    await page.waitForTimeout(1500);
    const png = await page.screenshot();
    await sharp(png)
      .png({ palette: true, colours: 256, dither: 0, effort: 10 })
      .toFile(fileOf(name.replace('.json', '')));
    await page.close();
  }
  await browser.close();
  return empty;
}

/** Runs in the page. The height of the lines of panels that fit into a maximum. */
function contentHeight(maxHeight) {
  const margin = 6;
  const edges = Array.from(document.querySelectorAll('[data-panel]'), (panel) => panel.getBoundingClientRect());
  const ends = edges
    .map(({ bottom }) => bottom)
    .filter((end) => !edges.some(({ top, bottom }) => top < end && bottom > end));
  const fitting = ends.filter((end) => end + margin <= (maxHeight ?? Infinity));
  return Math.ceil(Math.max(...fitting) + margin);
}

/** A module of Node.js imports the whole CommonJS module as default export, but the component that Grafana expects is a property of it. */
const scrollbars = {
  name: 'scrollbars',
  setup({ onResolve, onLoad }) {
    const name = 'react-custom-scrollbars-2';
    onResolve({ filter: new RegExp(`^${name}$`), namespace: 'file' }, () => ({
      path: name,
      namespace: 'default-export',
    }));
    onLoad({ filter: /./, namespace: 'default-export' }, () => ({
      contents: `export { Scrollbars as default } from '${name}';`,
      resolveDir: import.meta.dirname,
    }));
  },
};

async function bundlePage() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.jsx', import.meta.url))],
    bundle: true,
    plugins: [scrollbars],
    write: false,
    minify: true,
    jsx: 'automatic',
    // The style sheets belong to date pickers and editors, which no panel uses, except that of uPlot.
    loader: { '.css': 'empty', '.svg': 'dataurl', '.woff2': 'dataurl', '.ttf': 'dataurl' },
    define: { 'process.env.NODE_ENV': '"production"', global: 'window' },
    logLevel: 'error',
  });
  return outputFiles[0].text;
}

/** The components need an origin, for example for the local storage. No request leaves the browser. */
async function openPage(browser, script, prometheusUrl) {
  const page = await browser.newPage({ viewport: { width: WIDTH, height: 900 } });
  await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: HTML }));
  await page.exposeFunction('requestPrometheus', async (path, parameters) => {
    const { body } = await request(`${prometheusUrl}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    return body.json();
  });
  await page.goto('http://localhost/');
  await page.addScriptTag({ content: script });
  return page;
}
