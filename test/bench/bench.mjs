/**
 * `npm run bench` measures the built exporter relative to a baseline of the same run and prints a Markdown table; `npm run bench --
 * --quick` takes about three minutes. A row that misses its target is marked. The exit code is 0 if everything could be measured.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { peakMemory } from './memory.mjs';
import { pace } from './pace.mjs';
import { polls } from './polls.mjs';
import { start, stopAll } from './processes.mjs';
import { recordingCost, replayRate } from './recordings.mjs';
import { scrapeLatency } from './scrapes.mjs';
import { manyTargets, startToReady } from './targets.mjs';

const { quick: isQuick = false } = parseArgs({ options: { quick: { type: 'boolean' } } }).values;

/** Enough polls for V8 to optimize the code before the measurement. */
const runsOf = (size) => {
  if (isQuick) return { 1: { runs: 60, warmUps: 100 }, 10: { runs: 11, warmUps: 10 } }[size];
  return { 1: { runs: 400, warmUps: 400 }, 10: { runs: 60, warmUps: 40 }, 100: { runs: 11, warmUps: 4 } }[size];
};

const paceTimes = { warmUpMs: isQuick ? 30_000 : 120_000, durationMs: isQuick ? 60_000 : 180_000 };

const measurements = [
  (node) => pace({ node, ...paceTimes }),
  (node) => polls({ node, sizes: isQuick ? [1, 10] : [1, 10, 100], runsOf }),
  ...(isQuick ? [] : [(node) => peakMemory({ node, polls: 6 })]),
  (node) => scrapeLatency({ node, durationMs: isQuick ? 1500 : 20_000, rounds: isQuick ? 3 : 10 }),
  (node) =>
    isQuick
      ? manyTargets({ node, targets: 100, intervalSeconds: 3, rounds: 2 })
      : manyTargets({ node, targets: 1000, intervalSeconds: 30, rounds: 3 }),
  (node) => startToReady({ node, count: isQuick ? 3 : 9 }),
  (node) => recordingCost({ node, ...paceTimes }),
  () => replayRate(isQuick ? { few: 200, many: 600 } : { few: 1000, many: 10_000 }),
];

function tableRow({ figure, own, baseline = '', ratio, limit, unit = '', isAtLeast = false }) {
  const isMet = isAtLeast ? ratio >= limit : ratio <= limit;
  const withUnit = (text) => (unit === '' ? text : `${text} ${unit}`);
  const target = `${isAtLeast ? '≥' : '≤'} ${withUnit(limit.toFixed(2).replace(/\.?0+$/, ''))}`;
  const cells = [figure, own, baseline, withUnit(ratio.toFixed(2)), target, isMet ? 'met' : '**missed**'];
  return `| ${cells.join(' | ')} |`;
}

console.log(
  `Node.js ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim()}${isQuick ? ', quick' : ''}\n`,
);
console.log('| figure | exporter | baseline | value | target | |\n| --- | --- | --- | --- | --- | --- |');
try {
  const { message: node } = await start('node.mjs');
  for (const measure of measurements) for (const row of await measure(node)) console.log(tableRow(row));
} finally {
  stopAll();
}
