/** CPU time and memory at the pace of users: polls are seconds apart, so V8 keeps little of the code optimized. */
import { startDaemon } from './daemon.mjs';
import { start } from './processes.mjs';
import { median, sleep } from './statistics.mjs';

const SCRAPE_INTERVAL_MS = 15_000;
const TARGETS = 10;
const INTERVAL_SECONDS = 30;

/**
 * The bare program is measured at the same time, and the exporter a second time: without queries and scrapes, which the bare program has nothing of.
 * Memory without targets is what the loaded code takes.
 */
export async function pace({ node, warmUpMs, runMs, runs }) {
  const programs = [startExporter(node), startExporter(node, { hasQueriesAndScrapes: false }), startBare(node)];
  const measured = await measureUsage(await Promise.all(programs), { warmUpMs, runMs, runs });
  const idle = await measureUsage(await Promise.all([startIdle(), startBare(node, 0)]), {
    warmUpMs,
    runMs: 1000,
    runs: 1,
  });
  const row = ([own, bare], figure, value, digits, unit, limit) => ({
    figure: `${figure} ÷ bare program`,
    own: `${median(own.map(value)).toFixed(digits)} ${unit}`,
    baseline: `${median(bare.map(value)).toFixed(digits)} ${unit}`,
    ratio: median(own.map((usage, run) => value(usage) / value(bare[run]))),
    limit,
  });
  const cpu = ({ cpuMs }) => cpuMs;
  const memory = ({ residentMiB }) => residentMiB;
  const [all, polls, bare] = measured;
  const setup = `${TARGETS} targets of 1 MB every ${INTERVAL_SECONDS} s`;
  return [
    row([polls, bare], `${setup}: CPU time of the process per poll`, cpu, 1, 'ms', 2),
    row([all, bare], 'the same with queries, and a scrape every 15 s', cpu, 1, 'ms', 2.4),
    row([all, bare], 'resident memory', memory, 0, 'MiB', 1.3),
    row(idle, 'resident memory without documents', memory, 0, 'MiB', 1.6),
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

/** The exporter, with more targets of 10 MB, run by the command `before`. */
export async function startExporter(node, { largeTargets = 0, hasQueriesAndScrapes = true, before } = {}) {
  const targets = Array.from({ length: TARGETS + largeTargets }, (_, index) => ({
    name: `bench-${index}`,
    bridge: { url: `${node}/${index < TARGETS ? 1 : 10}`, ...(!hasQueriesAndScrapes && { node_queries: 'off' }) },
  }));
  const daemon = await startDaemon({ poll: { interval: `${INTERVAL_SECONDS}s` }, targets }, before);
  await daemon.untilReady();
  return {
    scrape: hasQueriesAndScrapes ? daemon.metrics : async () => {},
    usage: async () => ({ ...daemon.usage(), polls: await daemon.sum('bridge_exporter_polls_total') }),
    close: daemon.close,
  };
}

/** The exporter with a node that refuses connections. */
async function startIdle() {
  const daemon = await startDaemon({ targets: [{ name: 'idle', bridge: { url: 'http://127.0.0.1:9' } }] });
  return { scrape: daemon.metrics, usage: () => ({ ...daemon.usage(), polls: 1 }), close: daemon.close };
}

async function startBare(node, targets = TARGETS) {
  const bare = await start('bare-exporter.mjs', [`${node}/1`, String(targets), String(INTERVAL_SECONDS)]);
  return {
    scrape: async () => (await fetch(bare.message)).text(),
    usage: () => bare.request('usage'),
    close: bare.close,
  };
}
