/** CPU time and memory at the pace of users: polls are seconds apart, so V8 keeps little of the code optimized. */
import { startDaemon } from './daemon.mjs';
import { sleep } from './statistics.mjs';

const SCRAPE_INTERVAL_MS = 15_000;

const PACES = [
  { targets: 10, intervalSeconds: 30 },
  { targets: 1, intervalSeconds: 5 },
];
const MAX_CPU_MS = 30;
const MAX_RESIDENT_MIB = 110;

/** Measures all paces at once, since each uses a few percent of a core. */
export async function pace({ node, warmUpMs, durationMs }) {
  const rows = await Promise.all(PACES.map((one) => measure(node, warmUpMs, durationMs, one)));
  return rows.flat();
}

async function measure(node, warmUpMs, durationMs, { targets, intervalSeconds }) {
  const daemon = await startDaemon({
    poll: { interval: `${intervalSeconds}s` },
    targets: Array.from({ length: targets }, (_, index) => ({ name: `bench-${index}`, bridge: { url: `${node}/1` } })),
  });
  await daemon.untilReady();
  const scraping = setInterval(() => void daemon.metrics(), SCRAPE_INTERVAL_MS);
  await sleep(warmUpMs);
  const [before, pollsBefore] = [daemon.usage(), await daemon.sum('bridge_exporter_polls_total')];
  await sleep(durationMs);
  const [after, pollsAfter] = [daemon.usage(), await daemon.sum('bridge_exporter_polls_total')];
  clearInterval(scraping);
  await daemon.close();
  const polls = pollsAfter - pollsBefore;
  const cpuMs = ((after.cpuSeconds - before.cpuSeconds) * 1000) / polls;
  const pair = `${targets} target${targets > 1 ? 's' : ''} of 1 MB every ${intervalSeconds} s, a scrape every 15 s`;
  return [
    {
      figure: `${pair}: CPU time of the process per poll`,
      own: `${cpuMs.toFixed(0)} ms (${polls} polls)`,
      ratio: cpuMs,
      limit: MAX_CPU_MS,
      unit: 'ms',
    },
    {
      figure: `${pair}: resident memory`,
      own: `${after.residentMiB.toFixed(0)} MiB (peak ${after.peakMiB.toFixed(0)})`,
      ratio: after.residentMiB,
      limit: MAX_RESIDENT_MIB,
      unit: 'MiB',
    },
  ];
}
