import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { planDay, runDay, type DayResult } from './days.js';
import { summarize } from './report.js';

/*
 * `npm run incidents -- --runs=300 --seed=N`: simulates days on which things break at random, and reports what was heard of it. The exit code is 1
 * when a critical alert was missed or fired without a reason, or a gauge differs from the books of the simulated chain.
 */

/** Days of one seed do not occur with another. */
const MAX_RUNS = 100_000;

if (isMainThread) {
  process.exitCode = await main();
} else {
  for (const seed of workerData as number[]) {
    const { recording: _recording, ...result } = runDay(planDay(seed));
    parentPort?.postMessage(result);
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '300' },
      seed: { type: 'string', default: '1' },
      day: { type: 'string' },
    },
  });
  const started = performance.now();
  const first = Number(values.seed) * MAX_RUNS;
  const seeds =
    values.day === undefined
      ? Array.from({ length: Number(values.runs) }, (_, index) => first + index)
      : [Number(values.day)];
  const days = await runAll(seeds);
  const { table, criticalMisses, criticalFalseAlerts, warningMisses, warningFalseAlerts, wrongGauges } =
    summarize(days);
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  const polls = days.reduce((sum, own) => sum + own.polls, 0);
  console.log(`\n${table}`);
  console.log(
    `\nseed ${values.seed}: ${days.length} days, ${polls} polls in ${minutes} min; critical: ${criticalMisses} missed, ${criticalFalseAlerts} false; warnings: ${warningMisses} missed, ${warningFalseAlerts} false; ${wrongGauges} gauges wrong`,
  );
  return criticalMisses + criticalFalseAlerts + wrongGauges > 0 ? 1 : 0;
}

async function runAll(seeds: readonly number[]): Promise<readonly DayResult[]> {
  const threads = availableParallelism();
  const parts = Array.from({ length: threads }, (_, part) => seeds.filter((_seed, index) => index % threads === part));
  const results = await Promise.all(parts.map(runPart));
  return results.flat().toSorted((a, b) => a.seed - b.seed);
}

async function runPart(seeds: readonly number[]): Promise<readonly DayResult[]> {
  return new Promise((resolve, reject) => {
    const results: DayResult[] = [];
    const worker = new Worker(new URL(import.meta.url), { workerData: seeds });
    worker.on('message', (result: DayResult) => {
      results.push(result);
      for (const finding of summarize([result]).findings) console.log(finding);
    });
    worker.on('error', reject);
    worker.on('exit', () => resolve(results));
  });
}
