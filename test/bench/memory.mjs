/** Resident memory: its peak relative to download and JSON.parse, and at rest after many polls. */
import { startDaemon, valuesOf } from './daemon.mjs';
import { start } from './processes.mjs';
import { sleep } from './statistics.mjs';

const MEGABYTES = 100;

export async function peakMemory({ node, polls }) {
  const rows = [];
  for (const [name, endpoint, path] of [
    ['module_state', 'bridge', '/bridge/v1/module_state'],
    ['rate_limiter_input', 'crosschain', '/chain/crosschain/rateLimiterInput'],
  ]) {
    const baseline = await start('parser.mjs', [`${node}/${MEGABYTES}${path}`, String(polls)]);
    baseline.close();
    const daemon = await startDaemon({
      poll: { interval: '100ms', timeout: '1m', max_body_size: '256MiB' },
      targets: [{ name: 'bench', [endpoint]: { url: `${node}/${MEGABYTES}` } }],
    });
    await untilPolled(daemon, polls);
    const { peakMiB } = daemon.usage();
    await daemon.close();
    rows.push({
      figure: `peak resident memory, ${name}, ${MEGABYTES} MB`,
      own: `${peakMiB.toFixed(0)} MiB`,
      baseline: `${baseline.message.peakMiB.toFixed(0)} MiB`,
      ratio: peakMiB / baseline.message.peakMiB,
      limit: 1.2,
    });
  }
  return rows;
}

const TARGETS = 10;
/** V8 reduces the heap when it has been idle for some seconds. */
const REST_MS = 15_000;

export async function memoryAtRest({ node, early, late }) {
  const config = (interval) => ({
    poll: { interval, timeout: '1m', stale_after: '2h' },
    targets: Array.from({ length: TARGETS }, (_, index) => ({ name: `bench-${index}`, bridge: { url: `${node}/1` } })),
  });
  const daemon = await startDaemon(config('100ms'));
  const residentAfter = async (polls) => {
    await untilPolled(daemon, polls);
    daemon.reload(config('1h'));
    await sleep(REST_MS);
    const { residentMiB } = daemon.usage();
    daemon.reload(config('100ms'));
    return residentMiB;
  };
  const [first, last] = [await residentAfter(early), await residentAfter(late)];
  await daemon.close();
  return [
    {
      figure: `resident memory at rest, after ${late.toLocaleString('en')} polls of 1 MB ÷ after ${early}`,
      own: `${last.toFixed(0)} MiB`,
      baseline: `${first.toFixed(0)} MiB`,
      ratio: last / first,
      limit: 1.05,
    },
  ];
}

async function untilPolled(daemon, polls) {
  for (;;) {
    const text = await daemon.metrics();
    if (valuesOf(text, 'bridge_exporter_poll_failures_total').some((count) => count > 0)) {
      throw new Error('a poll failed');
    }
    if (valuesOf(text, 'bridge_exporter_polls_total').reduce((sum, count) => sum + count, 0) >= polls) return;
    await sleep(200);
  }
}
