/** How fast scrapes are answered: while large documents are polled, and many at once. */
import { gzipSync } from 'node:zlib';
import { startDaemon } from './daemon.mjs';
import { start } from './processes.mjs';
import { quantile, spread } from './statistics.mjs';

const MB = 25;
const PAUSE_MS = 5;

export async function scrapeLatency({ node, forMs, rounds }) {
  // What is measured is what the polls take of the machine, not what a node on the same one would.
  const url = `${node}/far/${MB}`;
  const started = async (interval) => {
    const daemon = await startDaemon({
      poll: { interval, timeout: '20s', stale_after: '2h' },
      targets: [{ name: 'bench', bridge: { url }, crosschain: { url, window: '500' } }],
    });
    await daemon.untilReady();
    return daemon;
  };
  const [idleOne, busyOne] = [await started('1h'), await started('100ms')];
  const scraper = await start('scraper.mjs');
  const latency = async (daemon, ms) => {
    const question = { url: `${daemon.url}/metrics`, connections: 1, pauseMs: PAUSE_MS, forMs: ms };
    return (await scraper.ask(question)).map((seconds) => seconds * 1000);
  };
  await latency(idleOne, forMs / 4);
  await latency(busyOne, forMs / 4);
  const [idle, busy] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    // Stopped, as its polls would be what the idle one is measured beside.
    busyOne.pause();
    idle.push(...(await latency(idleOne, forMs / rounds)));
    busyOne.goOn();
    busy.push(...(await latency(busyOne, forMs / rounds)));
  }
  scraper.close();
  await Promise.all([idleOne.close(), busyOne.close()]);
  const [idle99, busy99] = [quantile(idle, 0.99), quantile(busy, 0.99)];
  return [
    {
      figure: `scrape while ${MB} MB documents are polled, p99 ÷ idle`,
      own: `${busy99.toFixed(2)} ms`,
      floor: `${idle99.toFixed(2)} ms`,
      ratio: busy99 / idle99,
      limit: 3,
    },
    {
      figure: 'the slowest of these scrapes',
      own: `${Math.max(...busy).toFixed(1)} ms`,
      floor: `${Math.max(...idle).toFixed(1)} ms`,
      ratio: Math.max(...busy),
      limit: 30,
      unit: 'ms',
    },
  ];
}

const SERIES = 10_000;
const CONNECTIONS = 16;

export async function scrapeRate({ node, forMs, rounds }) {
  const url = `${node}/0.2`;
  const target = (index) => ({ name: `bench-${index}`, bridge: { url }, crosschain: { url, window: '500' } });
  const started = async (targets) => {
    const daemon = await startDaemon({
      poll: { interval: '1h', stale_after: '2h' },
      targets: Array.from({ length: targets }, (_, index) => target(index)),
    });
    await daemon.untilReady();
    const plain = await daemon.metrics();
    return { daemon, plain, series: plain.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length };
  };
  const one = await started(1);
  const two = await started(2);
  await Promise.all([one.daemon.close(), two.daemon.close()]);
  const { daemon, plain, series } = await started(Math.round(SERIES / (two.series - one.series)));
  const bare = await start('bare.mjs', [], {
    plain: Buffer.from(plain).toString('base64'),
    gzip: gzipSync(plain, { level: 1 }).toString('base64'),
  });
  const scraper = await start('scraper.mjs');
  const rate = async (address, encoding) => {
    const asked = { url: `${address}/metrics`, encoding, connections: CONNECTIONS, pauseMs: 0, forMs };
    return ((await scraper.ask(asked)).length / forMs) * 1000;
  };
  const rows = [];
  for (const [name, encoding] of [['plain'], ['gzip', 'gzip']]) {
    const own = [];
    const floor = [];
    for (let round = 0; round < rounds; round += 1) {
      floor.push(await rate(bare.said, encoding));
      own.push(await rate(daemon.url, encoding));
    }
    rows.push({
      figure: `scrapes a second, ${series.toLocaleString('en')} series, ${name}, ÷ bare server`,
      own: spread(own, '/s', 0),
      floor: spread(floor, '/s', 0),
      ratio: quantile(own, 0.5) / quantile(floor, 0.5),
      limit: 0.8,
      isAtLeast: true,
    });
  }
  scraper.close();
  bare.close();
  await daemon.close();
  return rows;
}
