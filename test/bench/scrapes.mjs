/** Latency of scrapes while large documents are polled: a scrape waits for what occupies the only thread. */
import { startDaemon } from './daemon.mjs';
import { documents } from './bodies.mjs';
import { start } from './processes.mjs';
import { median } from './statistics.mjs';

const MEGABYTES = 10;

export async function scrapeLatency({ node, runMs, runs }) {
  const daemon = await startDaemon({
    poll: { interval: '1s', timeout: '20s' },
    targets: [{ name: 'bench', bridge: { url: `${node}/remote/${MEGABYTES}` } }],
  });
  await daemon.untilReady();
  const scraper = await start('scraper.mjs');
  const slowest = async () => Math.max(...(await scraper.request({ url: `${daemon.url}/metrics`, durationMs: runMs })));
  await slowest();
  const [own, baseline] = [[], []];
  for (let run = 0; run < runs; run += 1) {
    own.push(await slowest());
    baseline.push(median(Array.from({ length: 5 }, parseMilliseconds)));
  }
  scraper.close();
  await daemon.close();
  return [
    {
      figure: `slowest scrape beside polls of ${MEGABYTES} MB ÷ JSON.parse of the body`,
      own: `${median(own).toFixed(0)} ms`,
      baseline: `${median(baseline).toFixed(0)} ms`,
      ratio: median(own.map((ms, run) => ms / baseline[run])),
      limit: 2,
    },
  ];
}

function parseMilliseconds() {
  const body = documents.module_state.body(MEGABYTES * 1e6);
  const started = performance.now();
  JSON.parse(body.toString());
  return performance.now() - started;
}
