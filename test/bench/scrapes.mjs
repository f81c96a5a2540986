/** Latency of scrapes while large documents are polled, and scrapes per second. */
import { gzipSync } from 'node:zlib';
import { startDaemon } from './daemon.mjs';
import { start } from './processes.mjs';
import { quantile, spread } from './statistics.mjs';

const MEGABYTES = 25;
const PAUSE_MS = 5;
const MAX_P99_MS = 10;
const MAX_SLOWEST_MS = 50;
const MIN_PLAIN_RATIO = 0.5;
const MIN_GZIP_PER_SECOND = 1000;

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
  const scrape = async ({ url: base }, ms) => {
    const options = { url: `${base}/metrics`, connections: 1, pauseMs: PAUSE_MS, durationMs: ms };
    return (await scraper.request(options)).map((seconds) => seconds * 1000);
  };
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

const SERIES = 10_000;
const CONNECTIONS = 16;

export async function scrapeRate({ node, durationMs, rounds }) {
  const url = `${node}/0.2`;
  const target = (index) => ({ name: `bench-${index}`, bridge: { url }, crosschain: { url, window: '500' } });
  const startTargets = async (count) => {
    const daemon = await startDaemon({
      poll: { interval: '1h', stale_after: '2h' },
      targets: Array.from({ length: count }, (_, index) => target(index)),
    });
    await daemon.untilReady();
    const plain = await daemon.metrics();
    return { daemon, plain, series: plain.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length };
  };
  const one = await startTargets(1);
  const two = await startTargets(2);
  await Promise.all([one.daemon.close(), two.daemon.close()]);
  const { daemon, plain, series } = await startTargets(Math.round(SERIES / (two.series - one.series)));
  const bare = await start('bare.mjs', [], {
    plain: Buffer.from(plain).toString('base64'),
    gzip: gzipSync(plain, { level: 1 }).toString('base64'),
  });
  const scraper = await start('scraper.mjs');
  const rate = async (base, encoding) => {
    const options = { url: `${base}/metrics`, encoding, connections: CONNECTIONS, pauseMs: 0, durationMs };
    return ((await scraper.request(options)).length / durationMs) * 1000;
  };
  const rows = [];
  for (const encoding of [undefined, 'gzip']) {
    const [own, baseline] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      baseline.push(await rate(bare.message, encoding));
      own.push(await rate(daemon.url, encoding));
    }
    const perSecond = quantile(own, 0.5);
    const figure = `scrapes per second, ${series.toLocaleString('en')} series`;
    const row = { own: spread(own, '/s', 0), baseline: spread(baseline, '/s', 0), isAtLeast: true };
    // A compressed page is small, so that the routing of Express takes most of the time.
    if (encoding === 'gzip') {
      rows.push({ ...row, figure: `${figure}, gzip`, ratio: perSecond, limit: MIN_GZIP_PER_SECOND, unit: '/s' });
    } else {
      const ratio = perSecond / quantile(baseline, 0.5);
      rows.push({ ...row, figure: `${figure}, plain ÷ bare server`, ratio, limit: MIN_PLAIN_RATIO });
    }
  }
  scraper.close();
  bare.close();
  await daemon.close();
  return rows;
}
