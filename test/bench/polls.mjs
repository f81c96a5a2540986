/** One poll, from the request to the published text, beside what the same machine needs for download and JSON.parse. */
import { request } from 'undici';
import { clock } from '../../dist/poll/clock.js';
import { startThreadCollector } from '../../dist/poll/thread-collector.js';
import { validateConfig } from '../../dist/config/parser.js';
import { renderExposition } from '../../dist/exposition/exposition.js';
import { jobsOf, endpointKeyOf } from '../../dist/poll/jobs.js';
import { createSnapshots } from '../../dist/poll/snapshots.js';
import { median, spread } from './statistics.mjs';

const HEAP_MB = 1024;
const IN_A_ROW = 5;

export async function polls({ node, sizes, runsOf }) {
  const rows = [];
  const milliseconds = new Map();
  const floors = new Map();
  const series = new Map();
  for (const size of sizes) {
    const url = `${node}/${size}`;
    const read = validateConfig(
      {
        poll: { timeout: '1m', max_body_size: '256MiB' },
        targets: [{ name: 'bench', bridge: { url }, crosschain: { url, window: '500', rate: '1000' } }],
      },
      (path) => path.join('.'),
    );
    const jobs = jobsOf(read.config);
    const snapshots = createSnapshots(
      jobs.map(({ source }) => endpointKeyOf(source)),
      read.config.poll,
    );
    const collector = startThreadCollector(HEAP_MB, 'bridge-exporter/bench');
    for (const job of jobs) {
      const name = job.source.document;
      const { runs, warmUps } = runsOf(size);
      const own = [];
      const floor = [];
      const parse = async () => JSON.parse(await (await request(job.url)).body.text());
      const poll = async () => {
        const outcome = await collector.collect(job);
        if (!outcome.result.ok) throw new Error(outcome.result.error.message);
        snapshots.record(endpointKeyOf(job.source), outcome, clock());
        return renderExposition(snapshots, 'text', clock());
      };
      for (let run = 0; run < warmUps; run += 1) await poll();
      // Turn and turn about, so that a busy moment of the machine is a busy moment of both; some in a row, so that what one
      // leaves to be collected is mostly collected at its own expense.
      for (let run = 0; run < runs; run += IN_A_ROW) {
        for (let count = 0; count < IN_A_ROW; count += 1) floor.push(await timed(parse));
        for (let count = 0; count < IN_A_ROW; count += 1) own.push(await timed(poll));
      }
      milliseconds.set(`${name} ${size}`, median(own));
      floors.set(`${name} ${size}`, median(floor));
      const ratio = median(own) / median(floor);
      rows.push({
        figure: `one poll, ${name}, ${size} MB`,
        own: spread(own, 'ms'),
        floor: spread(floor, 'ms'),
        ratio,
        limit: size < 10 ? 2 : 1.3,
      });
      series.set(`${name} ${size}`, chainSeries(renderExposition(snapshots, 'text', clock()), name));
    }
    await collector.close();
  }
  return [...rows, ...growth(milliseconds, floors, series, sizes)];
}

function growth(milliseconds, floors, series, sizes) {
  const [small, large] = [sizes.at(0), sizes.at(-1)];
  return ['module_state', 'rate_limiter_input'].flatMap((name) => {
    const at = (of, size) => of.get(`${name} ${size}`);
    const rows = [
      {
        figure: `series, ${name}, ${large} MB ÷ ${small} MB`,
        own: String(at(series, large)),
        floor: String(at(series, small)),
        ratio: at(series, large) / at(series, small),
        limit: 1.05,
      },
    ];
    if (sizes.includes(100)) {
      rows.push({
        figure: `time, ${name}, 100 MB ÷ 10 MB`,
        own: `${at(milliseconds, 100).toFixed(0)} ÷ ${at(milliseconds, 10).toFixed(0)} ms`,
        floor: `${at(floors, 100).toFixed(0)} ÷ ${at(floors, 10).toFixed(0)} ms`,
        ratio: at(milliseconds, 100) / at(milliseconds, 10),
        limit: 11,
      });
    }
    return rows;
  });
}

function chainSeries(text, document) {
  const prefix = document === 'module_state' ? 'bridge_' : 'crosschain_';
  return text.split('\n').filter((line) => line.startsWith(prefix) && !line.startsWith('bridge_exporter_')).length;
}

async function timed(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
