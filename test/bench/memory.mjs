/** Peak of the resident memory, relative to download and JSON.parse. */
import { startDaemon } from './daemon.mjs';
import { start } from './processes.mjs';
import { median, sleep } from './statistics.mjs';

const POLLS = 6;

export async function peakMemory({ node, runs }) {
  const url = `${node}/10`;
  const [own, baseline] = [[], []];
  for (let run = 0; run < runs; run += 1) {
    const parser = await start('parser.mjs', [`${url}/bridge/v1/module_state`, String(POLLS)]);
    parser.close();
    baseline.push(parser.message.peakMiB);
    const daemon = await startDaemon({
      poll: { interval: '1s', timeout: '1m' },
      targets: [{ name: 'bench', bridge: { url } }],
    });
    while ((await daemon.sum('bridge_exporter_polls_total')) < POLLS) {
      if ((await daemon.sum('bridge_exporter_poll_failures_total')) > 0) throw new Error('a poll failed');
      await sleep(200);
    }
    own.push(daemon.usage().peakMiB);
    await daemon.close();
  }
  return [
    {
      figure: 'peak of resident memory, polls of 10 MB ÷ a process that parses them',
      own: `${median(own).toFixed(0)} MiB`,
      baseline: `${median(baseline).toFixed(0)} MiB`,
      ratio: median(own.map((mib, run) => mib / baseline[run])),
      limit: 1.4,
    },
  ];
}
