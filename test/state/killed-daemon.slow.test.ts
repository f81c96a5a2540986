import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';

const KILLS = 80;
/** Processes that run at the same time, each with its own file. */
const LANES = 2;
const ENDPOINTS = 20;
/** Of one endpoint, so that writing takes some milliseconds. */
const CHARACTERS = 200_000;

/** Reads the file, prints what is in it, and writes the next number to every endpoint, again and again. */
const WRITE = `
const { openStateFile } = await import(process.argv[2]);
const path = process.argv[3];
const KEY = 'BridgeHeightStalled critical module_state';
const lines = [];
const log = { info: (line) => lines.push(line), warn: (line) => lines.push(line) };
const targets = Array.from({ length: ${ENDPOINTS} }, (_, index) => 'target ' + index);
const open = async () => openStateFile(path, log);
let file = await open();
const known = targets.map((target) => file.findMemory({ target, document: 'module_state' })?.problems.remembered.get(KEY).mark.count);
console.log(JSON.stringify({ numbers: Array.from(new Set(known), (number) => number ?? null), lines }));
let count = known[0] ?? 0;
const endpoint = (target) => ({
  target,
  document: 'module_state',
  lastPoll: { at: Date.now() / 1000, ok: false, phaseSeconds: {} },
  problems: {
    remembered: new Map([[KEY, { histories: new Map(), mark: { count, text: 'x'.repeat(${CHARACTERS}) } }]]),
  },
});
for (;;) {
  count += 1;
  file.start(() => targets.map(endpoint), () => ({ at: Date.now() / 1000, clockOffset: 0 }));
  await file.close();
  file = await open();
}
`;

interface Report {
  /** Those in the file; one, unless parts of it are of different times. */
  readonly numbers: readonly (number | null)[];
  readonly lines: readonly string[];
}

const script = createTempFolder().write('write.mjs', WRITE);

async function reportOf(child: ChildProcess): Promise<Report> {
  if (child.stdout === null) throw new Error('no standard output');
  const line = once(createInterface({ input: child.stdout }), 'line');
  const exit = once(child, 'exit').then(() => Promise.reject(new Error('the process ended without a report')));
  const [text] = (await Promise.race([line, exit])) as [string];
  // The process is killed later.
  exit.catch(() => undefined);
  return JSON.parse(text) as Report;
}

/** Kills processes with one file one after the other. Returns how many of them were writing. */
async function killRepeatedly(kills: number): Promise<number> {
  const { path: folder } = createTempFolder();
  const path = join(folder, 'state.json');
  const temporary = join(folder, '.state.json.tmp');
  let whileWriting = 0;
  let last = 0;
  /* oxlint-disable no-await-in-loop -- each process reads what the one before has left */
  for (let kill = 0; kill < kills; kill += 1) {
    const args = [script, projectPath('dist/engine/state-file.js'), path];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const { numbers, lines } = await reportOf(child);
    // Everything is of one time, and not before that of the last process.
    expect(numbers).toHaveLength(1);
    expect(numbers[0] ?? 0).toBeGreaterThanOrEqual(last);
    expect(lines).toEqual([
      expect.stringMatching(kill === 0 ? /no such file or directory/ : /^the state of \d+ endpoints was read/),
    ]);
    last = numbers[0] ?? 0;
    if (kill % 2 === 0) {
      // The first one is killed after its first file, so that there is one from then on.
      while (!existsSync(temporary) || !existsSync(path)) await sleep(1);
    } else {
      await sleep(Math.random() * 100);
    }
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    if (existsSync(temporary)) whileWriting += 1;
    if (existsSync(path)) {
      const { state } = JSON.parse(readFileSync(path, 'utf8')) as { state: { endpoints: readonly unknown[] } };
      expect(state.endpoints).toHaveLength(ENDPOINTS);
    }
  }
  /* oxlint-enable no-await-in-loop */
  expect(last).toBeGreaterThan(0);
  return whileWriting;
}

describe('a process that is killed', () => {
  it('leaves the state file as it was before or as it is afterwards, also while it is written', async () => {
    const lanes = await Promise.all(Array.from({ length: LANES }, async () => killRepeatedly(KILLS / LANES)));
    expect(lanes.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(KILLS / 2 - KILLS / 10);
  }, 600_000);
});
