/** Latency of scrapes while large documents are polled. */
import { startDaemon } from './daemon.mjs';
import { start } from './processes.mjs';
import { quantile } from './statistics.mjs';

const MEGABYTES = 25;
const MAX_P99_MS = 10;
const MAX_SLOWEST_MS = 50;

export async function scrapeLatency({ node, durationMs, rounds }) {
  const url = `${node}/remote/${MEGABYTES}`;
  const startPolling = async (interval) => {
    const daemon = await startDaemon({
      poll: { interval, timeout: '20s', stale_after: '2h' },
      targets: [{ name: 'bench', bridge: { url }, crosschain: { url, window: '500' } }],
    });
    await daemon.untilReady();
    return daemon;
  };
  const [idleDaemon, busyDaemon] = [await startPolling('1h'), await startPolling('100ms')];
  const scraper = await start('scraper.mjs');
  const scrape = ({ url: base }, ms) => scraper.request({ url: `${base}/metrics`, durationMs: ms });
  await scrape(idleDaemon, durationMs / 4);
  await scrape(busyDaemon, durationMs / 4);
  const [idle, busy] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    // Otherwise the polls of the busy daemon would affect the idle one.
    busyDaemon.pause();
    idle.push(...(await scrape(idleDaemon, durationMs / rounds)));
    busyDaemon.resume();
    busy.push(...(await scrape(busyDaemon, durationMs / rounds)));
  }
  scraper.close();
  await Promise.all([idleDaemon.close(), busyDaemon.close()]);
  const p99 = (values) => quantile(values, 0.99);
  return [
    {
      figure: `scrapes while ${MEGABYTES} MB documents are polled: p99 (baseline: idle)`,
      own: `${p99(busy).toFixed(1)} ms`,
      baseline: `${p99(idle).toFixed(1)} ms`,
      ratio: p99(busy),
      limit: MAX_P99_MS,
      unit: 'ms',
    },
    {
      figure: `scrapes while ${MEGABYTES} MB documents are polled: slowest (baseline: idle)`,
      own: `${Math.max(...busy).toFixed(1)} ms`,
      baseline: `${Math.max(...idle).toFixed(1)} ms`,
      ratio: Math.max(...busy),
      limit: MAX_SLOWEST_MS,
      unit: 'ms',
    },
  ];
}
