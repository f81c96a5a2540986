/**
 * Measures the built exporter against the least that the same machine needs in the same run, and prints a Markdown table:
 * `npm run bench`, or `npm run bench -- --quick` for about a minute. It takes no part of the time for a verdict on the code:
 * a row that misses its target says so, and the exit code is 0 whenever everything could be measured.
 */
import { cpus } from 'node:os';
import { memoryAtRest, peakMemory } from './memory.mjs';
import { pace } from './pace.mjs';
import { polls } from './polls.mjs';
import { start, stopAll } from './processes.mjs';
import { scrapeLatency, scrapeRate } from './scrapes.mjs';
import { manyTargets, startToReady } from './targets.mjs';

const flags = process.argv.slice(2);
const isQuick = flags.includes('--quick');
const unknown = flags.filter((flag) => flag !== '--quick');
if (unknown.length > 0) {
  console.error(`unknown ${unknown.join(' ')}; the only flag is --quick`);
  process.exit(2);
}

/** So many polls that the code is compiled before anything counts. */
const runsOf = (size) => {
  if (isQuick) return { 1: { runs: 60, warmUps: 100 }, 10: { runs: 11, warmUps: 10 } }[size];
  return { 1: { runs: 400, warmUps: 400 }, 10: { runs: 60, warmUps: 40 }, 100: { runs: 11, warmUps: 4 } }[size];
};

const measures = [
  (node) => pace({ node, forMs: isQuick ? 60_000 : 240_000 }),
  (node) => polls({ node, sizes: isQuick ? [1, 10] : [1, 10, 100], runsOf }),
  ...(isQuick ? [] : [(node) => peakMemory({ node, polls: 6 })]),
  (node) => memoryAtRest({ node, early: 100, late: isQuick ? 400 : 10_000 }),
  (node) => scrapeLatency({ node, forMs: isQuick ? 1500 : 20_000, rounds: isQuick ? 3 : 10 }),
  (node) => scrapeRate({ node, forMs: isQuick ? 300 : 500, rounds: isQuick ? 3 : 27 }),
  (node) =>
    isQuick
      ? manyTargets({ node, targets: 100, intervalSeconds: 3, rounds: 2 })
      : manyTargets({ node, targets: 1000, intervalSeconds: 30, rounds: 3 }),
  (node) => startToReady({ node, times: isQuick ? 3 : 9 }),
];

function line({ figure, own, floor, ratio, limit, unit = '', isAtLeast = false }) {
  const isMet = isAtLeast ? ratio >= limit : ratio <= limit;
  const told = `${ratio.toFixed(2)}${unit && ` ${unit}`}`;
  const target = `${isAtLeast ? '≥' : '≤'} ${limit.toFixed(2).replace(/\.?0+$/, '')}${unit && ` ${unit}`}`;
  return `| ${figure} | ${own} | ${floor} | ${told} | ${target} | ${isMet ? 'met' : '**missed**'} |`;
}

console.log(
  `Node.js ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim()}${isQuick ? ', quick' : ''}\n`,
);
console.log('| figure | exporter | floor | ratio | target | |\n| --- | --- | --- | --- | --- | --- |');
try {
  const { said: node } = await start('node.mjs');
  for (const measure of measures) for (const row of await measure(node)) console.log(line(row));
} finally {
  stopAll();
}
