/** CPU time and memory at the pace of users: polls are seconds apart, so V8 keeps little of the code optimized. */
import { startDaemon } from './daemon.mjs';
import { start } from './processes.mjs';
import { median, sleep } from './statistics.mjs';

const SCRAPE_INTERVAL_MS = 15_000;
const TARGETS = 10;
const INTERVAL_SECONDS = 30;

/** The bare program is measured at the same time. */
export async function pace({ node, warmUpMs, runMs, runs }) {
  const programs = await Promise.all([startExporter(node), startBare(node)]);
  const measured = await measureUsage(programs, { warmUpMs, runMs, runs });
  const row = (figure, value, digits, unit, limit) => {
    const [own, bare] = measured.map((usages) => usages.map(value));
    return {
      figure: `${TARGETS} targets of 1 MB every ${INTERVAL_SECONDS} s: ${figure}`,
      own: `${median(own).toFixed(digits)} ${unit}`,
      baseline: `${median(bare).toFixed(digits)} ${unit}`,
      ratio: median(own.map((one, run) => one / bare[run])),
      limit,
    };
  };
  return [
    row('CPU time of the process per poll ÷ bare program', ({ cpuMs }) => cpuMs, 1, 'ms', 3.2),
    row('resident memory ÷ bare program', ({ residentMiB }) => residentMiB, 0, 'MiB', 1.6),
  ];
}

/** CPU time per poll and memory of several programs in each run, measured at the same time. Closes them. */
export async function measureUsage(programs, { warmUpMs, runMs, runs }) {
  const scraping = setInterval(() => {
    for (const { scrape } of programs) void scrape();
  }, SCRAPE_INTERVAL_MS);
  const usage = () => Promise.all(programs.map((program) => program.usage()));
  await sleep(warmUpMs);
  let before = await usage();
  const measured = programs.map(() => []);
  for (let run = 0; run < runs; run += 1) {
    await sleep(runMs);
    const after = await usage();
    for (const [index, { cpuSeconds, polls, ...memory }] of after.entries()) {
      const cpuMs = ((cpuSeconds - before[index].cpuSeconds) * 1000) / (polls - before[index].polls);
      measured[index].push({ ...memory, cpuMs });
    }
    before = after;
  }
  clearInterval(scraping);
  for (const { close } of programs) await close();
  return measured;
}

/** The exporter, with more settings, and more targets of 10 MB. */
export async function startExporter(
  node,
  { intervalSeconds = INTERVAL_SECONDS, settings = {}, largeTargets = 0, ...command } = {},
) {
  const targets = Array.from({ length: TARGETS + largeTargets }, (_, index) => ({
    name: `bench-${index}`,
    bridge: { url: `${node}/${index < TARGETS ? 1 : 10}` },
  }));
  const daemon = await startDaemon({ ...settings, poll: { interval: `${intervalSeconds}s` }, targets }, command);
  await daemon.untilReady();
  return {
    scrape: daemon.metrics,
    usage: async () => ({ ...daemon.usage(), polls: await daemon.sum('bridge_exporter_polls_total') }),
    close: daemon.close,
  };
}

async function startBare(node) {
  const bare = await start('bare-exporter.mjs', [`${node}/1`, String(TARGETS), String(INTERVAL_SECONDS)]);
  return {
    scrape: async () => (await fetch(bare.message)).text(),
    usage: () => bare.request('usage'),
    close: bare.close,
  };
}
