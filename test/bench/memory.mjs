/** Resident memory: at its peak beside that of download and JSON.parse, and at rest after many polls. */
import { startDaemon, seriesOf } from './daemon.mjs';
import { start } from './processes.mjs';

const MB = 100;

export async function peakMemory({ node, polls }) {
  const rows = [];
  for (const [name, endpoint, path] of [
    ['module_state', 'bridge', '/bridge/v1/module_state'],
    ['rate_limiter_input', 'crosschain', '/chain/crosschain/rateLimiterInput'],
  ]) {
    const floor = await start('parser.mjs', [`${node}/${MB}${path}`, String(polls)]);
    floor.close();
    const daemon = await startDaemon({
      poll: { interval: '100ms', timeout: '1m', max_body_size: '256MiB' },
      targets: [{ name: 'bench', [endpoint]: { url: `${node}/${MB}` } }],
    });
    await untilPolled(daemon, polls);
    const { peakMiB } = daemon.usage();
    await daemon.close();
    rows.push({
      figure: `peak resident memory, ${name}, ${MB} MB`,
      own: `${peakMiB.toFixed(0)} MiB`,
      floor: `${floor.said.peakMiB.toFixed(0)} MiB`,
      ratio: peakMiB / floor.said.peakMiB,
      limit: 1.2,
    });
  }
  return rows;
}

const TARGETS = 10;
/** Twice as long as after which it begins to give back. */
const REST_MS = 4_000;

export async function memoryAtRest({ node, early, late }) {
  const url = `${node}/1`;
  const polledEvery = (interval) => ({
    poll: { interval, timeout: '1m', stale_after: '2h' },
    targets: Array.from({ length: TARGETS }, (_, index) => ({ name: `bench-${index}`, bridge: { url } })),
  });
  const daemon = await startDaemon(polledEvery('100ms'));
  const at = async (polls) => {
    await untilPolled(daemon, polls);
    daemon.reload(polledEvery('1h'));
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const { residentMiB } = daemon.usage();
    daemon.reload(polledEvery('100ms'));
    return residentMiB;
  };
  const [first, last] = [await at(early), await at(late)];
  await daemon.close();
  return [
    {
      figure: `resident memory at rest, after ${late.toLocaleString('en')} polls of 1 MB ÷ after ${early}`,
      own: `${last.toFixed(0)} MiB`,
      floor: `${first.toFixed(0)} MiB`,
      ratio: last / first,
      limit: 1.05,
    },
  ];
}

async function untilPolled(daemon, polls) {
  for (;;) {
    const text = await daemon.metrics();
    if (seriesOf(text, 'bridge_exporter_poll_failures_total').some((count) => count > 0))
      throw new Error('a poll failed');
    if (seriesOf(text, 'bridge_exporter_polls_total').reduce((sum, count) => sum + count, 0) >= polls) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
