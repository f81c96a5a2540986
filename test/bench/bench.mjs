/**
 * `npm run bench` measures the built exporter relative to a baseline of the same run and prints a Markdown table; `npm run bench -- NAME …` only some of
 * its figures. With `--quick`, each is measured once and for a shorter time: `npm run bench -- --quick pace` takes 90 seconds. A target that is missed is
 * marked. The exit code is 0 if everything could be measured.
 */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { coldReplay } from './cold.mjs';
import { memoryLimit } from './memory-limit.mjs';
import { pace } from './pace.mjs';
import { polls } from './polls.mjs';
import { NODE_FLAGS, start, stopAll } from './processes.mjs';
import { scrapeLatency } from './scrapes.mjs';
import { manyTargets, startToReady } from './targets.mjs';

const { values, positionals } = parseArgs({ options: { quick: { type: 'boolean' } }, allowPositionals: true });
const isQuick = values.quick === true;

const runs = isQuick ? 1 : 5;
const paceTimes = { warmUpMs: isQuick ? 25_000 : 60_000, runMs: 60_000, runs };

/** Enough polls for V8 to optimize the code before the measurement. */
const pollsOf = (size) =>
  size === 1 ? { runs, batches: isQuick ? 4 : 8, warmUps: 100 } : { runs, batches: 2, warmUps: 10 };

const measurements = {
  pace: (node) => pace({ node, ...paceTimes }),
  'memory-limit': (node) => memoryLimit({ node, ...paceTimes }),
  polls: (node) => polls({ node, sizes: [1, 10], pollsOf }),
  cold: () => coldReplay({ runs }),
  scrapes: (node) => scrapeLatency({ node, runMs: isQuick ? 5000 : 20_000, runs }),
  targets: (node) => manyTargets({ node, targets: 300, intervalSeconds: 30, rounds: isQuick ? 1 : 3 }),
  start: (node) => startToReady({ node, runs }),
};

function tableRow({ figure, own, baseline = '', ratio, limit, unit = '' }) {
  const withUnit = (value) => `${value.toFixed(2).replace(/\.?0+$/, '')}${unit === '' ? '' : ` ${unit}`}`;
  const missed = ratio <= limit ? '' : ' **missed**';
  return `| ${[figure, own, baseline, withUnit(ratio) + missed, `≤ ${withUnit(limit)}`].join(' | ')} |`;
}

const chosen = positionals.length === 0 ? Object.keys(measurements) : positionals;
const flags = NODE_FLAGS.map((flag) => ` ${flag}`).join('');
console.log(`Node.js ${process.versions.node}${flags}, ${cpus().length} × ${cpus()[0]?.model.trim()}\n`);
console.log('| figure | exporter | baseline | value | target |\n| --- | --- | --- | --- | --- |');
try {
  const { message: node } = await start('node.mjs');
  for (const name of chosen) for (const row of await measurements[name](node)) console.log(tableRow(row));
} finally {
  stopAll();
}
