/**
 * Polls 40 targets of 1 MB every 2 s for 25 minutes (SOAK_MINUTES), with 5 % broken responses, and fails unless resident memory and
 * the number of open files are flat after five minutes.
 */
import { start, stopAll } from './processes.mjs';
import { startDaemon } from './daemon.mjs';

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? 25);
const WARM_UP_MINUTES = 5;
const TARGETS = 40;
const MAX_RESIDENT_MIB = 240;
const MAX_GROWTH_MIB = 20;
const MAX_GROWTH_FILES = 20;

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
  const usage = { ...daemon.usage(), openFiles: daemon.openFiles() };
  const polls = await daemon.sum('bridge_exporter_polls_total');
  const failures = await daemon.sum('bridge_exporter_poll_failures_total');
  samples.push(usage);
  const rounded = Object.entries(usage).map(([name, value]) => [name, Math.round(value)]);
  console.log(JSON.stringify({ minute, polls, failures, ...Object.fromEntries(rounded) }));
}
await daemon.close();
stopAll();

const [first, last] = [samples[WARM_UP_MINUTES - 1], samples.at(-1)];
const largest = Math.max(...samples.map(({ residentMiB }) => residentMiB));
const faults = [
  [largest, MAX_RESIDENT_MIB, 'MiB of resident memory'],
  [last.residentMiB - first.residentMiB, MAX_GROWTH_MIB, 'MiB more of resident memory after the warm-up'],
  [last.openFiles - first.openFiles, MAX_GROWTH_FILES, 'more open files after the warm-up'],
].filter(([value, max]) => value > max);
for (const [value, max, what] of faults) console.error(`${value.toFixed(0)} ${what}, more than ${max}`);
process.exitCode = faults.length === 0 ? 0 : 1;
