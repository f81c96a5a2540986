/** Many targets in one process, and the time from start to ready. */
import { startDaemon, valuesOf } from './daemon.mjs';
import { median, sleep } from './statistics.mjs';

/** The time between polls is at most the interval plus 10 % of jitter. */
const MAX_JITTER = 1.1;

/** On one core, which the node and the scraper do not use. */
export async function manyTargets({ node, targets, intervalSeconds, rounds }) {
  const url = `${node}/1`;
  const config = {
    poll: { interval: `${intervalSeconds}s`, timeout: '20s' },
    targets: Array.from({ length: targets }, (_, index) => ({ name: `bench-${index}`, bridge: { url } })),
  };
  const daemon = await startDaemon(config, ['taskset', '--cpu-list', '0']);
  await daemon.untilReady();
  const before = daemon.usage();
  const startedAt = performance.now();
  const durationMs = rounds * intervalSeconds * MAX_JITTER * 1000;
  let oldest = 0;
  while (performance.now() - startedAt < durationMs) {
    const now = Date.now() / 1000;
    const attempts = valuesOf(await daemon.metrics(), 'bridge_exporter_last_attempt_timestamp_seconds');
    oldest = Math.max(oldest, ...attempts.map((timestamp) => now - timestamp));
    await sleep(1000);
  }
  const elapsed = (performance.now() - startedAt) / 1000;
  const after = daemon.usage();
  const failed = await daemon.sum('bridge_exporter_poll_failures_total');
  await daemon.close();
  const cores = (after.cpuSeconds - before.cpuSeconds) / elapsed;
  const period = intervalSeconds * MAX_JITTER;
  const setup = `${targets.toLocaleString('en')} targets of 1 MB every ${intervalSeconds} s on one core`;
  return [
    {
      figure: `${setup}: share of the core`,
      own: `${after.residentMiB.toFixed(0)} MiB (peak ${after.peakMiB.toFixed(0)})`,
      ratio: cores,
      limit: 0.5,
    },
    {
      figure: `${setup}: oldest poll ÷ interval with jitter`,
      own: `${oldest.toFixed(1)} s, ${failed} failed`,
      baseline: `${period.toFixed(1)} s`,
      ratio: failed > 0 ? Infinity : oldest / period,
      limit: 1.05,
    },
  ];
}

export async function startToReady({ node, runs }) {
  const seconds = [];
  for (let index = 0; index < runs; index += 1) {
    const url = `${node}/0.2`;
    const daemon = await startDaemon({
      targets: [{ name: 'bench', bridge: { url }, crosschain: { url, window: '500' } }],
    });
    await daemon.untilReady();
    seconds.push((performance.now() - daemon.startedAt) / 1000);
    await daemon.close();
  }
  return [
    {
      figure: 'from the start of the process to ready, with a node that responds at once',
      own: `${median(seconds).toFixed(2)} s`,
      ratio: median(seconds),
      limit: 1,
      unit: 's',
    },
  ];
}
