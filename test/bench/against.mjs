/** Compares this build with that of another checkout, such as a release. Both run at the same time or in turns. */
import { startDaemon, valuesOf } from './daemon.mjs';
import { measureUsage, paceName, startExporter } from './pace.mjs';
import { median, sleep, spread } from './statistics.mjs';

const TARGETS = 10;
const INTERVAL_SECONDS = 30;

/** CPU time and memory at the pace of users. */
export async function paceAgainst({ node, other, warmUpMs, durationMs }) {
  const programs = [
    await startExporter(node, TARGETS, INTERVAL_SECONDS),
    await startExporter(node, TARGETS, INTERVAL_SECONDS, other),
  ];
  const [own, theirs] = await measureUsage(programs, warmUpMs, durationMs);
  const name = paceName(TARGETS, INTERVAL_SECONDS);
  return [
    row(`${name}: CPU time per poll`, own.cpuMs, theirs.cpuMs, 'ms', 0.75),
    row(`${name}: resident memory`, own.residentMiB, theirs.residentMiB, 'MiB', 0.85),
  ];
}

/** Duration of one poll and peak memory, with documents of these sizes in MB. */
export async function pollsAgainst({ node, other, sizes, rounds, pollsPerRound }) {
  const rows = [];
  for (const size of sizes) {
    for (const endpoint of ['bridge', 'crosschain']) {
      const results = { own: [], theirs: [] };
      // Alternating, so that a busy moment of the machine affects both.
      for (let round = 0; round < rounds; round += 1) {
        results.own.push(await pollDurations({ node, endpoint, size, polls: pollsPerRound }));
        results.theirs.push(await pollDurations({ node, endpoint, size, polls: pollsPerRound, checkout: other }));
      }
      const [own, theirs] = [results.own, results.theirs].map((all) => ({
        durations: all.flatMap(({ durations }) => durations),
        peakMiB: median(all.map(({ peakMiB }) => peakMiB)),
      }));
      rows.push({
        figure: `one poll, ${endpoint}, ${size} MB`,
        own: spread(own.durations, 'ms'),
        baseline: spread(theirs.durations, 'ms'),
        ratio: median(own.durations) / median(theirs.durations),
        limit: 1.5,
      });
      rows.push(row(`peak resident memory, ${endpoint}, ${size} MB`, own.peakMiB, theirs.peakMiB, 'MiB', 1));
    }
  }
  return rows;
}

const row = (figure, own, theirs, unit, limit) => ({
  figure,
  own: `${own.toFixed(1)} ${unit}`,
  baseline: `${theirs.toFixed(1)} ${unit}`,
  ratio: own / theirs,
  limit,
});

const WARM_UP_POLLS = 5;

/** The sum of all phases of consecutive polls, in milliseconds. */
async function pollDurations({ node, endpoint, size, polls, checkout }) {
  const daemon = await startDaemon(
    {
      poll: { interval: `${Math.max(1, size / 20)}s`, timeout: '1m', max_body_size: '256MiB' },
      targets: [{ name: 'bench', [endpoint]: { url: `${node}/${size}` } }],
    },
    checkout,
  );
  const durations = [];
  for (let known = 0; durations.length < polls + WARM_UP_POLLS; await sleep(100)) {
    const text = await daemon.metrics();
    if (valuesOf(text, 'bridge_exporter_poll_failures_total').some((count) => count > 0)) {
      throw new Error('a poll failed');
    }
    const [finished = 0] = valuesOf(text, 'bridge_exporter_polls_total');
    if (finished === known) continue;
    known = finished;
    const phases = valuesOf(text, 'bridge_exporter_poll_duration_seconds');
    durations.push(phases.reduce((sum, seconds) => sum + seconds, 0) * 1000);
  }
  const { peakMiB } = daemon.usage();
  await daemon.close();
  return { durations: durations.slice(WARM_UP_POLLS), peakMiB };
}
