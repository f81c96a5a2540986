/** CPU time and memory at the pace of users: polls are seconds apart, so V8 keeps little of the code optimized. */
import { startDaemon } from './daemon.mjs';
import { start } from './processes.mjs';
import { sleep } from './statistics.mjs';

const SCRAPE_INTERVAL_MS = 15_000;

const PACES = [
  { targets: 10, intervalSeconds: 30 },
  { targets: 1, intervalSeconds: 5 },
];
const MAX_CPU_MS = 30;
const MAX_CPU_RATIO = 2.2;
const MAX_RESIDENT_MIB = 115;

/** Measures all paces at once, since each uses a few percent of a core. */
export async function pace({ node, warmUpMs, durationMs }) {
  const rows = await Promise.all(PACES.map((one) => paceRows(node, warmUpMs, durationMs, one)));
  return rows.flat();
}

async function paceRows(node, warmUpMs, durationMs, { targets, intervalSeconds }) {
  const programs = await Promise.all([
    startExporter(node, targets, intervalSeconds),
    startBare(node, targets, intervalSeconds),
  ]);
  const [own, bare] = await measureUsage(programs, warmUpMs, durationMs);
  const figure = `${paceName(targets, intervalSeconds)}: `;
  return [
    {
      figure: `${figure}CPU time of the process per poll`,
      own: `${own.cpuMs.toFixed(1)} ms (${own.polls} polls)`,
      ratio: own.cpuMs,
      limit: MAX_CPU_MS,
      unit: 'ms',
    },
    {
      figure: `${figure}CPU time per poll ÷ bare program`,
      own: `${own.cpuMs.toFixed(1)} ms`,
      baseline: `${bare.cpuMs.toFixed(1)} ms`,
      ratio: own.cpuMs / bare.cpuMs,
      limit: MAX_CPU_RATIO,
    },
    {
      figure: `${figure}resident memory`,
      own: `${own.residentMiB.toFixed(0)} MiB (peak ${own.peakMiB.toFixed(0)})`,
      baseline: `${bare.residentMiB.toFixed(0)} MiB`,
      ratio: own.residentMiB,
      limit: MAX_RESIDENT_MIB,
      unit: 'MiB',
    },
  ];
}

const paceName = (targets, intervalSeconds) =>
  `${targets} target${targets > 1 ? 's' : ''} of 1 MB every ${intervalSeconds} s, a scrape every 15 s`;

/** CPU time per poll and memory of several programs, measured at the same time. Closes them. */
export async function measureUsage(programs, warmUpMs, durationMs) {
  const scraping = setInterval(() => {
    for (const { scrape } of programs) void scrape();
  }, SCRAPE_INTERVAL_MS);
  const usage = () => Promise.all(programs.map((program) => program.usage()));
  await sleep(warmUpMs);
  const before = await usage();
  await sleep(durationMs);
  const after = await usage();
  clearInterval(scraping);
  for (const { close } of programs) await close();
  return after.map(({ cpuSeconds, polls, ...memory }, index) => {
    const ownPolls = polls - before[index].polls;
    return { ...memory, polls: ownPolls, cpuMs: ((cpuSeconds - before[index].cpuSeconds) * 1000) / ownPolls };
  });
}

/** The exporter with more settings. */
export async function startExporter(node, targets, intervalSeconds, settings = {}) {
  const daemon = await startDaemon({
    ...settings,
    poll: { interval: `${intervalSeconds}s` },
    targets: Array.from({ length: targets }, (_, index) => ({ name: `bench-${index}`, bridge: { url: `${node}/1` } })),
  });
  await daemon.untilReady();
  return {
    scrape: daemon.metrics,
    usage: async () => ({ ...daemon.usage(), polls: await daemon.sum('bridge_exporter_polls_total') }),
    close: daemon.close,
  };
}

async function startBare(node, targets, intervalSeconds) {
  const bare = await start('bare-exporter.mjs', [`${node}/1`, String(targets), String(intervalSeconds)]);
  return {
    scrape: async () => (await fetch(bare.message)).text(),
    usage: () => bare.request('usage'),
    close: bare.close,
  };
}
