/** One poll, from the request to the exposition, relative to download and JSON.parse in the same process. */
import { request } from 'undici';
import { configSchema } from '../../dist/config/config.js';
import { requestUrl } from '../../dist/config/urls.js';
import { renderEndpoints } from '../../dist/exposition/metrics-page.js';
import { createClock } from '../../dist/clock.js';
import { initialState } from '../../dist/engine/endpoint-state.js';
import { createEngine } from '../../dist/engine/engine.js';
import { jobsOf } from '../../dist/engine/jobs.js';
import { createNetwork } from '../../dist/sources/network.js';
import { median, spread } from './statistics.mjs';

/** Consecutive runs of one kind, so that it pays for most of the garbage collection it causes. */
const BATCH = 5;

/** Maximum ratio by size of the document in MB. */
const limits = new Map([
  [1, 2],
  [10, 1.5],
  [100, 1.3],
]);

export async function polls({ node, sizes, runsOf }) {
  const rows = [];
  const results = [];
  for (const size of sizes) {
    const url = `${node}/${size}`;
    const config = configSchema.parse({
      poll: { timeout: '1m', max_body_size: '256MiB' },
      targets: [
        {
          name: 'bench',
          bridge: { url, dialect: 'neutral' },
          crosschain: { url, dialect: 'neutral', window: '500', rate: '1000' },
        },
      ],
    });
    const jobs = jobsOf(config);
    const clock = createClock();
    const network = createNetwork('bridge-exporter/bench', clock);
    for (const job of jobs) {
      const name = job.context.document;
      const { own, baseline, exposition } = await measure(job, network, clock, runsOf(size));
      rows.push({
        figure: `one poll, ${name}, ${size} MB`,
        own: spread(own, 'ms'),
        baseline: spread(baseline, 'ms'),
        ratio: median(own) / median(baseline),
        limit: limits.get(size),
      });
      const series = countSeries(exposition, name);
      results.push({ name, size, own: median(own), baseline: median(baseline), series });
    }
    network.close();
  }
  return [...rows, ...growthRows(results, sizes)];
}

async function measure(job, { document }, now, { runs, warmUps }) {
  // Without other queries.
  const engine = createEngine({ source: { document }, now });
  engine.replace([{ job, state: initialState(job.context, now().at) }]);
  const poll = async () => {
    await engine.poll(job);
    const [state] = engine.states();
    if (!state.lastPoll.ok) throw new Error(state.lastFailure.error.message);
    return renderEndpoints([state], 'text', now());
  };
  const url = requestUrl(job.nodes[0].url, job.paths[0].path + job.query);
  const parse = async () => JSON.parse(await (await request(url)).body.text());
  for (let run = 0; run < warmUps; run += 1) await poll();
  const [own, baseline] = [[], []];
  // Alternating, so that a busy moment of the machine affects both.
  for (let run = 0; run < runs; run += BATCH) {
    for (let count = 0; count < BATCH; count += 1) baseline.push(await milliseconds(parse));
    for (let count = 0; count < BATCH; count += 1) own.push(await milliseconds(poll));
  }
  return { own, baseline, exposition: await poll() };
}

/** Time must grow with the size of a document, and the number of series must not. */
function growthRows(results, sizes) {
  const [smallest, largest] = [sizes.at(0), sizes.at(-1)];
  return ['module_state', 'rate_limiter_input'].flatMap((name) => {
    const at = (size) => results.find((result) => result.name === name && result.size === size);
    const rows = [
      {
        figure: `series, ${name}, ${largest} MB ÷ ${smallest} MB`,
        own: String(at(largest).series),
        baseline: String(at(smallest).series),
        ratio: at(largest).series / at(smallest).series,
        limit: 1.05,
      },
    ];
    if (sizes.includes(100)) {
      rows.push({
        figure: `time, ${name}, 100 MB ÷ 10 MB`,
        own: `${at(100).own.toFixed(0)} ÷ ${at(10).own.toFixed(0)} ms`,
        baseline: `${at(100).baseline.toFixed(0)} ÷ ${at(10).baseline.toFixed(0)} ms`,
        ratio: at(100).own / at(10).own,
        limit: 11,
      });
    }
    return rows;
  });
}

function countSeries(text, document) {
  const prefix = document === 'module_state' ? 'bridge_' : 'crosschain_';
  return text.split('\n').filter((line) => line.startsWith(prefix) && !line.startsWith('bridge_exporter_')).length;
}

async function milliseconds(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
