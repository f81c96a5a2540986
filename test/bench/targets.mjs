/** Many targets at once, and how soon the first is ready. */
import { seriesOf, startDaemon } from './daemon.mjs';
import { median, spread } from './statistics.mjs';

/** The pause between polls is the interval and up to a tenth of it; what is beyond that, and a second, is late. */
const JITTER = 1.1;
const GRACE_SECONDS = 1;

export async function manyTargets({ node, targets, intervalSeconds, rounds }) {
  const url = `${node}/1`;
  const daemon = await startDaemon({
    poll: { interval: `${intervalSeconds}s`, timeout: '20s' },
    targets: Array.from({ length: targets }, (_, index) => ({ name: `bench-${index}`, bridge: { url } })),
  });
  await daemon.untilReady();
  const before = daemon.usage();
  const startedAt = performance.now();
  const due = rounds * intervalSeconds * JITTER * 1000;
  let oldest = 0;
  while (performance.now() - startedAt < due) {
    const now = Date.now() / 1000;
    const last = seriesOf(await daemon.metrics(), 'bridge_exporter_last_attempt_timestamp_seconds');
    oldest = Math.max(oldest, ...last.map((at) => now - at));
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  const elapsed = (performance.now() - startedAt) / 1000;
  const after = daemon.usage();
  const failed = seriesOf(await daemon.metrics(), 'bridge_exporter_poll_failures_total').reduce((a, b) => a + b, 0);
  await daemon.close();
  const share = (after.cpuSeconds - before.cpuSeconds) / elapsed;
  return [
    {
      figure: `${targets.toLocaleString('en')} targets of 1 MB every ${intervalSeconds} s: oldest poll ÷ interval with jitter`,
      own: `${oldest.toFixed(1)} s, ${failed} failed, ${(100 * share).toFixed(0)} % of a core, ${after.residentMiB.toFixed(0)} MiB (peak ${after.peakMiB.toFixed(0)})`,
      floor: `${(intervalSeconds * JITTER).toFixed(1)} s`,
      ratio: failed > 0 ? Infinity : oldest / (intervalSeconds * JITTER),
      limit: 1 + GRACE_SECONDS / intervalSeconds,
    },
  ];
}

export async function startToReady({ node, times }) {
  const seconds = [];
  for (let time = 0; time < times; time += 1) {
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
      figure: 'start of the process to ready, the node answers at once',
      own: spread(seconds, 's', 2),
      floor: '',
      ratio: median(seconds),
      limit: 1,
      unit: 's',
    },
  ];
}
