/**
 * Polls 40 targets of 1 MB every 2 s for 25 minutes (SOAK_MINUTES), with 5 % broken responses, and fails unless resident memory is
 * flat after five minutes.
 */
import { start, stopAll } from './processes.mjs';
import { startDaemon } from './daemon.mjs';

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 25);
const WARM_UP_MINUTES = 5;
const TARGETS = 40;
const MAX_RESIDENT_MIB = 240;
const MAX_GROWTH_MIB = 20;

const minutes = (count) => new Promise((resolve) => setTimeout(resolve, count * 60_000));

const { message: node } = await start('node.mjs');
const daemon = await startDaemon({
  poll: { interval: '2s', timeout: '2s' },
  targets: Array.from({ length: TARGETS }, (_, index) => ({
    name: `soak-${index}`,
    bridge: { url: `${node}/broken/1` },
  })),
});
const samples = [];
for (let minute = 1; minute <= MINUTES; minute += 1) {
  await minutes(1);
  const { residentMiB, peakMiB, cpuSeconds } = daemon.usage();
  const polls = await daemon.sum('bridge_exporter_polls_total');
  const failures = await daemon.sum('bridge_exporter_poll_failures_total');
  samples.push(residentMiB);
  console.log(
    JSON.stringify({
      minute,
      polls,
      failures,
      cpuSeconds,
      residentMiB: Math.round(residentMiB),
      peakMiB: Math.round(peakMiB),
    }),
  );
}
await daemon.close();
stopAll();

const warm = samples.slice(WARM_UP_MINUTES - 1);
const growthMiB = (warm.at(-1) ?? 0) - (warm[0] ?? 0);
if (Math.max(...samples) > MAX_RESIDENT_MIB) console.error(`resident memory exceeds ${MAX_RESIDENT_MIB} MiB`);
if (growthMiB > MAX_GROWTH_MIB)
  console.error(`resident memory grew by ${growthMiB.toFixed(0)} MiB after ${WARM_UP_MINUTES} minutes`);
process.exitCode = Math.max(...samples) > MAX_RESIDENT_MIB || growthMiB > MAX_GROWTH_MIB ? 1 : 0;
