/**
 * One poll in a process of its own: `replay` of a document relative to its JSON.parse. The start of Node.js is part of
 * both.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documents } from './bodies.mjs';
import { MAIN } from './daemon.mjs';
import { NODE_FLAGS } from './processes.mjs';
import { median } from './statistics.mjs';

export function coldReplay({ runs }) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-cold-'));
  try {
    const body = join(folder, 'body.json');
    writeFileSync(body, documents.module_state.body(1e6));
    const parser = join(folder, 'parser.mjs');
    writeFileSync(parser, `import { readFileSync } from 'node:fs';\nJSON.parse(readFileSync('${body}', 'utf8'));\n`);
    const [own, baseline] = [[], []];
    for (let run = 0; run < runs; run += 1) {
      baseline.push(cpuMilliseconds(folder, [parser]));
      own.push(cpuMilliseconds(folder, [MAIN, 'replay', '--bridge', body]));
    }
    return [
      {
        figure: 'one cold process, replay of 1 MB ÷ JSON.parse, start included',
        own: `${median(own).toFixed(0)} ms`,
        baseline: `${median(baseline).toFixed(0)} ms`,
        ratio: median(own.map((ms, run) => ms / baseline[run])),
        limit: 4.5,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** CPU time of a program, which it writes at its end. */
function cpuMilliseconds(folder, args) {
  const file = join(folder, 'usage');
  const writer = `import { writeFileSync } from 'node:fs';
    process.on('exit', () => { const { user, system } = process.cpuUsage(); writeFileSync('${file}', String((user + system) / 1000)); });`;
  const flags = [...NODE_FLAGS, `--import=data:text/javascript,${encodeURIComponent(writer)}`];
  const { status, stderr } = spawnSync(process.execPath, [...flags, ...args], { encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) throw new Error(`the program has ended with ${status}: ${stderr}`);
  return Number(readFileSync(file, 'utf8'));
}
