/** One poll, from the request to the exposition, relative to download and JSON.parse in the same process. */
import { request } from 'undici';
import { configSchema } from '../../dist/config/config.js';
import { requestUrl } from '../../dist/config/urls.js';
import { renderEndpoints } from '../../dist/exposition/metrics-page.js';
import { createClock } from '../../dist/clock.js';
import { initialState } from '../../dist/engine/endpoint-state.js';
import { createEngine } from '../../dist/engine/engine.js';
import { createJobs } from '../../dist/engine/jobs.js';
import { createNetwork } from '../../dist/sources/network.js';
import { median } from './statistics.mjs';

/** Consecutive polls of one kind, so that they pay for most of the garbage collection they cause. */
const BATCH = 5;

/** Maximum ratio by document. */
const limits = { module_state: 6.5, rate_limiter_input: 4.5 };

export async function polls({ node, sizes, pollsOf }) {
  const rows = [];
  for (const size of sizes) {
    const url = `${node}/${size}`;
    const config = configSchema.parse({
      poll: { timeout: '1m' },
      targets: [
        {
          name: 'bench',
          bridge: { url, dialect: 'neutral' },
          crosschain: { url, dialect: 'neutral', window: '500', rate: '1000' },
        },
      ],
    });
    const clock = createClock();
    const network = createNetwork('bridge-exporter/bench', clock);
    for (const job of createJobs(config)) {
      const name = job.context.document;
      const { own, baseline } = await measure(job, network, clock, pollsOf(size));
      rows.push({
        figure: `one warm poll, ${name}, ${size} MB ÷ JSON.parse`,
        own: `${median(own).toFixed(1)} ms`,
        baseline: `${median(baseline).toFixed(1)} ms`,
        ratio: median(own.map((ms, run) => ms / baseline[run])),
        limit: limits[name],
      });
    }
    network.close();
  }
  return rows;
}

async function measure(job, { document }, now, { runs, batches, warmUps }) {
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
  for (let run = 0; run < runs; run += 1) {
    const ms = { parse: 0, poll: 0 };
    // Alternating, so that a busy moment of the machine affects both.
    for (let batch = 0; batch < batches; batch += 1) {
      ms.parse += await cpuMilliseconds(parse);
      ms.poll += await cpuMilliseconds(poll);
    }
    baseline.push(ms.parse / batches / BATCH);
    own.push(ms.poll / batches / BATCH);
  }
  return { own, baseline };
}

/** CPU time of a batch: of all threads, as some collect garbage. */
async function cpuMilliseconds(work) {
  const before = process.cpuUsage();
  for (let count = 0; count < BATCH; count += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
