/** Peak of the resident memory, relative to download and JSON.parse. */
import { startDaemon } from './daemon.mjs';
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

async function untilPolled(daemon, polls) {
  while ((await daemon.sum('bridge_exporter_polls_total')) < polls) {
    if ((await daemon.sum('bridge_exporter_poll_failures_total')) > 0) throw new Error('a poll failed');
    await sleep(200);
  }
}
