/** CPU time and memory at the pace of users, where V8 keeps little of the code compiled: polls are seconds apart. */
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { startDaemon } from './daemon.mjs';

const SCRAPE_INTERVAL_MS = 15_000;

/** `json_exporter` for the same bodies: 15 values by JSONPath, probed by each scrape. Measured once, not in this run. */
const PACES = [
  { targets: 10, intervalSeconds: 30, cpuLimitMs: 30, memoryLimitMiB: 110 },
  { targets: 1, intervalSeconds: 5, cpuLimitMs: 30, memoryLimitMiB: 110 },
];

/** All paces at once, since each takes a few percent of a core. */
export async function pace({ node, forMs }) {
  const rows = await Promise.all(PACES.map((each) => measure(node, forMs, each)));
  return rows.flat();
}

async function measure(node, forMs, { targets, intervalSeconds, cpuLimitMs, memoryLimitMiB }) {
  const url = `${node}/1`;
  const daemon = await startDaemon({
    poll: { interval: `${intervalSeconds}s` },
    targets: Array.from({ length: targets }, (_, index) => ({ name: `bench-${index}`, bridge: { url } })),
  });
  await daemon.untilReady();
  const scraping = setInterval(() => void scrape(daemon), SCRAPE_INTERVAL_MS);
  // The first polls compile everything.
  await sleep(forMs / 4);
  const [before, pollsBefore] = [daemon.usage(), polls(await scrape(daemon))];
  await sleep(forMs);
  const [after, pollsAfter] = [daemon.usage(), polls(await scrape(daemon))];
  clearInterval(scraping);
  await daemon.close();
  const count = pollsAfter - pollsBefore;
  const cpuMs = ((after.cpuSeconds - before.cpuSeconds) * 1000) / count;
  const name = `${targets} target${targets > 1 ? 's' : ''} of 1 MB every ${intervalSeconds} s, scraped every 15 s`;
  return [
    {
      figure: `${name}: CPU per poll, all in`,
      own: `${cpuMs.toFixed(0)} ms (${count} polls)`,
      floor: '',
      ratio: cpuMs,
      limit: cpuLimitMs,
      unit: 'ms',
    },
    {
      figure: `${name}: resident memory`,
      own: `${after.residentMiB.toFixed(0)} MiB (peak ${after.peakMiB.toFixed(0)})`,
      floor: '',
      ratio: after.residentMiB,
      limit: memoryLimitMiB,
      unit: 'MiB',
    },
  ];
}

async function scrape({ url }) {
  const { body } = await request(`${url}/metrics`, { headers: { 'accept-encoding': 'gzip' } });
  return gunzipSync(Buffer.from(await body.arrayBuffer())).toString();
}

function polls(text) {
  const lines = text.split('\n').filter((line) => line.startsWith('bridge_exporter_polls_total{'));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
